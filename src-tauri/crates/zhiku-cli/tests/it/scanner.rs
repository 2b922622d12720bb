//! PDF files as a scanner makes them: pages that are pictures.

/// A PDF with one page per grey JPEG, each as many half points wide and high as it has pixels.
pub(crate) fn scanned_pdf(jpegs: &[Vec<u8>]) -> Vec<u8> {
    // Objects 1 and 2 are the catalogue and the pages; each page takes three more.
    let first = |page: usize| 3 + page * 3;
    let kids: Vec<String> = (0..jpegs.len()).map(|page| format!("{} 0 R", first(page))).collect();
    let mut objects: Vec<Vec<u8>> = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Count {} /Kids [{}] >>", jpegs.len(), kids.join(" ")).into_bytes(),
    ];
    for (page, jpeg) in jpegs.iter().enumerate() {
        let (width, height) = jpeg_size(jpeg);
        let (page_width, page_height) = (width / 2, height / 2);
        let (content_at, image_at) = (first(page) + 1, first(page) + 2);
        let content = format!("q {page_width} 0 0 {page_height} 0 0 cm /I Do Q");
        let head = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {page_width} {page_height}] \
             /Contents {content_at} 0 R /Resources << /XObject << /I {image_at} 0 R >> >> >>"
        );
        let image = format!(
            "<< /Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray \
             /BitsPerComponent 8 /Filter /DCTDecode /Length {} >>\nstream\n",
            jpeg.len()
        );
        objects.push(head.into_bytes());
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()).into_bytes());
        objects.push([image.as_bytes(), jpeg, b"\nendstream"].concat());
    }
    written(&objects)
}

/// Header, objects, their offsets.
fn written(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut pdf = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        offsets.push(pdf.len());
        pdf.extend(format!("{} 0 obj\n", n + 1).bytes());
        pdf.extend(object);
        pdf.extend(b"\nendobj\n");
    }
    let (xref, size) = (pdf.len(), objects.len() + 1);
    pdf.extend(format!("xref\n0 {size}\n0000000000 65535 f \n").bytes());
    for offset in offsets {
        pdf.extend(format!("{offset:010} 00000 n \n").bytes());
    }
    pdf.extend(format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n").bytes());
    pdf
}

/// Width and height from the frame header of a JPEG.
fn jpeg_size(jpeg: &[u8]) -> (u32, u32) {
    let mut at = 2;
    loop {
        let length = usize::from(jpeg[at + 2]) << 8 | usize::from(jpeg[at + 3]);
        if matches!(jpeg[at + 1], 0xc0..=0xc3) {
            let side = |n: usize| u32::from(jpeg[at + n]) << 8 | u32::from(jpeg[at + n + 1]);
            return (side(7), side(5));
        }
        at += 2 + length;
    }
}
