//! What the product needs of PDF pages.

use tokio_util::sync::CancellationToken;
use zhiku_core::{BBox, Locator, ParsedUnit, Trust, char_slice, sentences};
use zhiku_parse::ParseError;
use zhiku_parse::worker::{ParseLimits, ParseRequest, read_picture, read_pictures};

use crate::support::{fixture, parse, small_pdf, worker};

fn label(unit: &ParsedUnit) -> &str {
    let Locator::Page { page_label, .. } = &unit.locator else { panic!("{:?}", unit.locator) };
    page_label
}

/// The boxes of the first occurrence of `quote` on a page.
fn boxes(unit: &ParsedUnit, quote: &str) -> Vec<BBox> {
    let at = unit.text.find(quote).unwrap_or_else(|| panic!("{quote:?} is not in {:?}", unit.text));
    let start = unit.text[..at].chars().count() as u32;
    unit.layout.as_ref().expect("layout").boxes(start, start + quote.chars().count() as u32)
}

#[test]
fn pages_carry_their_printed_labels_and_outline() {
    let document = parse(&fixture("pdf/page_labels.pdf"));
    assert_eq!(document.units.iter().map(label).collect::<Vec<_>>(), ["i", "ii", "1", "2", "A-1"]);
    let paths: Vec<String> = document.units.iter().map(|unit| unit.heading_path.join(" > ")).collect();
    assert_eq!(paths, ["Preface", "Preface", "Travel Policy", "Travel Policy > Exceptions", "Annex"]);
}

#[test]
fn a_file_without_labels_counts_from_one() {
    let file = tempfile::Builder::new().suffix(".pdf").tempfile().expect("temporary file");
    std::fs::write(file.path(), small_pdf(3)).expect("writes");
    assert_eq!(parse(file.path()).units.iter().map(label).collect::<Vec<_>>(), ["1", "2", "3"]);
}

#[test]
fn columns_are_read_one_after_the_other() {
    let document = parse(&fixture("pdf/two_columns.pdf"));
    let text = &document.units[0].text;
    let whole: Vec<String> =
        sentences(text).into_iter().map(|range| char_slice(text, range).replace('\n', " ")).collect();
    for sentence in [
        "Reading Pages with Two Columns of Running Text",
        "A reader who jumps across the gutter finds sentences that nobody wrote.",
        "Numbers on one side of a gap are a sign of a table; long lines on both sides are a sign of prose.",
        "It costs 3.5 ms per page.",
    ] {
        assert!(whole.iter().any(|found| found == sentence), "{sentence}\n{whole:#?}");
    }
}

#[test]
fn table_rows_stay_rows() {
    let document = parse(&fixture("pdf/price_table.pdf"));
    let text = &document.units[0].text;
    assert!(text.contains("\nWaterproof coating M-208  kg  31.50  34.00  Qinghe\n"), "{text}");
    assert!(text.contains("Smaller orders cost 4 % more.\n\n"), "{text}");
}

#[test]
fn chinese_lines_have_no_spaces_and_whole_sentences() {
    for name in ["pdf/after_sales_rules.pdf", "pdf/font_not_embedded.pdf"] {
        let document = parse(&fixture(name));
        let text = &document.units[0].text;
        let whole: Vec<String> =
            sentences(text).into_iter().map(|range| char_slice(text, range).replace('\n', "")).collect();
        let wanted = "第二条 防水工程的保修期为五年，水电工程的保修期为两年，其他工程的保修期为一年。";
        assert!(whole.iter().any(|found| found == wanted), "{name}: {whole:#?}");
    }
}

#[test]
fn boxes_lie_over_the_quoted_words() {
    let document = parse(&fixture("pdf/price_table.pdf"));
    let found = boxes(&document.units[0], "M-208");
    let [BBox([x0, y0, x1, y1])] = found.as_slice() else { panic!("{found:?}") };
    // In 10 point Helvetica "Waterproof coating " is 87.3 points wide and starts at 72, "M-208" is 28.3 points wide.
    assert!((x0 - 159.3).abs() < 0.5 && (x1 - 187.6).abs() < 0.5, "{found:?}");
    assert!(*y0 < *y1 && y1 - y0 < 14.0, "{found:?}");
}

