//! Recognised lines of a picture as the text of a unit, with the place of every character. Pure.

use zhiku_core::recognition::RecognizedLine;
use zhiku_core::{BBox, LayoutLine, UnitLayout, is_cjk};
use zhiku_vault::Recognized;

/// Less sure lines are more likely noise than words.
const LEAST_CONFIDENCE: f32 = 0.5;

/// Cells of a row are apart by this, as on pages with text of their own.
const BETWEEN_CELLS: &str = "  ";
/// A paragraph ends where the gap below a line is wider than that between lines of one paragraph, by this share of the
/// line's height. Boxes of lines overlap a little; between paragraphs of office documents a third of a line is left.
const PARAGRAPH_GAP: f32 = 0.3;

/// `place` maps a box of the picture to the unit's coordinates, whose size is `size`. Lines side by side are one line of text,
/// and paragraphs are apart by a blank line.
pub fn compose(lines: &[RecognizedLine], size: [f32; 2], place: &dyn Fn(BBox) -> BBox) -> Recognized {
    let lines: Vec<&RecognizedLine> = lines
        .iter()
        .filter(|line| !line.text.trim().is_empty() && line.confidence >= LEAST_CONFIDENCE)
        .collect();
    let tight_gap = lower_quartile(lines.windows(2).filter_map(|pair| gap_below(pair[0], pair[1])).collect());
    let mut text = String::new();
    let mut layout = UnitLayout { page_size: size, lines: Vec::new() };
    let (mut n_chars, mut sure, mut weight) = (0_u32, 0.0, 0.0);
    for (at, line) in lines.iter().enumerate() {
        if let Some(before) = at.checked_sub(1).map(|before| lines[before]) {
            let between = separator(before, line, tight_gap);
            text.push_str(between);
            n_chars += between.len() as u32;
        }
        let words = line.text.trim();
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

fn separator(before: &RecognizedLine, line: &RecognizedLine, tight_gap: f32) -> &'static str {
    let upright = before.quarter_turns == 0 && line.quarter_turns == 0;
    match gap_below(before, line) {
        _ if !upright => "\n",
        None if is_right_of(before, line) => BETWEEN_CELLS,
        // Further up: another column.
        None => "\n\n",
        Some(gap) if gap > tight_gap + height(line) * PARAGRAPH_GAP => "\n\n",
        Some(_) => "\n",
    }
}

/// How far below a line the next one begins, less than 0 where they touch; `None` when it does not stand below.
fn gap_below(before: &RecognizedLine, line: &RecognizedLine) -> Option<f32> {
    let ([_, top, _, bottom], [_, next_top, _, next_bottom]) = (before.bbox.0, line.bbox.0);
    let is_below = f32::midpoint(next_top, next_bottom) > bottom && next_top > f32::midpoint(top, bottom);
    is_below.then_some(next_top - bottom)
}

fn is_right_of(before: &RecognizedLine, line: &RecognizedLine) -> bool {
    let ([_, top, right, bottom], [next_left, next_top, _, next_bottom]) = (before.bbox.0, line.bbox.0);
    let shared = bottom.min(next_bottom) - top.max(next_top);
    next_left >= right && shared > height(before).min(height(line)) / 2.0
}

fn height(line: &RecognizedLine) -> f32 {
    line.bbox.0[3] - line.bbox.0[1]
}

fn lower_quartile(mut values: Vec<f32>) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 4).copied().unwrap_or_default()
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
        line_at(text, [0.0, y, 100.0, y + 10.0], confidence)
    }

    fn line_at(text: &str, bbox: [f32; 4], confidence: f32) -> RecognizedLine {
        RecognizedLine { text: text.to_owned(), bbox: BBox(bbox), quarter_turns: 0, confidence }
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

    fn check(lines: &[RecognizedLine], expected: &str) {
        let read = compose(lines, [200.0, 200.0], &|bbox| bbox);
        assert_eq!(read.text, expected);
        let chars: Vec<char> = read.text.chars().collect();
        for (line, placed) in lines.iter().zip(read.layout.expect("layout").lines) {
            let own: String = chars[placed.char_start as usize..placed.char_end as usize].iter().collect();
            assert_eq!((own.as_str(), placed.bbox), (line.text.as_str(), line.bbox));
        }
    }

    #[test]
    fn a_row_of_a_table_is_a_line() {
        let cells = [
            line_at("For", [0.0, 0.0, 30.0, 10.0], 0.9),
            line_at("250,838", [120.0, 1.0, 160.0, 11.0], 0.9),
            line_at("Against", [0.0, 14.0, 40.0, 24.0], 0.9),
            line_at("746,982", [120.0, 14.0, 160.0, 24.0], 0.9),
        ];
        check(&cells, "For  250,838\nAgainst  746,982");
    }

    #[test]
    fn paragraphs_and_columns_are_apart_by_a_blank_line() {
        let lines = [
            line("a", 0.0, 0.9),
            line("b", 13.0, 0.9),
            line("c", 26.0, 0.9),
            line("d", 43.0, 0.9),
            line_at("e", [110.0, 0.0, 190.0, 10.0], 0.9),
        ];
        check(&lines, "a\nb\nc\n\nd\n\ne");
        check(&[line("a", 0.0, 0.9), line("b", 30.0, 0.9), line("c", 60.0, 0.9)], "a\nb\nc");
    }

    #[test]
    fn nothing_to_read_is_an_empty_text_of_no_confidence() {
        let read = compose(&[line("~", 0.0, 0.1)], [1.0, 1.0], &|bbox| bbox);
        assert_eq!((read.text.as_str(), read.layout, read.confidence), ("", None, 0.0));
    }
}
