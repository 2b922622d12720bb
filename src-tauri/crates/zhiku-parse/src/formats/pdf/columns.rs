//! Spans to rows in reading order: columns of prose are read one after the other, tables row by row.
//!
//! A gutter counts as the space between columns only if there is prose on both sides of it; the gaps of a table, with
//! numbers or short words on one side, do not.

use super::glyphs::Rect;
use super::spans::Span;

/// Columns within columns within columns are read as they stand.
const MAX_DEPTH: usize = 4;
const MIN_ROWS: usize = 3;

/// Spans on one baseline, from left to right.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) spans: Vec<Span>,
    pub(super) rect: Rect,
    pub(super) baseline: f32,
    pub(super) size: f32,
}

impl Row {
    fn of(mut spans: Vec<Span>) -> Self {
        spans.sort_by(|a, b| a.rect.x0.total_cmp(&b.rect.x0));
        let mut rect = spans[0].rect;
        let (mut size, mut baseline) = (0.0, 0.0);
        for span in &spans {
            rect = rect.union(span.rect);
            if span.size > size {
                (size, baseline) = (span.size, span.baseline);
            }
        }
        Self { spans, rect, baseline, size }
    }
}

/// The page as a list of columns, each a list of rows from top to bottom, in reading order.
pub(super) fn reading_order(spans: Vec<Span>) -> Vec<Vec<Row>> {
    let mut columns = Vec::new();
    split(make_rows(spans), 0, &mut columns);
    columns
}

fn make_rows(mut spans: Vec<Span>) -> Vec<Row> {
    spans.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    let mut rows: Vec<Row> = Vec::new();
    let mut current: Vec<Span> = Vec::new();
    for span in spans {
        if let Some(last) = current.last()
            && span.baseline - last.baseline > 0.3 * span.size.min(last.size).max(2.0)
        {
            rows.push(Row::of(std::mem::take(&mut current)));
        }
        current.push(span);
    }
    if !current.is_empty() {
        rows.push(Row::of(current));
    }
    rows
}

fn split(rows: Vec<Row>, depth: usize, columns: &mut Vec<Vec<Row>>) {
    if rows.is_empty() {
        return;
    }
    let Some(gutter) = (depth < MAX_DEPTH).then(|| find_gutter(&rows)).flatten() else {
        columns.push(rows);
        return;
    };
    let mut before = rows;
    let mut within = before.split_off(gutter.first);
    let after = within.split_off(gutter.last + 1 - gutter.first);
    let (left, right): (Vec<Span>, Vec<Span>) =
        within.into_iter().flat_map(|row| row.spans).partition(|span| is_left(span, gutter.middle()));
    split(before, depth + 1, columns);
    split(make_rows(left), depth + 1, columns);
    split(make_rows(right), depth + 1, columns);
    split(after, depth + 1, columns);
}

fn is_left(span: &Span, middle: f32) -> bool {
    f32::midpoint(span.rect.x0, span.rect.x1) < middle
}

/// An empty stripe `x0..x1` beside which rows `first..=last` stand.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gutter {
    first: usize,
    last: usize,
    x0: f32,
    x1: f32,
}

impl Gutter {
    fn middle(self) -> f32 {
        f32::midpoint(self.x0, self.x1)
    }

    fn n_rows(self) -> usize {
        self.last + 1 - self.first
    }
}

/// The tallest gutter with prose on both sides.
fn find_gutter(rows: &[Row]) -> Option<Gutter> {
    let mut best: Option<Gutter> = None;
    let mut seen: Vec<Gutter> = Vec::new();
    for at in 0..rows.len() {
        for (x0, x1) in gaps_at(rows, at) {
            let middle = f32::midpoint(x0, x1);
            if seen.iter().any(|known| {
                (known.first..=known.last).contains(&at) && known.x0 < middle && middle < known.x1
            }) {
                continue;
            }
            let gutter = trim(rows, grow(rows, Gutter { first: at, last: at, x0, x1 }));
            seen.push(gutter);
            let taller = best.is_none_or(|best| gutter.n_rows() > best.n_rows());
            if taller && has_prose_beside(rows, gutter) {
                best = Some(gutter);
            }
        }
    }
    best
}

/// Gaps within a row, and between it and a next row that stands beside rather than below it.
fn gaps_at(rows: &[Row], at: usize) -> Vec<(f32, f32)> {
    let row = &rows[at];
    let wide = |gap: &(f32, f32)| gap.1 - gap.0 >= min_width(row);
    let mut gaps: Vec<(f32, f32)> =
        row.spans.windows(2).map(|pair| (pair[0].rect.x1, pair[1].rect.x0)).filter(wide).collect();
    if let Some(next) = rows.get(at + 1)
        && next.rect.y0 < row.rect.y1 - 0.2 * row.size
    {
        let between = if row.rect.x1 < next.rect.x0 {
            (row.rect.x1, next.rect.x0)
        } else {
            (next.rect.x1, row.rect.x0)
        };
        gaps.extend(Some(between).filter(wide));
    }
    gaps
}

fn min_width(row: &Row) -> f32 {
    (0.8 * row.size).max(5.0)
}

