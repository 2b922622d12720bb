//! Glyphs of one page to its text and layout.

use zhiku_core::{BBox, LayoutLine, UnitLayout};

use super::blocks::make_blocks;
use super::columns::reading_order;
use super::glyphs::{Glyph, Rect};
use super::lines::{Line, make_line};
use super::spans::make_spans;

/// The text of a page and where its lines stand.
pub(super) struct PageText {
    pub(super) text: String,
    pub(super) layout: UnitLayout,
}

pub(super) fn compose(glyphs: &[Glyph], page_size: [f32; 2]) -> PageText {
    let mut out = Composer::default();
    for turn in turns_by_weight(glyphs) {
        let members: Vec<usize> = (0..glyphs.len()).filter(|i| glyphs[*i].turn == turn).collect();
        for column in reading_order(make_spans(glyphs, &members, turn)) {
            let lines: Vec<Line> = column.iter().map(|row| make_line(row, glyphs, turn)).collect();
            for block in make_blocks(&lines) {
                out.block(&lines[block], turn);
            }
        }
    }
    PageText { text: out.text, layout: UnitLayout { page_size, lines: out.lines } }
}

/// The text directions on the page, the one with most characters first.
fn turns_by_weight(glyphs: &[Glyph]) -> Vec<u8> {
    let mut counts = [0usize; 4];
    for glyph in glyphs {
        counts[usize::from(glyph.turn & 3)] += 1;
    }
    let mut turns: Vec<u8> = (0..4u8).filter(|turn| counts[usize::from(*turn)] > 0).collect();
    turns.sort_by_key(|turn| std::cmp::Reverse(counts[usize::from(*turn)]));
    turns
}

#[derive(Default)]
struct Composer {
    text: String,
    n_chars: u32,
    lines: Vec<LayoutLine>,
}

impl Composer {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.n_chars += text.chars().count() as u32;
    }

    fn block(&mut self, lines: &[Line], turn: u8) {
        if !self.text.is_empty() {
            self.push("\n\n");
        }
        for (n, line) in lines.iter().enumerate() {
            if n > 0 {
                self.push("\n");
            }
            let char_start = self.n_chars;
            self.push(&line.text);
            self.lines.push(LayoutLine {
                char_start,
                char_end: self.n_chars,
                bbox: to_bbox(line.rect.upright((4 - turn) & 3)),
                xs: if turn == 0 {
                    line.edges.iter().map(|x| (x * 10.0).round() as i32).collect()
                } else {
                    Vec::new()
                },
            });
        }
    }
}

fn to_bbox(rect: Rect) -> BBox {
    let round = |v: f32| (v * 100.0).round() / 100.0;
    BBox([round(rect.x0), round(rect.y0), round(rect.x1), round(rect.y1)])
}
