//! From pieces that were read to lines of the picture.

use zhiku_core::recognition::RecognizedLine;

use super::boxes::slant;
use super::geometry::{SlantedBox, box_at};
use super::order::{Place, joined, reading_order};
use super::recognize::Reading;
use super::view::View;

/// A box that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    /// In the view of the page.
    pub(crate) slanted: SlantedBox,
    /// Quarter turns clockwise beyond those of the view by which its words are turned.
    pub(crate) further: u8,
    pub(crate) reading: Reading,
}

/// In reading order, with pieces of one line joined.
pub(crate) fn recognized_lines(view: &View<'_>, pieces: Vec<Piece>) -> Vec<RecognizedLine> {
    let boxes: Vec<SlantedBox> = pieces.iter().map(|piece| piece.slanted).collect();
    let slant = slant(&boxes);
    let places: Vec<Place> = boxes.iter().map(|slanted| level_place(slanted, slant)).collect();
    let mut lines = Vec::new();
    for group in reading_order(&places) {
        let members = group.into_iter().map(|at| &pieces[at]);
        let mut open: Option<(RecognizedLine, u8)> = None;
        for piece in members {
            let further = piece.further;
            let next = line(view, piece);
            open = Some(match open.take() {
                Some((line, turned)) if turned == further => (join(line, next), turned),
                Some((line, _)) => {
                    lines.push(line);
                    (next, further)
                }
                None => (next, further),
            });
        }
        lines.extend(open.map(|(line, _)| line));
    }
    lines
}

fn line(view: &View<'_>, piece: &Piece) -> RecognizedLine {
    RecognizedLine {
        text: piece.reading.text.trim().to_owned(),
        bbox: view.bbox(&piece.slanted),
        quarter_turns: (view.turns() + piece.further) % 4,
        confidence: piece.reading.confidence.clamp(0.0, 1.0),
    }
}

fn join(first: RecognizedLine, second: RecognizedLine) -> RecognizedLine {
    let (a, b) = (first.text.chars().count() as f32, second.text.chars().count() as f32);
    RecognizedLine {
        text: joined(&first.text, &second.text),
        bbox: first.bbox.union(second.bbox),
        quarter_turns: first.quarter_turns,
        confidence: (first.confidence * a + second.confidence * b) / (a + b),
    }
}

/// Where a box is once the page is made level.
fn level_place(slanted: &SlantedBox, slant: f32) -> Place {
    let fitted = box_at(&slanted.corners(), slant);
    let centre = fitted.centre.turned(-slant);
    Place {
        left: centre.x - fitted.width / 2.0,
        top: centre.y - fitted.height / 2.0,
        right: centre.x + fitted.width / 2.0,
        bottom: centre.y + fitted.height / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use zhiku_core::recognition::Picture;

    use super::super::geometry::Point;
    use super::*;

    fn piece(text: &str, x: f32, y: f32, width: f32, further: u8) -> Piece {
        // On a page that falls to the right by a tenth.
        let centre = Point::new(x, y).turned(0.1);
        Piece {
            slanted: SlantedBox { centre, width, height: 20.0, angle: 0.1 },
            further,
            reading: Reading { text: text.to_owned(), confidence: 0.9 },
        }
    }

    #[test]
    fn lines_of_a_slanted_page_are_in_order_and_turned_ones_stay_apart() {
        let picture = Picture { width: 900, height: 600, rgb: vec![0; 900 * 600 * 3] };
        let pieces = vec![
            piece("rules", 350.0, 100.0, 200.0, 0),
            piece("second", 200.0, 130.0, 300.0, 0),
            piece("safety", 150.0, 100.0, 180.0, 0),
            piece("stamp", 555.0, 100.0, 190.0, 2),
        ];
        let lines = recognized_lines(&View::new(&picture, 3), pieces);
        let got: Vec<(&str, u8)> =
            lines.iter().map(|line| (line.text.as_str(), line.quarter_turns)).collect();
        assert_eq!(got, [("safety rules", 3), ("stamp", 1), ("second", 3)]);
        assert!((lines[0].confidence - 0.9).abs() < 1e-6);
    }
}