#[test]
fn boxes_of_a_rotated_page_are_those_of_the_stored_page() {
    let document = parse(&fixture("pdf/rotated.pdf"));
    let shown_turned = boxes(&document.units[0], "A Page Turned by the Viewer")[0].0;
    assert!(
        (shown_turned[0] - 72.0).abs() < 1.0 && shown_turned[1] < 110.0 && shown_turned[3] < 110.0,
        "{shown_turned:?}"
    );
    let upwards = boxes(&document.units[1], "Text Turned on the Page")[0].0;
    // It starts 72 points above the bottom of a page of 842 points and stands 90 points from the left.
    assert!((upwards[3] - (841.9 - 72.0)).abs() < 1.0 && upwards[2] < 100.0, "{upwards:?}");
    assert!(
        document.units[1].text.contains("line by line, and each\nhas a box."),
        "{}",
        document.units[1].text
    );
}

#[test]
fn text_that_is_not_shown_does_not_count_as_the_page() {
    let document = parse(&fixture("pdf/hidden_text.pdf"));
    let [mixed, layer, picture] = document.units.as_slice() else { panic!("{} units", document.units.len()) };
    assert!(mixed.text.contains("White on a dark bar"), "{}", mixed.text);
    for hidden in ["Ignore", "Outside", "Never"] {
        assert!(!mixed.text.contains(hidden), "{}", mixed.text);
    }
    assert_eq!(mixed.trust, Trust::Normal);
    assert!(!mixed.awaits_recognition() && layer.awaits_recognition() && picture.awaits_recognition());
    let codes: Vec<&str> = document.warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(codes, ["hidden_text", "hidden_text"]);
}

#[test]
fn places_are_drawn_in_order_and_one_that_cannot_be_costs_itself() {
    let path = fixture("pdf/page_labels.pdf");
    let request = ParseRequest { name: "page_labels.pdf", password: None, start_unit: 0 };
    let at = |page_index| Locator::Page { page_index, page_label: String::new(), boxes: Vec::new() };
    let places = [at(1), at(99), at(0)];
    let (limits, cancel) = (ParseLimits::default(), CancellationToken::new());
    let mut drawn = Vec::new();
    read_pictures(&worker(), &path, &request, &places, &limits, &cancel, &mut |n, picture| {
        drawn.push((n, picture.map(|picture| picture.picture)));
        Ok(())
    })
    .expect("drawn");
    let alone = |place| {
        let picture = read_picture(&worker(), &path, &request, place, &limits, &cancel);
        picture.map(|picture| picture.picture)
    };
    assert!(matches!(drawn[1], (1, Err(ParseError::NoSuchPlace { .. }))), "{:?}", drawn[1].1.is_ok());
    assert_eq!(drawn[0], (0, alone(&places[0])));
    assert_eq!(drawn[2], (2, alone(&places[2])));
}

#[test]
fn a_page_is_drawn_as_its_reader_sees_it_and_its_pixels_lead_back_to_the_page() {
    let path = fixture("pdf/rotated.pdf");
    let request = ParseRequest { name: "rotated.pdf", password: None, start_unit: 0 };
    for unit in &parse(&path).units {
        let (limits, cancel) = (ParseLimits::default(), CancellationToken::new());
        let drawn = read_picture(&worker(), &path, &request, &unit.locator, &limits, &cancel).expect("drawn");
        let layout = unit.layout.as_ref().expect("a layout");
        let differ = |axis: usize| (drawn.frame.page_size[axis] - layout.page_size[axis]).abs() > 0.01;
        assert!(!differ(0) && !differ(1), "{:?}", drawn.frame);
        // Where the picture is dark, a line of the page must be.
        let dark = (0..drawn.picture.rgb.len() / 3).filter(|at| drawn.picture.rgb[at * 3] < 60);
        let width = drawn.picture.width as usize;
        let mut n_dark = 0;
        for at in dark {
            let (x, y) = ((at % width) as f32, (at / width) as f32);
            let [x, y, ..] = drawn.frame.to_source(BBox([x, y, x, y])).0;
            let holds = |[x0, y0, x1, y1]: [f32; 4]| {
                (x0 - 3.0..x1 + 3.0).contains(&x) && (y0 - 3.0..y1 + 3.0).contains(&y)
            };
            assert!(layout.lines.iter().any(|line| holds(line.bbox.0)), "{:?} at {x} {y}", unit.locator);
            n_dark += 1;
        }
        assert!(n_dark > 50);
    }
}
