//! Characters to spans: stretches of one line without a wide gap, in the frame in which the text runs upright.

use super::glyphs::{Glyph, Rect};

/// A gap of this many font sizes ends a span.
const SPAN_GAP: f32 = 1.2;

/// A stretch of text on one line.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// Indices into the page's glyphs, in reading order.
    pub(super) glyphs: Vec<usize>,
    /// In the upright frame.
    pub(super) rect: Rect,
    pub(super) baseline: f32,
    pub(super) size: f32,
    pub(super) bold: bool,
    /// Right-to-left letters prevail.
    pub(super) rtl: bool,
    /// Letters prevail over digits and signs.
    pub(super) wordy: bool,
}

impl Span {
    pub(super) fn width(&self) -> f32 {
        self.rect.x1 - self.rect.x0
    }
}

/// The spans of the glyphs `members` (indices, in PDFium's order), all of direction `turn`.
pub(super) fn make_spans(glyphs: &[Glyph], members: &[usize], turn: u8) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut current: Vec<usize> = Vec::new();
    for &index in members {
        if let Some(&last) = current.last()
            && !goes_on(&glyphs[last], &glyphs[index], turn)
        {
            spans.push(finish(glyphs, std::mem::take(&mut current), turn));
        }
        current.push(index);
    }
    if !current.is_empty() {
        spans.push(finish(glyphs, current, turn));
    }
    raise_small_spans(glyphs, &mut spans, turn);
    spans
}

fn upright_baseline(glyph: &Glyph, turn: u8) -> f32 {
    super::glyphs::turn_point(glyph.baseline.0, glyph.baseline.1, turn).1
}

fn goes_on(last: &Glyph, next: &Glyph, turn: u8) -> bool {
    let size = last.size.max(next.size);
    if (upright_baseline(last, turn) - upright_baseline(next, turn)).abs() > 0.15 * size {
        return false;
    }
    let (a, b) = (last.rect.upright(turn), next.rect.upright(turn));
    if is_rtl(last.c) || is_rtl(next.c) {
        return (a.x0 - b.x1).max(b.x0 - a.x1) < SPAN_GAP * size;
    }
    let gap = b.x0 - a.x1;
    gap < SPAN_GAP * size && gap > -1.5 * size && b.x0 > a.x0 - 0.5 * size
}

fn finish(glyphs: &[Glyph], mut members: Vec<usize>, turn: u8) -> Span {
    let n_rtl = members.iter().filter(|i| is_rtl(glyphs[**i].c)).count();
    let n_ltr = members.iter().map(|i| glyphs[*i].c).filter(|c| c.is_alphabetic() && !is_rtl(*c)).count();
    let centre = |i: &usize| {
        let rect = glyphs[*i].rect.upright(turn);
        f32::midpoint(rect.x0, rect.x1)
    };
    if n_rtl > n_ltr {
        // From right to left; the parts of one ligature come in the order of a line that was turned round.
        members.sort_by(|a, b| centre(b).total_cmp(&centre(a)).then(b.cmp(a)));
        turn_latin_runs(glyphs, &mut members);
    } else if n_rtl == 0 {
        // Accents and overprints may come a little out of order. A space stays where it was said to be.
        if members.windows(2).any(|pair| centre(&pair[0]) > centre(&pair[1])) {
            members.sort_by(|a, b| centre(a).total_cmp(&centre(b)));
        }
    }
    let mut rect = glyphs[members[0]].rect.upright(turn);
    let mut size: f32 = 0.0;
    let mut baseline = upright_baseline(&glyphs[members[0]], turn);
    for index in &members {
        rect = rect.union(glyphs[*index].rect.upright(turn));
        if glyphs[*index].size > size {
            size = glyphs[*index].size;
            baseline = upright_baseline(&glyphs[*index], turn);
        }
    }
    let n_bold = members.iter().filter(|i| glyphs[**i].bold).count();
    let n_letters = members.iter().filter(|i| glyphs[**i].c.is_alphabetic()).count();
    Span {
        bold: n_bold * 2 > members.len(),
        rtl: n_rtl > n_ltr,
        wordy: n_letters * 10 >= members.len() * 6,
        glyphs: members,
        rect,
        baseline,
        size,
    }
}