fn grow(rows: &[Row], seed: Gutter) -> Gutter {
    let mut gutter = seed;
    while gutter.first > 0
        && let Some(narrowed) = narrow(&rows[gutter.first - 1], gutter)
    {
        gutter = Gutter { first: gutter.first - 1, ..narrowed };
    }
    while gutter.last + 1 < rows.len()
        && let Some(narrowed) = narrow(&rows[gutter.last + 1], gutter)
    {
        gutter = Gutter { last: gutter.last + 1, ..narrowed };
    }
    gutter
}

/// The gutter with `row` beside it, unless the row would close it.
fn narrow(row: &Row, mut gutter: Gutter) -> Option<Gutter> {
    let middle = gutter.middle();
    for span in &row.spans {
        if span.rect.x0 < middle && span.rect.x1 > middle {
            return None;
        }
        if span.rect.x1 <= middle {
            gutter.x0 = gutter.x0.max(span.rect.x1);
        } else {
            gutter.x1 = gutter.x1.min(span.rect.x0);
        }
    }
    (gutter.x1 - gutter.x0 >= min_width(row)).then_some(gutter)
}

/// Leaves out rows at both ends that stand on one side only and apart from the rest: headings, page numbers.
fn trim(rows: &[Row], mut gutter: Gutter) -> Gutter {
    let middle = gutter.middle();
    let one_sided = |row: &Row| {
        let n_left = row.spans.iter().filter(|span| is_left(span, middle)).count();
        n_left == 0 || n_left == row.spans.len()
    };
    let apart = |upper: &Row, lower: &Row| lower.rect.y0 - upper.rect.y1 > 0.8 * upper.size.max(lower.size);
    while gutter.first < gutter.last
        && one_sided(&rows[gutter.first])
        && apart(&rows[gutter.first], &rows[gutter.first + 1])
    {
        gutter.first += 1;
    }
    while gutter.first < gutter.last
        && one_sided(&rows[gutter.last])
        && apart(&rows[gutter.last - 1], &rows[gutter.last])
    {
        gutter.last -= 1;
    }
    gutter
}

fn has_prose_beside(rows: &[Row], gutter: Gutter) -> bool {
    let beside: Vec<&Span> = rows[gutter.first..=gutter.last].iter().flat_map(|row| &row.spans).collect();
    let (left, right): (Vec<&Span>, Vec<&Span>) =
        beside.into_iter().partition(|span| is_left(span, gutter.middle()));
    let (n_left, n_right) = (left.len() as f32, right.len() as f32);
    n_left.min(n_right) >= 0.4 * n_left.max(n_right) && is_prose(&left) && is_prose(&right)
}

/// Long lines of similar width.
fn is_prose(spans: &[&Span]) -> bool {
    if spans.len() < MIN_ROWS {
        return false;
    }
    let ems: f32 =
        spans.iter().map(|span| span.width() / span.size.max(1.0)).sum::<f32>() / spans.len() as f32;
    let mut widths: Vec<f32> = spans.iter().map(|span| span.width()).collect();
    widths.sort_by(f32::total_cmp);
    let (median, widest) = (widths[widths.len() / 2], widths[widths.len() - 1]);
    ems >= 8.0
        && median >= 0.6 * widest
        && spans.iter().filter(|span| span.wordy).count() * 10 >= spans.len() * 7
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(x0: f32, x1: f32, y: f32) -> Span {
        let rect = Rect { x0, y0: y - 8.0, x1, y1: y + 2.0 };
        Span { glyphs: vec![], rect, baseline: y, size: 10.0, bold: false, rtl: false, wordy: x1 - x0 > 60.0 }
    }

    /// The `x0@y` of each span, column by column.
    fn order(spans: Vec<Span>) -> Vec<Vec<String>> {
        let name = |span: &Span| format!("{}@{}", span.rect.x0, span.baseline);
        reading_order(spans)
            .iter()
            .map(|column| column.iter().flat_map(|row| row.spans.iter().map(name)).collect())
            .collect()
    }

    #[test]
    fn two_columns_of_prose_are_read_one_after_the_other() {
        let mut spans = vec![span(50.0, 550.0, 20.0)];
        for n in 0..4u8 {
            spans.push(span(50.0, 290.0, 50.0 + 12.0 * f32::from(n)));
            spans.push(span(310.0, 550.0, 53.0 + 12.0 * f32::from(n)));
        }
        assert_eq!(
            order(spans),
            vec![
                vec!["50@20"],
                vec!["50@50", "50@62", "50@74", "50@86"],
                vec!["310@53", "310@65", "310@77", "310@89"],
            ]
        );
    }

    #[test]
    fn a_table_is_read_row_by_row() {
        let mut spans = Vec::new();
        for n in 0..4u8 {
            spans.push(span(50.0, 250.0, 50.0 + 12.0 * f32::from(n)));
            spans.push(span(400.0, 440.0, 50.0 + 12.0 * f32::from(n)));
        }
        assert_eq!(
            order(spans),
            vec![vec!["50@50", "400@50", "50@62", "400@62", "50@74", "400@74", "50@86", "400@86"]]
        );
    }
}
