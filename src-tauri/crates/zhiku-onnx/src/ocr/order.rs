//! Reading order: pieces of one line are joined, columns of running text are read one after the other, everything else
//! row by row. By recursive cuts along white space (Nagy and Seth, 1984), with rules that keep tables in rows.

/// A rectangle with text, on a page made level.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) left: f32,
    pub(crate) top: f32,
    pub(crate) right: f32,
    pub(crate) bottom: f32,
}

impl Place {
    pub(crate) fn width(&self) -> f32 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f32 {
        self.bottom - self.top
    }

    fn middle(&self) -> f32 {
        f32::midpoint(self.top, self.bottom)
    }
}

/// Of the lower of two pieces, what must lie beside the other if they are one line.
const SAME_LINE_OVERLAP: f32 = 0.6;
const LIKE_HEIGHT: f32 = 1.7;
/// Gap between pieces of one line, in heights.
const MOST_GAP: f32 = 0.9;
/// Boxes are higher than their letters, so lines below each other may overlap by this much of their height.
const ROW_OVERLAP: f32 = 0.3;
/// Between columns, in heights of a line.
const GUTTER: f32 = 0.5;
/// A column has at least this many lines, and most of them fill most of it; cells of tables do not.
const COLUMN_LINES: usize = 3;
const FILLED: f32 = 0.7;
/// And its lines are this many times as long as high.
const COLUMN_SHAPE: f32 = 5.0;

/// Positions in `places`, in reading order; pieces of one line are together, from left to right.
pub(crate) fn reading_order(places: &[Place]) -> Vec<Vec<usize>> {
    let mut order = Vec::new();
    arrange(places, (0..places.len()).collect(), &mut order);
    let mut lines: Vec<Vec<usize>> = Vec::new();
    for at in order {
        match lines.last_mut() {
            Some(line) if line.last().is_some_and(|&last| continues(&places[last], &places[at])) => {
                line.push(at);
            }
            _ => lines.push(vec![at]),
        }
    }
    lines
}

/// The text of two pieces of a line: a space goes between words, none where Chinese or Japanese is on either side.
pub(crate) fn joined(first: &str, second: &str) -> String {
    let apart = match (first.chars().next_back(), second.chars().next()) {
        (Some(a), Some(b)) => !(is_unspaced(a) || is_unspaced(b) || a.is_whitespace() || b.is_whitespace()),
        _ => false,
    };
    format!("{first}{}{second}", if apart { " " } else { "" })
}

/// Of a script that is written without spaces, or its punctuation.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}' | '\u{FF00}'..='\u{FFEF}'
        | '\u{20000}'..='\u{3FFFF}')
}

fn continues(left: &Place, right: &Place) -> bool {
    let (low, high) = (left.height().min(right.height()), left.height().max(right.height()));
    let gap = right.left - left.right;
    right.left > left.left
        && beside(left, right)
        && high <= LIKE_HEIGHT * low
        && gap <= MOST_GAP * low
        && gap >= -high
}

fn beside(a: &Place, b: &Place) -> bool {
    a.bottom.min(b.bottom) - a.top.max(b.top) >= SAME_LINE_OVERLAP * a.height().min(b.height())
}

fn arrange(places: &[Place], region: Vec<usize>, order: &mut Vec<usize>) {
    if region.len() < 2 {
        order.extend(region);
    } else if let Some((left, right)) = columns(places, &region) {
        arrange(places, left, order);
        arrange(places, right, order);
    } else if let Some((upper, lower)) = widest_row_gap(places, &region) {
        arrange(places, upper, order);
        arrange(places, lower, order);
    } else {
        order.extend(rows(places, region));
    }
}

/// Splits a region at white space from top to bottom that separates columns of running text.
fn columns(places: &[Place], region: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
    if region.len() < 2 * COLUMN_LINES {
        return None;
    }
    let mut by_left = region.to_vec();
    by_left.sort_by(|&a, &b| places[a].left.total_cmp(&places[b].left));
    let gutter = GUTTER * median(region.iter().map(|&at| places[at].height()));
    let mut reach = f32::NEG_INFINITY;
    for (at, &place) in by_left.iter().enumerate() {
        let (left, right) = by_left.split_at(at);
        if places[place].left - reach >= gutter && is_column(places, left) && is_column(places, right) {
            return Some((left.to_vec(), right.to_vec()));
        }
        reach = reach.max(places[place].right);
    }
    None
}

