//! Files that are larger than people expect: read to the end within the worker's memory, or refused with the limit.

use std::io::Write;

use zhiku_core::Locator;
use zhiku_parse::worker::ParseLimits;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::{parse_with, small_pdf, worker};

#[test]
fn every_page_of_a_pdf_of_2000_pages_is_read_under_its_number() {
    let file = tempfile::Builder::new().suffix(".pdf").tempfile().expect("temporary file");
    std::fs::write(file.path(), small_pdf(2000)).expect("writes");
    let (summary, document) = parse_with(&worker(), file.path(), None, &ParseLimits::default());
    assert_eq!(summary.map(|summary| summary.page_count), Ok(Some(2000)));
    assert_eq!(document.units.len(), 2000);
    assert!(document.warnings.is_empty(), "{:?}", document.warnings.first());
    for (unit, n) in document.units.iter().zip(0_u32..) {
        assert!(matches!(unit.locator, Locator::Page { page_index, .. } if page_index == n));
        assert_eq!(unit.text, format!("This is page number {}.", n + 1));
    }
}

#[test]
fn a_text_table_of_100_megabytes_is_refused_with_the_limit() {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().expect("temporary file");
    let row = "4711,Hydraulic pump with a relief valve,Rotterdam,12.50\n";
    let mut out = std::io::BufWriter::new(file.as_file());
    for _ in 0..100 * 1024 * 1024 / row.len() {
        out.write_all(row.as_bytes()).expect("writes");
    }
    out.flush().expect("writes");
    drop(out);
    let (summary, document) = parse_with(&worker(), file.path(), None, &ParseLimits::default());
    let reason = summary.expect_err("refused").reason();
    assert_eq!((&*reason.code, reason.args["limit"].as_str()), ("file_too_large", "67108864"));
    assert!(document.units.is_empty());
}

/// A workbook whose only sheet is 100 megabytes of XML. Its rows are read as a stream: what comes out is cut at the limit of
/// units, or all of it, but the worker does not need more memory than it has.
#[test]
fn a_sheet_of_100_megabytes_stays_within_the_workers_memory() {
    let file = tempfile::Builder::new().suffix(".xlsx").tempfile().expect("temporary file");
    let mut zip = ZipWriter::new(std::io::BufWriter::new(file.as_file()));
    let options = SimpleFileOptions::default();
    zip.start_file("[Content_Types].xml", options).expect("a part");
    write_all(
        &mut zip,
        r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>"#,
    );
    zip.start_file("_rels/.rels", options).expect("a part");
    write_all(
        &mut zip,
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
    );
    zip.start_file("xl/workbook.xml", options).expect("a part");
    write_all(
        &mut zip,
        r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Stock" sheetId="1" r:id="r1"/></sheets></workbook>"#,
    );
    zip.start_file("xl/_rels/workbook.xml.rels", options).expect("a part");
    write_all(
        &mut zip,
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#,
    );
    zip.start_file("xl/worksheets/sheet1.xml", options).expect("a part");
    write_all(
        &mut zip,
        r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>"#,
    );
    let note =
        "with relief valve, gasket set and manual, kept in the second hall beside the gate; ".repeat(12);
    let (mut n_bytes, mut row) = (0, 0_u32);
    while n_bytes < 100 * 1024 * 1024 {
        row += 1;
        let text = format!(
            r#"<row r="{row}"><c r="A{row}"><v>{row}</v></c><c r="B{row}" t="inlineStr"><is><t>Hydraulic pump {row} {note}</t></is></c></row>"#
        );
        n_bytes += text.len();
        write_all(&mut zip, &text);
    }
    write_all(&mut zip, "</sheetData></worksheet>");
    zip.finish().expect("an archive").flush().expect("writes");
    let (summary, document) = parse_with(&worker(), file.path(), None, &ParseLimits::default());
    match summary {
        Ok(_) => {
            let first = &document.units.first().expect("units").text;
            assert!(first.contains("Hydraulic pump 1 "), "{first}");
        }
        Err(err) => assert_eq!(err.reason().code, "parse_limit_exceeded", "{err}"),
    }
}

fn write_all(out: &mut impl Write, text: &str) {
    out.write_all(text.as_bytes()).expect("writes");
}
