//! Rows to lines of text, with the place of each character.

use zhiku_core::is_cjk;

use super::columns::Row;
use super::glyphs::{Glyph, Rect, Space};
use super::spans::{Span, is_rtl};

/// A gap of this many font sizes separates the cells of a table.
const CELL_GAP: f32 = 1.5;

/// One line as it will stand in the unit's text.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    /// In the upright frame: the left edge of each character and the right edge of the last; empty where characters do not
    /// run from left to right.
    pub(super) edges: Vec<f32>,
    pub(super) rect: Rect,
    pub(super) baseline: f32,
    pub(super) size: f32,
    pub(super) bold: bool,
    /// Stretches set apart by wide gaps; more than one in a table row.
    pub(super) n_cells: usize,
    /// Width of the first word: had it fitted on the line above, it would stand there.
    pub(super) first_word: f32,
}

pub(super) fn make_line(row: &Row, glyphs: &[Glyph], turn: u8) -> Line {
    let n_chars = |spans: &mut dyn Iterator<Item = &Span>| spans.map(|span| span.glyphs.len()).sum::<usize>();
    let n_all = n_chars(&mut row.spans.iter());
    let rtl = n_chars(&mut row.spans.iter().filter(|span| span.rtl)) * 2 > n_all;
    let spans: Vec<&Span> = if rtl { row.spans.iter().rev().collect() } else { row.spans.iter().collect() };
    let mut writer = Writer::default();
    for (n, span) in spans.iter().enumerate() {
        if n > 0 {
            writer.between(gap(spans[n - 1], span, rtl), spans[n - 1], span, glyphs);
        }
        writer.span(span, glyphs, turn);
    }
    let mixed = writer.text.chars().any(is_rtl);
    let first_word = writer.first_word();
    if !mixed {
        writer.edges.push(writer.right);
    }
    let n_bold = n_chars(&mut row.spans.iter().filter(|span| span.bold));
    Line {
        edges: if mixed { Vec::new() } else { writer.edges },
        text: writer.text,
        rect: row.rect,
        baseline: row.baseline,
        size: row.size,
        bold: n_bold * 10 > n_all * 9,
        n_cells: writer.n_cells,
        first_word,
    }
}

fn gap(left: &Span, right: &Span, rtl: bool) -> f32 {
    if rtl { left.rect.x0 - right.rect.x1 } else { right.rect.x0 - left.rect.x1 }
}

struct Writer {
    text: String,
    edges: Vec<f32>,
    right: f32,
    n_cells: usize,
    last: char,
}

impl Default for Writer {
    fn default() -> Self {
        Self { text: String::new(), edges: Vec::new(), right: 0.0, n_cells: 1, last: ' ' }
    }
}

impl Writer {
    fn space(&mut self, n: usize) {
        for _ in 0..n {
            self.text.push(' ');
            self.edges.push(self.right);
        }
    }

    fn between(&mut self, gap: f32, left: &Span, right: &Span, glyphs: &[Glyph]) {
        let size = left.size.min(right.size);
        let next = right.glyphs.first().map_or(' ', |i| glyphs[*i].c);
        let cjk = is_cjk(self.last) && is_cjk(next);
        if gap > CELL_GAP * size.max(4.0) {
            // The gap behind a bullet or number is no cell.
            if is_marker(&self.text) {
                self.space(1);
            } else {
                self.space(2);
                self.n_cells += 1;
            }
        } else if gap > if cjk { 0.8 * size } else { 0.15 * size } {
            self.space(1);
        }
    }

    fn span(&mut self, span: &Span, glyphs: &[Glyph], turn: u8) {
        for (n, index) in span.glyphs.iter().enumerate() {
            let glyph = &glyphs[*index];
            let rect = glyph.rect.upright(turn);
            if n > 0 && span.rtl {
                let before = glyphs[span.glyphs[n - 1]].rect.upright(turn);
                if (before.x0 - rect.x1).max(rect.x0 - before.x1) > 0.15 * glyph.size {
                    self.space(1);
                }
            } else if n > 0 {
                let wide = rect.x0 - self.right > 0.33 * glyph.size;
                let space = match glyph.space_before {
                    Space::Written => true,
                    Space::Inferred => !(is_cjk(self.last) && is_cjk(glyph.c)),
                    Space::None => wide && !(is_cjk(self.last) && is_cjk(glyph.c)),
                };
                if space {
                    self.space(1);
                }
            }
            self.text.push(glyph.c);
            self.edges.push(rect.x0);
            self.right = rect.x1;
            self.last = glyph.c;
        }
    }

    fn first_word(&self) -> f32 {
        let n = self.text.chars().take_while(|c| !c.is_whitespace()).count();
        let n = if self.text.chars().next().is_some_and(is_cjk) { 1 } else { n };
        match (self.edges.first(), self.edges.get(n)) {
            (Some(first), Some(end)) => end - first,
            (Some(first), None) => self.right - first,
            _ => 0.0,
        }
    }
}

/// `•`, `1.`, `(a)` and the like, alone on the line so far.
pub(super) fn is_marker(text: &str) -> bool {
    let n_chars = text.chars().count();
    if n_chars == 0 || n_chars > 5 || text.contains(' ') {
        return false;
    }
    if n_chars == 1 {
        return !text.chars().all(char::is_alphanumeric) && !matches!(text, "$" | "€" | "£" | "¥" | "%");
    }
    let inner = text.trim_matches(['(', ')', '（', '）', '[', ']', '.', '、']);
    inner.len() < text.len() && inner.chars().count() <= 3 && inner.chars().all(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::is_marker;

    #[test]
    fn bullets_and_numbers_are_markers() {
        assert!(["•", "1.", "(a)", "10)", "（一）", "\u{f0b7}"].iter().all(|text| is_marker(text)));
        assert!(["", "Net", "$", "2019", "A", "1.2.3.4"].iter().all(|text| !is_marker(text)));
    }
}