/// Words and numbers inside right-to-left text run from left to right.
fn turn_latin_runs(glyphs: &[Glyph], members: &mut [usize]) {
    let is_latin = |i: usize| glyphs[i].c.is_alphanumeric() && !is_rtl(glyphs[i].c);
    let mut at = 0;
    while at < members.len() {
        if !is_latin(members[at]) {
            at += 1;
            continue;
        }
        let next_rtl =
            members[at..].iter().position(|i| is_rtl(glyphs[*i].c)).map_or(members.len(), |n| at + n);
        let end = members[at..next_rtl].iter().rposition(|i| is_latin(*i)).map_or(at + 1, |n| at + n + 1);
        members[at..end].reverse();
        at = end;
    }
}

/// Puts superscripts and subscripts on the baseline of the text beside them, so that they land in its line; into the text,
/// where it leaves a gap for them.
fn raise_small_spans(glyphs: &[Glyph], spans: &mut Vec<Span>, turn: u8) {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by(|a, b| spans[*a].baseline.total_cmp(&spans[*b].baseline));
    let mut changes = Vec::new();
    for (rank, &small) in order.iter().enumerate() {
        let span = &spans[small];
        if span.glyphs.len() > 12 {
            continue;
        }
        let above =
            order[..rank].iter().rev().take_while(|o| span.baseline - spans[**o].baseline < 2.0 * span.size);
        let below =
            order[rank + 1..].iter().take_while(|o| spans[**o].baseline - span.baseline < 2.0 * span.size);
        let host = above.chain(below).copied().find(|other| is_beside(span, &spans[*other]));
        if let Some(host) = host {
            changes.push((small, host));
        }
    }
    for (small, host) in changes {
        let (a, b) = (spans[small].rect, spans[host].rect);
        let inside = a.x0 > b.x0 && a.x1 < b.x1 && !spans[host].rtl && !spans[host].glyphs.is_empty();
        if inside {
            let mut members = std::mem::take(&mut spans[small].glyphs);
            members.splice(0..0, std::mem::take(&mut spans[host].glyphs));
            spans[host] = finish(glyphs, members, turn);
        } else {
            spans[small].baseline = spans[host].baseline;
        }
    }
    spans.retain(|span| !span.glyphs.is_empty());
}

fn is_beside(small: &Span, host: &Span) -> bool {
    let shift = (small.baseline - host.baseline).abs();
    if small.size > 0.87 * host.size || shift > 0.75 * host.size || shift < 0.02 * host.size {
        return false;
    }
    let overlap = small.rect.y1.min(host.rect.y1) - small.rect.y0.max(host.rect.y0);
    let apart = (small.rect.x0 - host.rect.x1).max(host.rect.x0 - small.rect.x1);
    overlap > 0.3 * (small.rect.y1 - small.rect.y0) && apart < 0.5 * host.size
}

/// Letters of Hebrew, Arabic and their presentation forms. Their digits run from left to right.
pub(super) fn is_rtl(c: char) -> bool {
    !c.is_numeric() && matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

#[cfg(test)]
mod tests {
    use super::super::glyphs::{Look, Space};
    use super::*;

    /// The characters of `text` side by side from the left, as one span; in the order in which they are read.
    fn read(text: &str) -> String {
        let glyph = |(n, c): (usize, char)| Glyph {
            c,
            rect: Rect { x0: n as f32 * 5.0, y0: 0.0, x1: n as f32 * 5.0 + 5.0, y1: 10.0 },
            baseline: (n as f32 * 5.0, 8.0),
            size: 10.0,
            turn: 0,
            space_before: Space::None,
            bold: false,
            look: Look::Visible,
        };
        let glyphs: Vec<Glyph> = text.chars().enumerate().map(glyph).collect();
        let members: Vec<usize> = (0..glyphs.len()).collect();
        let spans = make_spans(&glyphs, &members, 0);
        spans.iter().flat_map(|span| span.glyphs.iter().map(|i| glyphs[*i].c)).collect()
    }

    #[test]
    fn right_to_left_text_is_read_from_the_right_and_its_latin_words_from_the_left() {
        assert_eq!(read("abc"), "abc");
        assert_eq!(read("גבא"), "אבג");
        assert_eq!(read("גv2בא"), "אבv2ג");
        assert_eq!(read("٣٤"), "٣٤");
        assert_eq!(read("٣٤ב"), "ב٣٤");
    }
}
