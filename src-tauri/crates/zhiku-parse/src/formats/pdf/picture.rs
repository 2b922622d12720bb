//! A page as its reader sees it, for recognition.

use pdfium_render::prelude::{PdfBitmapFormat, PdfPage, PdfPageRenderRotation, PdfRenderConfig, PdfiumError};
use zhiku_core::recognition::Picture;

use super::glyphs::crop_box;
use crate::picture::{PictureFrame, SourcePicture};

/// Enough for print of six points; more costs recognition time and gives nothing.
pub(super) const FOR_RECOGNITION: f32 = 200.0 / 72.0;
const MAX_SIDE: f32 = 4_000.0;

/// Draws the page with so many pixels per point, fewer where it is large; the frame leads from pixels back to the locator's boxes.
pub(super) fn draw(page: &PdfPage<'_>, pixels_per_point: f32) -> Result<SourcePicture, PdfiumError> {
    let (_, _, width, height) = crop_box(page);
    let quarter_turns = match page.rotation()? {
        PdfPageRenderRotation::None => 0,
        PdfPageRenderRotation::Degrees90 => 1,
        PdfPageRenderRotation::Degrees180 => 2,
        PdfPageRenderRotation::Degrees270 => 3,
    };
    let (shown_width, shown_height) = if quarter_turns % 2 == 0 { (width, height) } else { (height, width) };
    let scale = pixels_per_point.min(MAX_SIDE / shown_width.max(shown_height).max(1.0));
    let pixels = |points: f32| ((points * scale).round() as i32).clamp(1, MAX_SIDE as i32);
    let config = PdfRenderConfig::new()
        .set_fixed_size(pixels(shown_width), pixels(shown_height))
        .set_format(PdfBitmapFormat::BGRA);
    let bitmap = page.render_with_config(&config)?;
    let (width_px, height_px) = (bitmap.width().max(0) as u32, bitmap.height().max(0) as u32);
    let bgra = bitmap.as_raw_bytes();
    let n_pixels = width_px as usize * height_px as usize;
    let rgb: Vec<u8> =
        bgra.chunks_exact(4).take(n_pixels).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect();
    if rgb.len() != n_pixels * 3 {
        return Err(PdfiumError::UnknownBitmapFormat);
    }
    Ok(SourcePicture {
        picture: Picture { width: width_px, height: height_px, rgb },
        frame: PictureFrame {
            page_size: [width, height],
            picture_size: [width_px, height_px],
            quarter_turns,
        },
    })
}