/// Running text, alone or in further columns: most lines are long, and as long as its longest.
fn is_column(places: &[Place], region: &[usize]) -> bool {
    if region.len() < COLUMN_LINES {
        return false;
    }
    let widest = region.iter().map(|&at| places[at].width()).fold(0.0, f32::max);
    let full = region
        .iter()
        .map(|&at| &places[at])
        .filter(|place| place.width() >= FILLED * widest && place.width() >= COLUMN_SHAPE * place.height());
    2 * full.count() >= region.len()
}

/// Splits a region at its widest white space from side to side.
fn widest_row_gap(places: &[Place], region: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
    let top = |at: usize| places[at].top + ROW_OVERLAP * places[at].height();
    let mut by_top = region.to_vec();
    by_top.sort_by(|&a, &b| top(a).total_cmp(&top(b)));
    let mut reach = f32::NEG_INFINITY;
    let mut widest: Option<(usize, f32)> = None;
    for (at, &place) in by_top.iter().enumerate() {
        let gap = top(place) - reach;
        if at > 0 && gap > 0.0 && widest.is_none_or(|(_, most)| gap > most) {
            widest = Some((at, gap));
        }
        reach = reach.max(places[place].bottom - ROW_OVERLAP * places[place].height());
    }
    let (at, _) = widest?;
    let lower = by_top.split_off(at);
    Some((by_top, lower))
}

/// Rows of what no straight cut separates: who stands beside the first of a row belongs to it.
fn rows(places: &[Place], mut region: Vec<usize>) -> Vec<usize> {
    region.sort_by(|&a, &b| places[a].middle().total_cmp(&places[b].middle()));
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for at in region {
        match rows.last_mut() {
            Some(row) if beside(&places[row[0]], &places[at]) => row.push(at),
            _ => rows.push(vec![at]),
        }
    }
    for row in &mut rows {
        row.sort_by(|&a, &b| places[a].left.total_cmp(&places[b].left));
    }
    rows.concat()
}

fn median(values: impl Iterator<Item = f32>) -> f32 {
    let mut values: Vec<f32> = values.collect();
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(left: f32, top: f32, width: f32) -> Place {
        Place { left, top, right: left + width, bottom: top + 30.0 }
    }

    fn check(places: &[Place], expected: &[&[usize]]) {
        assert_eq!(reading_order(places), expected);
    }

    #[test]
    fn columns_of_running_text_are_read_one_after_the_other() {
        let mut places = vec![place(300.0, 0.0, 400.0)];
        for row in 0..4 {
            places.push(place(0.0, 80.0 + 40.0 * row as f32, 480.0));
            places.push(place(520.0, 80.0 + 40.0 * row as f32, if row == 3 { 100.0 } else { 480.0 }));
        }
        places.push(place(0.0, 300.0, 900.0));
        check(&places, &[&[0], &[1], &[3], &[5], &[7], &[2], &[4], &[6], &[8], &[9]]);
    }

    #[test]
    fn tables_are_read_in_rows() {
        let mut places = Vec::new();
        for row in 0..4 {
            let y = 45.0 * row as f32;
            places.extend([place(0.0, y, 120.0), place(300.0, y + 3.0, 90.0), place(600.0, y - 3.0, 60.0)]);
        }
        let expected: Vec<Vec<usize>> = (0..12).map(|at| vec![at]).collect();
        assert_eq!(reading_order(&places), expected);
    }

    #[test]
    fn pieces_of_one_line_are_joined_and_neighbours_below_are_not() {
        let places = [place(210.0, 2.0, 100.0), place(0.0, 0.0, 200.0), place(0.0, 26.0, 200.0)];
        check(&places, &[&[1, 0], &[2]]);
        check(&[place(0.0, 0.0, 100.0), place(200.0, 0.0, 100.0)], &[&[0], &[1]]);
    }

    #[test]
    fn words_get_a_space_between_and_chinese_none() {
        assert_eq!(joined("safety", "rules"), "safety rules");
        assert_eq!(joined("货架编号", "M-208"), "货架编号M-208");
        assert_eq!(joined("仓库", "管理"), "仓库管理");
        assert_eq!(joined("", "x"), "x");
    }

    proptest! {
        #[test]
        fn every_place_is_read_once(
            places in prop::collection::vec((0.0_f32..900.0, 0.0_f32..900.0, 1.0_f32..500.0, 5.0_f32..60.0), 0..60),
        ) {
            let places: Vec<Place> = places
                .into_iter()
                .map(|(left, top, width, height)| Place { left, top, right: left + width, bottom: top + height })
                .collect();
            let mut seen: Vec<usize> = reading_order(&places).concat();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..places.len()).collect::<Vec<_>>());
        }
    }
}
