use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::parser::ParsedDocument;

const NAMESPACES: &str = r#"xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"
 xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"
 xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
 xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
 xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
 xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" xmlns:v="urn:schemas-microsoft-com:vml""#;

/// A document of the given body and further parts (`styles`, `numbering`, `footnotes`, `comments` …).
fn docx(body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut put = |name: &str, text: &str| {
        zip.start_file(name, SimpleFileOptions::default()).expect("an entry");
        zip.write_all(text.as_bytes()).expect("its bytes");
    };
    let relation = |id: usize, kind: &str, target: &str| {
        format!(
            r#"<Relationship Id="r{id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/>"#
        )
    };
    let relations = |all: String| {
        format!(
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{all}</Relationships>"#
        )
    };
    put("[Content_Types].xml", "<Types/>");
    put("_rels/.rels", &relations(relation(1, "officeDocument", "word/document.xml")));
    let related = parts.iter().enumerate().map(|(i, (kind, _))| relation(i, kind, &format!("{kind}.xml")));
    put("word/_rels/document.xml.rels", &relations(related.collect()));
    put("word/document.xml", &format!("<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"));
    for (kind, content) in parts {
        put(&format!("word/{kind}.xml"), &format!("<w:{kind} {NAMESPACES}>{content}</w:{kind}>"));
    }
    zip.finish().expect("a file").into_inner()
}

fn parse(bytes: &[u8]) -> Result<ParsedDocument, ParseError> {
    let mut document = ParsedDocument::default();
    Docx.parse(&Source::new(bytes, "a.docx"), &mut document)?;
    Ok(document)
}

fn check_parts(body: &str, parts: &[(&str, &str)], expect: &str) {
    let bytes = docx(body, parts);
    let document = parse(&bytes).expect("a document");
    let found: Vec<_> = document.units.iter().map(|unit| unit.text.as_str()).collect();
    assert_eq!(found.join("\n\n"), expect);
    let source = Source::new(&bytes, "a.docx");
    assert!(Docx.sniff(&bytes, "a.docx"));
    for unit in &document.units {
        assert_eq!(Docx.read_at(&source, &unit.locator).as_ref(), Ok(&unit.text));
    }
}

fn check(body: &str, expect: &str) {
    check_parts(body, &[], expect);
}

