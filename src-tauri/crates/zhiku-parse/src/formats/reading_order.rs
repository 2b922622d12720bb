//! Shapes on a slide in the order in which they are read: from top to bottom, side by side from left to right.

/// A shape lies beside another when their tops differ by less than this share of the lower one's height.
const SAME_ROW: f64 = 0.5;

/// A rectangle, y downwards, in whatever unit the slide has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Sorts shapes by rows. One without a place is read behind the one before it.
pub(super) fn sort<T>(shapes: Vec<(T, Option<Area>)>) -> Vec<T> {
    let mut last = Area::default();
    let mut placed: Vec<(T, Area)> = shapes
        .into_iter()
        .map(|(shape, area)| {
            last = area.unwrap_or(last);
            (shape, last)
        })
        .collect();
    placed.sort_by(|(_, a), (_, b)| a.y.total_cmp(&b.y));
    let mut start = 0;
    while start < placed.len() {
        let first = placed[start].1;
        let is_beside =
            |(_, other): &&(T, Area)| other.y < first.y + first.height.min(other.height) * SAME_ROW;
        let n_beside = placed[start + 1..].iter().take_while(is_beside).count();
        placed[start..=start + n_beside].sort_by(|(_, a), (_, b)| a.x.total_cmp(&b.x));
        start += n_beside + 1;
    }
    placed.into_iter().map(|(shape, _)| shape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_before_columns_and_small_differences_do_not_matter() {
        let area = |x: f64, y: f64| Some(Area { x, y, width: 10.0, height: 10.0 });
        let shapes = vec![("d", area(0.0, 40.0)), ("b", area(50.0, 1.0)), ("c", None), ("a", area(0.0, 3.0))];
        assert_eq!(sort(shapes), vec!["a", "b", "c", "d"]);
    }
}
