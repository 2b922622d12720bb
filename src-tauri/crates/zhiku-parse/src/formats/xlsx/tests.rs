use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::parser::ParsedDocument;

/// A workbook with one sheet of the given rows.
fn workbook(rows: &str, behind_rows: &str, strings: &str, styles: &str) -> Vec<u8> {
    const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut put = |name: &str, text: &str| {
        zip.start_file(name, SimpleFileOptions::default()).expect("an entry");
        zip.write_all(text.as_bytes()).expect("its bytes");
    };
    let relation = |id: &str, target: &str| {
        format!(r#"<Relationship Id="{id}" Type="{RELATIONS}/{id}" Target="{target}"/>"#)
    };
    put(
        "_rels/.rels",
        &format!("<Relationships>{}</Relationships>", relation("officeDocument", "xl/workbook.xml")),
    );
    put(
        "xl/_rels/workbook.xml.rels",
        &format!(
            "<Relationships>{}{}{}</Relationships>",
            relation("worksheet", "worksheets/sheet1.xml"),
            relation("sharedStrings", "sharedStrings.xml"),
            relation("styles", "styles.xml")
        ),
    );
    put(
        "xl/workbook.xml",
        &format!(
            r#"<workbook xmlns:r="{RELATIONS}"><sheets><sheet name="表 1" sheetId="1" r:id="worksheet"/></sheets></workbook>"#
        ),
    );
    put("xl/sharedStrings.xml", &format!("<sst>{strings}</sst>"));
    put("xl/styles.xml", &format!("<styleSheet>{styles}</styleSheet>"));
    put(
        "xl/worksheets/sheet1.xml",
        &format!("<worksheet><sheetData>{rows}</sheetData>{behind_rows}</worksheet>"),
    );
    zip.finish().expect("a package").into_inner()
}

fn parse(bytes: &[u8]) -> ParsedDocument {
    let mut document = ParsedDocument::default();
    let source = Source::new(bytes, "a.xlsx");
    Xlsx.parse(&source, &mut document).expect("parses");
    for unit in &document.units {
        assert_eq!(Xlsx.read_at(&source, &unit.locator).as_ref(), Ok(&unit.text));
    }
    document
}

fn check(bytes: &[u8], range: &str, text: &str) {
    let document = parse(bytes);
    let found: Vec<_> = document.units.iter().map(|unit| (&unit.locator, unit.text.as_str())).collect();
    let locator = Locator::Cells { sheet: "表 1".to_owned(), range: range.to_owned() };
    assert_eq!(found, vec![(&locator, text)]);
}

#[test]
fn cells_are_shown_as_excel_shows_them() {
    let strings = "<si><t>item</t></si><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>x</t></rPh></si>";
    let styles = r#"<numFmts><numFmt numFmtId="164" formatCode="0.0%"/></numFmts>
        <cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/></cellXfs>"#;
    let rows = r#"<row r="2"><c r="B2" t="s"><v>0</v></c><c r="C2" t="inlineStr"><is><t>a &amp; b</t></is></c>
        <c r="D2" t="str"><f>X()</f><v>y</v></c></row>
        <row r="3"><c r="B3" t="s"><v>1</v></c><c r="C3" s="1"><v>0.125</v></c><c r="D3" s="2"><f>TODAY()</f><v>45352</v></c>
        <c r="F3" t="b"><v>1</v></c><c r="G3" t="e"><v>#DIV/0!</v></c></row>"#;
    check(
        &workbook(rows, "", strings, styles),
        "B2:G3",
        "| item | a & b | y |  |  |  |\n| --- | --- | --- | --- | --- | --- |\n| rich text | 12.5% | 2024-03-01 |  | TRUE | #DIV/0! |",
    );
}

#[test]
fn merged_cells_are_filled_and_places_may_be_left_to_count() {
    let rows = "<row><c><v>1</v></c><c><v>2</v></c><c/></row><row><c/><c><v>3</v></c><c><v>4</v></c></row>";
    let merges = r#"<mergeCells><mergeCell ref="A1:A2"/></mergeCells>"#;
    check(&workbook(rows, merges, "", ""), "A1:C2", "| 1 | 2 |  |\n| --- | --- | --- |\n| 1 | 3 | 4 |");
}

#[test]
fn a_sheet_that_breaks_off_keeps_what_came_before() {
    let bytes = workbook("<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></oops>", "", "", "");
    let document = parse(&bytes);
    assert_eq!(document.warnings.len(), 1, "{:?}", document.warnings);
    assert!(document.units[0].text.contains("| 1 | 2 |"));
}

#[test]
fn a_hundred_thousand_rows_become_bounded_units() {
    let rows: String = (0..100_000)
        .map(|n| format!("<row><c><v>{n}</v></c><c><v>{n}</v></c></row>"))
        .collect::<Vec<_>>()
        .concat();
    let document = parse_only(&workbook(&rows, "", "", ""));
    assert!(document.units.len() > 400);
    assert!(document.units.iter().all(|unit| unit.text.chars().count() < 8_000));
}

fn parse_only(bytes: &[u8]) -> ParsedDocument {
    let mut document = ParsedDocument::default();
    Xlsx.parse(&Source::new(bytes, "a.xlsx"), &mut document).expect("parses");
    document
}