fn p(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn listed(num_id: u32, level: u32, text: &str) -> String {
    format!(
        r#"<w:p><w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{num_id}"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"#
    )
}

const NUMBERING: &str = r#"
<w:abstractNum w:abstractNumId="0">
 <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1条"/></w:lvl>
 <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%2."/></w:lvl>
 <w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:isLgl/><w:lvlText w:val="%1.%2.%3"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val=""/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="1"><w:startOverride w:val="5"/></w:lvlOverride></w:num>"#;

#[test]
fn lists_carry_the_numbers_that_word_shows() {
    let body = [
        listed(1, 0, "保修"),
        listed(1, 1, "防水"),
        listed(1, 1, "水电"),
        listed(1, 2, "强电"),
        listed(1, 0, "流程"),
        listed(1, 1, "报修"),
        listed(3, 1, "另起"),
        listed(2, 0, "点"),
    ];
    check_parts(
        &body.concat(),
        &[("numbering", NUMBERING)],
        "第一条 保修\n\n  1. 防水\n  2. 水电\n    - 1.2.1 强电\n\n第二条 流程\n\n  1. 报修\n  5. 另起\n- 点",
    );
}

#[test]
fn headings_make_sections() {
    let styles = r#"<w:style w:styleId="a"><w:name w:val="标题 1"/></w:style><w:style w:styleId="t"><w:name w:val="Title"/></w:style>"#;
    let styled = |style: &str, text: &str| {
        format!(r#"<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"#)
    };
    check_parts(
        &[styled("t", "规定"), p("总"), styled("a", "范围"), p("全部")].concat(),
        &[("styles", styles)],
        "# 规定\n\n总\n\n## 范围\n\n全部",
    );
}

#[test]
fn merged_and_nested_cells_are_read_where_they_stand() {
    let cell =
        |properties: &str, content: &str| format!("<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>");
    let restart = r#"<w:vMerge w:val="restart"/>"#;
    let nested = format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>", cell("", &p("x")), cell("", &p("y")));
    let body = format!(
        "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}{}</w:tr><w:tr>{}<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>{}</w:tr>\
         <w:tr><w:trPr><w:gridBefore w:val=\"2\"/></w:trPr>{}</w:tr></w:tbl>",
        cell("", &p("a")),
        cell(r#"<w:gridSpan w:val="2"/>"#, &p("b")),
        cell(restart, &p("c")),
        cell("", &p("d")),
        cell("", &nested),
        cell("<w:vMerge/>", "<w:p/>"),
        cell("", &p("e")),
        cell("", &(p("f") + &p("g"))),
        cell("", &p("h")),
    );
    check(&body, "| a | b | b |\n| --- | --- | --- |\n| c | d | x y |\n| c | e | f g |\n|  |  | h |");
}

#[test]
fn tracked_changes_fields_and_controls_show_what_the_reader_sees() {
    check(
        r#"<w:p><w:r><w:t>a</w:t></w:r><w:del><w:r><w:delText>no</w:delText><w:t>no</w:t></w:r></w:del><w:ins><w:r><w:t>b</w:t></w:r></w:ins>
        <w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGEREF x</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>
        <w:hyperlink><w:r><w:t>c</w:t></w:r></w:hyperlink><w:r><w:fldChar w:fldCharType="end"/></w:r>
        <w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>☒</w:t></w:r></w:sdtContent></w:sdt>
        <w:r><w:t xml:space="preserve">d e</w:t><w:noBreakHyphen/><w:t>f</w:t><w:softHyphen/><w:t>g &amp; &#x4e2d;</w:t><w:br/><w:t>h</w:t></w:r>
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>"#,
        "abc[x] d e-fg & 中\nh",
    );
}

#[test]
fn text_boxes_are_read_once() {
    let content = format!("<w:txbxContent>{}</w:txbxContent>", p("box"));
    check(
        &format!(
            r"<w:p><w:r><w:t>a</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:wsp><wps:txbx>{content}</wps:txbx></wps:wsp></w:drawing></mc:Choice>
            <mc:Fallback><w:pict><v:textbox>{content}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>
            <w:p><w:r><mc:AlternateContent><mc:Choice Requires='x'><w:drawing/></mc:Choice><mc:Fallback><w:pict><v:textbox>{content}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
        ),
        "a\n\nbox\n\nbox",
    );
}

#[test]
fn notes_and_comments_stand_at_the_end_of_the_section() {
    let note = |kind: &str, id: u32, more: &str, text: &str| {
        format!(r#"<w:{kind} w:id="{id}" {more}>{}</w:{kind}>"#, p(text))
    };
    check_parts(
        r#"<w:p><w:r><w:t>五年</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t>。</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>"#,
        &[
            (
                "footnotes",
                &(note("footnote", 0, r#"w:type="separator""#, "no") + &note("footnote", 2, "", "自验收起")),
            ),
            ("comments", &note("comment", 0, r#"w:author="张三""#, "请核对")),
        ],
        "五年[^1]。\n\n[^1]: 自验收起\n[Comment by 张三: 请核对]",
    );
}

#[test]
fn formulas_are_linear() {
    check(
        "<w:p><m:oMath><m:r><m:t>A=π</m:t></m:r><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>\
         <m:f><m:num><m:r><m:t>–b</m:t></m:r></m:num><m:den><m:rad><m:deg/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad></m:den></m:f></m:oMath></w:p>",
        "$A=\\pi r^{2}\\frac{-b}{\\sqrt{x}}$",
    );
}

#[test]
fn encrypted_old_and_damaged_files_are_told_apart() {
    let ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    let marked = |mark: &str| {
        [ole.clone(), vec![0; 64], mark.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat()
    };
    let name = "a.docx".to_owned();
    assert!(Docx.sniff(&marked("EncryptedPackage"), "a.docx"));
    assert_eq!(parse(&marked("EncryptedPackage")), Err(ParseError::PasswordRequired { name: name.clone() }));
    assert!(matches!(parse(&marked("WordDocument")), Err(ParseError::Unsupported { .. })));
    let bytes = docx(&p("text"), &[]);
    assert!(matches!(parse(&bytes[..bytes.len() / 2]), Err(ParseError::Damaged { .. })));
    assert!(matches!(parse(b"PK\x03\x04"), Err(ParseError::Damaged { .. })));
}

#[test]
fn a_part_that_breaks_off_keeps_what_stands_before() {
    let bytes = docx(&(p("whole") + "<w:p><w:r><w:t>half"), &[]);
    let document = parse(&bytes).expect("a document");
    assert_eq!(document.units[0].text, "whole\n\nhalf");
    assert_eq!(document.warnings[0].code, "part_damaged");
}

#[test]
fn hostile_files_are_bounded() {
    let bomb = docx(&format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", "a".repeat(18 << 20)), &[]);
    assert!(matches!(parse(&bomb), Err(ParseError::LimitExceeded { .. })));
    let deep = docx(&("<w:tbl><w:tr><w:tc>".repeat(30_000) + &p("deep")), &[]);
    assert!(parse(&deep).is_ok_and(|document| !document.warnings.is_empty()) || parse(&deep).is_err());
    let entity = "<!DOCTYPE w:document [<!ENTITY x SYSTEM 'file:///etc/passwd'><!ENTITY y 'zz'>]>";
    let body = docx(&p("a&x;&y;b"), &[]);
    assert_eq!(parse(&body).expect("a document").units[0].text, "ab");
    assert!(
        crate::formats::xml::parse_part(&format!("{entity}<a>&x;&y;</a>"))
            .0
            .is_some_and(|root| root.text().is_empty())
    );
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::default()
    })]

    #[test]
    fn shuffled_parts_never_panic(pieces in proptest::collection::vec(proptest::sample::select(vec![
        "<w:p>", "</w:p>", "<w:r>", "</w:r>", "<w:t>", "</w:t>", "text", "<w:tbl>", "</w:tbl>", "<w:tr>", "</w:tr>", "<w:tc>", "</w:tc>",
        "<w:tcPr><w:gridSpan w:val='9999999'/></w:tcPr>", "<w:tcPr><w:vMerge/></w:tcPr>", "<w:trPr><w:gridBefore w:val='-1'/></w:trPr>",
        "<w:fldChar w:fldCharType='begin'/>", "<w:fldChar w:fldCharType='end'/>", "<w:fldChar w:fldCharType='separate'/>",
        "<w:footnoteReference w:id='2'/>", "<w:sym w:font='Wingdings' w:char='F0FE'/>", "<m:oMath>", "</m:oMath>", "<m:f>", "</m:f>",
        "<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>", "&#xD800;", "&bogus;", "<![CDATA[x]]>",
        "<w:pPr><w:numPr><w:ilvl w:val='99'/><w:numId w:val='1'/></w:numPr></w:pPr>", "<w:pPr><w:outlineLvl w:val='300'/></w:pPr>",
    ]), 0..60)) {
        let itself = r#"<w:footnote w:id="2"><w:p><w:r><w:t>n</w:t><w:footnoteReference w:id="2"/></w:r></w:p></w:footnote>"#;
        let bytes = docx(&pieces.concat(), &[("numbering", NUMBERING), ("footnotes", itself)]);
        if let Ok(document) = parse(&bytes) {
            let source = Source::new(&bytes, "a.docx");
            for unit in &document.units {
                let again = Docx.read_at(&source, &unit.locator);
                proptest::prop_assert_eq!(again.as_ref(), Ok(&unit.text));
            }
        }
    }
}
