//! The pictures within documents: which of them may hold words, what they are called, how many are taken out.
//!
//! A picture becomes a file of its own that is read by recognition; the importer drops it again when nothing is written in
//! it. Deliberately absent: drawings (EMF, WMF, SVG), whose words recognition cannot see without a renderer.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use super::container::Container;
use super::image::size_of_picture;
use super::whole::warning;
use crate::error::ParseError;
use crate::parser::{ChildFile, Source, UnitSink};

/// Smaller sides are those of bullets, icons and rules.
const MIN_SIDE: u32 = 64;
/// About 140 by 140 pixels: a logo, not a text.
const MIN_PIXELS: u64 = 20_000;
/// Reading a picture takes about a second: what is beyond is told, not read.
const MAX_PICTURES: u32 = 200;
const MAX_PICTURE_BYTES: usize = 32 * 1024 * 1024;
const MAX_TOTAL_BYTES: usize = 256 * 1024 * 1024;

/// A picture that a document refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartPicture {
    /// Where it stands, for its name: `slide 4`; nothing in a document without such places.
    pub place: Option<String>,
    /// Its path within the container.
    pub part: String,
}

/// Hands on the pictures of a document, in order.
pub(super) fn send_parts(
    source: &Source<'_>,
    parts: &[PartPicture],
    sink: &mut dyn UnitSink,
) -> Result<(), ParseError> {
    let mut container = Container::open(source)?;
    let mut pictures = Pictures::default();
    let mut seen = HashSet::new();
    for PartPicture { place, part } in parts.iter().filter(|picture| seen.insert(&picture.part)) {
        // A picture that is missing or broken leaves the text as it is.
        if let Ok(Some(bytes)) = container.bytes(part) {
            pictures.send(place.as_deref(), bytes, sink)?;
        }
    }
    pictures.finish(sink)
}

/// What one document has given so far.
#[derive(Default)]
pub(super) struct Pictures {
    place: Option<String>,
    n_at_place: u32,
    n_sent: u32,
    n_bytes: usize,
    n_left_out: u32,
    digests: HashSet<[u8; 32]>,
}

impl Pictures {
    /// Hands on a picture that may hold words, once.
    pub(super) fn send(
        &mut self,
        place: Option<&str>,
        bytes: Vec<u8>,
        sink: &mut dyn UnitSink,
    ) -> Result<(), ParseError> {
        if !size_of_picture(&bytes).is_some_and(may_hold_words)
            || !self.digests.insert(Sha256::digest(&bytes).into())
        {
            return Ok(());
        }
        let n_bytes = self.n_bytes + bytes.len();
        if self.n_sent == MAX_PICTURES || bytes.len() > MAX_PICTURE_BYTES || n_bytes > MAX_TOTAL_BYTES {
            self.n_left_out += 1;
            return Ok(());
        }
        self.n_sent += 1;
        self.n_bytes = n_bytes;
        if self.place.as_deref() != place {
            self.place = place.map(str::to_owned);
            self.n_at_place = 0;
        }
        self.n_at_place += 1;
        sink.child(ChildFile { name: name(place, self.n_at_place), bytes, embedded: true })
    }

    /// Says what was left out.
    pub(super) fn finish(self, sink: &mut dyn UnitSink) -> Result<(), ParseError> {
        if self.n_left_out == 0 {
            return Ok(());
        }
        let message =
            format!("{} pictures are more or larger than are read of one document", self.n_left_out);
        sink.warning(warning("pictures_left_out", message))
    }
}

/// Whether a picture of this width and height is large enough to be more than an ornament.
pub(super) fn may_hold_words([width, height]: [u32; 2]) -> bool {
    width.min(height) >= MIN_SIDE && u64::from(width) * u64::from(height) >= MIN_PIXELS
}

fn name(place: Option<&str>, n: u32) -> String {
    match place {
        Some(place) => format!("{place} picture {n}"),
        None => format!("picture {n}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

    use super::*;
    use crate::parser::ParsedDocument;

    fn picture(width: u32, height: u32, grey: u8) -> Vec<u8> {
        let image = DynamicImage::ImageRgb8(RgbImage::from_pixel(width, height, Rgb([grey; 3])));
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, ImageFormat::Png).expect("writes");
        bytes.into_inner()
    }

    fn sent(pictures: Vec<(Option<&str>, Vec<u8>)>) -> ParsedDocument {
        let (mut taken, mut document) = (Pictures::default(), ParsedDocument::default());
        for (place, bytes) in pictures {
            taken.send(place, bytes, &mut document).expect("sends");
        }
        taken.finish(&mut document).expect("ends");
        document
    }

    fn names(document: &ParsedDocument) -> Vec<&str> {
        document.children.iter().map(|child| child.name.as_str()).collect()
    }

    #[test]
    fn ornaments_drawings_and_repetitions_are_passed_over() {
        let document = sent(vec![
            (None, picture(63, 900, 1)),
            (None, picture(130, 130, 1)),
            (None, b"\xd7\xcd\xc6\x9a a drawing".to_vec()),
            (None, picture(400, 300, 1)),
            (None, picture(400, 300, 1)),
            (None, picture(400, 300, 2)),
        ]);
        assert_eq!(names(&document), ["picture 1", "picture 2"]);
        assert!(document.children.iter().all(|child| child.embedded) && document.warnings.is_empty());
    }

    #[test]
    fn pictures_are_counted_at_their_place() {
        let document = sent(vec![
            (Some("slide 2"), picture(400, 300, 1)),
            (Some("slide 2"), picture(400, 300, 2)),
            (Some("slide 5"), picture(400, 300, 3)),
        ]);
        assert_eq!(names(&document), ["slide 2 picture 1", "slide 2 picture 2", "slide 5 picture 1"]);
    }

    #[test]
    fn a_picture_book_is_cut_and_says_so() {
        let many = (0..MAX_PICTURES + 7).map(|n| (None, picture(150, 150 + n, 9))).collect();
        let document = sent(many);
        assert_eq!(document.children.len(), MAX_PICTURES as usize);
        assert_eq!(
            document.warnings[0].message,
            "7 pictures are more or larger than are read of one document"
        );
    }
}
