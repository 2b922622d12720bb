use super::*;

fn check(rtf: &[u8], expect: &str) {
    let source = Source::new(rtf, "a.rtf");
    let whole = read(&source).expect("reads");
    let texts: Vec<_> = whole.units.iter().map(|unit| unit.text.as_str()).collect();
    assert_eq!(texts.join("\n----\n"), expect);
    for unit in &whole.units {
        assert_eq!(Rtf.read_at(&source, &unit.locator).as_ref(), Ok(&unit.text));
    }
}

#[test]
fn code_pages_of_file_and_font_and_unicode_are_read() {
    check(br"{\rtf1\ansi\ansicpg936 \'b1\'a3\'d0\'de and \u20445?\u20462?.}", "保修 and 保修.");
    check(
        br"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset128 MS;}}caf\'e9 {\f1 \'93\'fa\'96\'7b}\par}",
        "café 日本",
    );
    check(br"{\rtf1 \uc2 \u-10179 xx\u-8694 xx\uc0 \u8364 end}", "😊€end");
}

#[test]
fn what_is_not_the_documents_text_is_left_out() {
    check(
        br"{\rtf1{\info{\title T}}{\header H}{\*\generator G;}{\pict 0102\bin3 }}}}a{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}{\v hidden}{\*\bkmkstart b}c\par}",
        "alinkc",
    );
}

#[test]
fn headings_lists_notes_and_tables_are_kept() {
    check(
        br"{\rtf1{\stylesheet{\s0 Normal;}{\s1 heading 1;}}{\pard\s1 Rules\par}\pard Text{\footnote \chftn  see law}\par
{\listtext 1.\tab}First\par{\listtext \'b7\tab}Bullet\par
\trowd\clvmgf\cellx1\cellx2\intbl A\cell B\cell\row\trowd\clvmrg\cellx1\cellx2\intbl \cell C\par D\cell\row\pard End\par}",
        "# Rules\n\nText[^1]\n\n1. First\n- Bullet\n\n| A | B |\n| --- | --- |\n| A | C D |\n\nEnd\n\n[^1]: see law",
    );
}

#[test]
fn damage_ends_the_text_and_nothing_else() {
    for rtf in [&br"{\rtf1 a\'"[..], br"{\rtf1 }}}}b", br"{\rtf1 {{{{c", br"{\rtf1\bin999999 x", br"{\rtf1\u"]
    {
        let _ = read(&Source::new(rtf, "a.rtf"));
    }
    let deep = ["{\\rtf1 ", &"{".repeat(100_000), "x", &"}".repeat(100_000), "}"].concat();
    check(deep.as_bytes(), "x");
}
