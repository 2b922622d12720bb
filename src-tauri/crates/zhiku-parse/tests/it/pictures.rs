//! The pictures within documents come out once each, named by their place; ornaments do not.

use image::GenericImageView;
use zhiku_parse::ChildFile;

use crate::support::{fixture, parse};

fn pictures(name: &str) -> Vec<ChildFile> {
    let document = parse(&fixture(name));
    assert!(document.warnings.is_empty(), "{:?}", document.warnings);
    assert!(document.children.iter().all(|child| child.embedded));
    document.children
}

fn check(name: &str, expect: &[&str]) {
    let pictures = pictures(name);
    assert_eq!(pictures.iter().map(|child| child.name.as_str()).collect::<Vec<_>>(), expect);
}

#[test]
fn pictures_are_named_by_their_place() {
    check("docx/pictures.docx", &["picture 1"]);
    check("pptx/pictures.pptx", &["slide 2 picture 1"]);
    check(
        "pdf/pictures.pdf",
        &["page 1 picture 1", "page 1 picture 2", "page 2 picture 1", "page 2 picture 2"],
    );
}

#[test]
fn strips_of_a_page_are_one_picture_and_words_of_the_page_are_no_part_of_it() {
    let pictures = pictures("pdf/pictures.pdf");
    let size = |at: usize| image::load_from_memory(&pictures[at].bytes).expect("a picture").dimensions();
    // 450 by 160 points, drawn as sharp as the sharpest picture of the page: 2.5 pixels per point and 2; a pixel that is touched belongs to it.
    assert_eq!(size(1), (1126, 401));
    assert_eq!(size(2), (901, 321));
    let plain = image::load_from_memory(&pictures[3].bytes).expect("a picture").to_rgb8();
    let ground = plain.get_pixel(300, 30).0;
    let far = |a: u8, b: u8| a.abs_diff(b) > 12;
    let n_marks = plain.pixels().filter(|pixel| (0..3).any(|at| far(pixel.0[at], ground[at]))).count();
    assert_eq!(n_marks, 0, "words of the page are left in the picture");
}

#[test]
fn scanned_pages_give_no_pictures() {
    let document = parse(&fixture("pdf/hidden_text.pdf"));
    assert!(document.children.is_empty());
}
