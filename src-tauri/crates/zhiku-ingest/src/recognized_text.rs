//! Recognised lines of a picture as the text of a unit, with the place of every character. Pure.

use zhiku_core::recognition::RecognizedLine;
use zhiku_core::{BBox, LayoutLine, UnitLayout, is_cjk};
use zhiku_vault::Recognized;

/// Less sure lines are more likely noise than words.
const LEAST_CONFIDENCE: f32 = 0.5;

/// `place` maps a box of the picture to the unit's coordinates, whose size is `size`.
pub fn compose(lines: &[RecognizedLine], size: [f32; 2], place: &dyn Fn(BBox) -> BBox) -> Recognized {
    let mut text = String::new();
    let mut layout = UnitLayout { page_size: size, lines: Vec::new() };
    let (mut n_chars, mut sure, mut weight) = (0_u32, 0.0, 0.0);
    for line in lines {
        let words = line.text.trim();
        if words.is_empty() || line.confidence < LEAST_CONFIDENCE {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
            n_chars += 1;
        }
        let length = words.chars().count() as u32;
        let bbox = place(line.bbox);
        let xs = if line.quarter_turns == 0 { edges(words, bbox) } else { Vec::new() };
        layout.lines.push(LayoutLine { char_start: n_chars, char_end: n_chars + length, bbox, xs });
        text.push_str(words);
        n_chars += length;
        sure += line.confidence * length as f32;
        weight += length as f32;
    }
    let confidence = if weight > 0.0 { sure / weight } else { 0.0 };
    Recognized { text, layout: weight.gt(&0.0).then_some(layout), confidence }
}

/// Where each character is taken to stand in its line, in tenths of the unit's measure: a Chinese one is about twice as wide as
/// a Latin one.
fn edges(words: &str, bbox: BBox) -> Vec<i32> {
    let width = |c: char| if is_cjk(c) { 2.0 } else { 1.0 };
    let total: f32 = words.chars().map(width).sum();
    let [x0, _, x1, _] = bbox.0;
    let mut passed = 0.0;
    let mut edges = vec![(x0 * 10.0) as i32];
    for c in words.chars() {
        passed += width(c);
        edges.push(((x0 + (x1 - x0) * passed / total) * 10.0) as i32);
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, y: f32, confidence: f32) -> RecognizedLine {
        RecognizedLine {
            text: text.to_owned(),
            bbox: BBox([0.0, y, 100.0, y + 10.0]),
            quarter_turns: 0,
            confidence,
        }
    }

    #[test]
    fn lines_become_text_with_the_place_of_each_part() {
        let lines = [line("防水 M-2", 0.0, 0.9), line("noise", 20.0, 0.2), line("五年", 40.0, 0.7)];
        let read = compose(&lines, [200.0, 100.0], &|BBox(b)| BBox(b.map(|v| v * 2.0)));
        assert_eq!(read.text, "防水 M-2\n五年");
        let layout = read.layout.expect("layout");
        assert_eq!(layout.boxes(0, 2), vec![BBox([0.0, 0.0, 100.0, 20.0])]);
        assert_eq!(layout.boxes(7, 8), vec![BBox([0.0, 80.0, 100.0, 100.0])]);
        assert!((read.confidence - (0.9 * 6.0 + 0.7 * 2.0) / 8.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_to_read_is_an_empty_text_of_no_confidence() {
        let read = compose(&[line("~", 0.0, 0.1)], [1.0, 1.0], &|bbox| bbox);
        assert_eq!((read.text.as_str(), read.layout, read.confidence), ("", None, 0.0));
    }
}
