//! Lines to blocks: paragraphs, list items, headings, the rows of one table. Good enough to find whole sentences.

use zhiku_core::{LineShape, is_cjk, line_shape};

use super::lines::Line;

/// The blocks of one column as ranges of its lines.
pub(super) fn make_blocks(lines: &[Line]) -> Vec<std::ops::Range<usize>> {
    let mut blocks = Vec::new();
    for group in groups(lines) {
        blocks.extend(paragraphs(lines, group));
    }
    blocks
}

/// Splits where the page itself shows a break: space, another size, a bullet, another weight.
fn groups(lines: &[Line]) -> Vec<std::ops::Range<usize>> {
    let mut groups = Vec::new();
    let mut start = 0;
    for at in 1..lines.len() {
        if is_apart(lines, start, at) {
            groups.push(start..at);
            start = at;
        }
    }
    if start < lines.len() {
        groups.push(start..lines.len());
    }
    groups
}

fn is_apart(lines: &[Line], start: usize, at: usize) -> bool {
    let (last, next) = (&lines[at - 1], &lines[at]);
    let size = last.size.max(next.size);
    let pitch = next.baseline - last.baseline;
    // The distance of lines within this block so far, or else around it.
    let usual = usual_pitch(lines, start, at);
    if pitch < 0.0 || pitch > (usual * 1.22).max(usual + 0.15 * size) {
        return true;
    }
    let ratio = last.size / next.size.max(0.1);
    if !(0.86..=1.16).contains(&ratio) {
        return true;
    }
    if last.n_cells > 1 && next.n_cells > 1 {
        return false;
    }
    if last.bold != next.bold && !starts_lower(next) && last.n_cells == next.n_cells {
        return true;
    }
    starts_item(next)
}

/// The line distance that a paragraph around line `at` would have.
fn usual_pitch(lines: &[Line], start: usize, at: usize) -> f32 {
    let own: Vec<f32> = pitches(lines, start, at);
    if let Some(least) = own.into_iter().reduce(f32::min) {
        return least;
    }
    let size = lines[at].size.max(lines[at - 1].size);
    let from = at.saturating_sub(12);
    let around = pitches(lines, from, (at + 12).min(lines.len()));
    let mut near: Vec<f32> =
        around.into_iter().filter(|pitch| (0.9 * size..2.4 * size).contains(pitch)).collect();
    if near.len() < 3 {
        return 1.35 * size;
    }
    near.sort_by(f32::total_cmp);
    near[near.len() / 3].max(size)
}

fn pitches(lines: &[Line], from: usize, to: usize) -> Vec<f32> {
    lines[from..to].windows(2).map(|pair| pair[1].baseline - pair[0].baseline).collect()
}

/// Splits a group that has no visible space between its paragraphs: at indents and after lines that end early.
fn paragraphs(lines: &[Line], group: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    let body = &lines[group.clone()];
    let right = body.iter().map(|line| line.rect.x1).fold(f32::MIN, f32::max);
    let mut found = Vec::new();
    let mut start = group.start;
    for at in group.start + 1..group.end {
        let after = (at + 1 < group.end).then(|| &lines[at + 1]);
        if starts_paragraph(&lines[at - 1], &lines[at], after, right) {
            found.push(start..at);
            start = at;
        }
    }
    found.push(start..group.end);
    found
}

fn starts_paragraph(last: &Line, next: &Line, after: Option<&Line>, right: f32) -> bool {
    if last.n_cells > 1 || next.n_cells > 1 {
        return false;
    }
    let em = next.size;
    let left_free = right - last.rect.x1;
    let ends_early = left_free > next.first_word + 0.6 * em && left_free > 1.5 * em;
    if ends_early && (ends_sentence(last) || !starts_lower(next)) {
        return true;
    }
    let indent = next.rect.x0 - last.rect.x0;
    let outdents_after = after.is_some_and(|after| next.rect.x0 - after.rect.x0 > 0.8 * em);
    let is_item = matches!(line_shape(&last.text), LineShape::ListItem(_));
    indent > 0.8 * em && indent < 8.0 * em && outdents_after && !is_item && ends_sentence(last)
}

fn starts_item(line: &Line) -> bool {
    let first = line.text.chars().next().unwrap_or(' ');
    matches!(line_shape(&line.text), LineShape::ListItem(_)) || ('\u{f000}'..='\u{f0ff}').contains(&first)
}

fn starts_lower(line: &Line) -> bool {
    line.text
        .chars()
        .next()
        .is_some_and(|c| c.is_lowercase() || matches!(c, ',' | '.' | ';' | ')' | '，' | '。'))
}

fn ends_sentence(line: &Line) -> bool {
    let last = line.text.trim_end_matches(['”', '’', '"', ')', '）', '」', '』']).chars().last();
    // Chinese lines run to the edge: one that stops short is an end whatever its last character.
    last.is_none_or(|c| matches!(c, '.' | '!' | '?' | ':' | ';') || is_cjk(c))
}
