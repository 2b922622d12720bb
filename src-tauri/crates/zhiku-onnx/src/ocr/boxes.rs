//! From the map of probabilities that text is here to slanted boxes, as in "Real-time Scene Text Detection with
//! Differentiable Binarization" (Liao et al., 2020): what is above a threshold and touches is one line; the network marks
//! lines thinner than they are, so their boxes grow again.

use super::geometry::{Point, SlantedBox, box_at, convex_hull, least_box};

/// Less is not text.
const PIXEL_THRESHOLD: f32 = 0.3;
/// The mean over a box must reach this.
const BOX_THRESHOLD: f32 = 0.5;
/// Lower marks are specks.
const LEAST_HEIGHT: f32 = 3.0;
/// A box grows on each side by its area over its perimeter times this.
const GROWTH: f32 = 1.6;
/// Boxes this many times as long as high show how the page is slanted; short ones cannot be told from turned ones.
const LONG: f32 = 4.0;
const SHORT: f32 = 2.5;
/// More come from textures; what follows would take minutes.
const MOST_BOXES: usize = 2000;

/// One number per pixel of a scaled page, in rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProbabilityMap {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) values: Vec<f32>,
}

impl ProbabilityMap {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, values: vec![0.0; width * height] }
    }

    fn row(&self, y: usize) -> &[f32] {
        &self.values[y * self.width..(y + 1) * self.width]
    }

    /// Over the pixels whose centres are in the box.
    fn mean(&self, slanted: &SlantedBox) -> f32 {
        let [left, top, right, bottom] = slanted.bounds();
        let range = |from: f32, to: f32, most: usize| {
            from.floor().max(0.0) as usize..(to.ceil().max(0.0) as usize).min(most)
        };
        let (mut sum, mut n) = (0.0, 0);
        for y in range(top, bottom, self.height) {
            let row = self.row(y);
            for x in range(left, right, self.width) {
                if slanted.contains(Point::new(x as f32 + 0.5, y as f32 + 0.5)) {
                    sum += row[x];
                    n += 1;
                }
            }
        }
        if n == 0 { 0.0 } else { sum / n as f32 }
    }
}

/// The boxes of lines in pixels of the map, from top to bottom as they are met.
pub(crate) fn boxes(map: &ProbabilityMap) -> Vec<SlantedBox> {
    let hulls: Vec<Vec<Point>> =
        outlines(map).into_iter().map(convex_hull).filter(|hull| hull.len() >= 3).collect();
    let mut boxes: Vec<SlantedBox> = hulls.iter().map(|hull| least_box(hull)).collect();
    let slant = slant(&boxes);
    for (slanted, hull) in boxes.iter_mut().zip(&hulls) {
        if length(slanted) < SHORT * thickness(slanted) {
            *slanted = box_at(hull, slant);
        }
    }
    boxes.retain(|slanted| thickness(slanted) >= LEAST_HEIGHT && map.mean(slanted) >= BOX_THRESHOLD);
    boxes.truncate(MOST_BOXES);
    boxes.into_iter().map(grown).collect()
}

/// The angle at which most of the length of long boxes lies; 0 without long boxes.
pub(crate) fn slant(boxes: &[SlantedBox]) -> f32 {
    let mut long: Vec<(f32, f32)> = boxes
        .iter()
        .filter(|slanted| length(slanted) >= LONG * thickness(slanted))
        .map(|slanted| (slanted.angle, length(slanted)))
        .collect();
    long.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = long.iter().map(|(_, length)| length).sum::<f32>() / 2.0;
    let mut passed = 0.0;
    let median = long.iter().find(|(_, length)| {
        passed += length;
        passed >= half
    });
    median.map_or(0.0, |(angle, _)| *angle)
}

pub(crate) fn length(slanted: &SlantedBox) -> f32 {
    slanted.width.max(slanted.height)
}

pub(crate) fn thickness(slanted: &SlantedBox) -> f32 {
    slanted.width.min(slanted.height)
}

fn grown(slanted: SlantedBox) -> SlantedBox {
    let by = slanted.width * slanted.height * GROWTH / (2.0 * (slanted.width + slanted.height));
    slanted.grown(by)
}

/// Per group of touching pixels above the threshold, the corners of its first and last pixel in each row: enough for a
/// hull.
fn outlines(map: &ProbabilityMap) -> Vec<Vec<Point>> {
    let mut free: Vec<bool> = map.values.iter().map(|&value| value > PIXEL_THRESHOLD).collect();
    let mut outlines = Vec::new();
    for start in 0..free.len() {
        if free[start] {
            outlines.push(outline(&mut free, map.width, map.height, start));
        }
    }
    outlines
}

fn outline(free: &mut [bool], width: usize, height: usize, start: usize) -> Vec<Point> {
    let first_row = start / width;
    // The group is met at its uppermost row, so rows count from there.
    let mut extents: Vec<(usize, usize)> = Vec::new();
    let mut waiting = vec![start];
    free[start] = false;
    while let Some(at) = waiting.pop() {
        let (x, y) = (at % width, at / width);
        if extents.len() <= y - first_row {
            extents.resize(y - first_row + 1, (usize::MAX, 0));
        }
        let extent = &mut extents[y - first_row];
        *extent = (extent.0.min(x), extent.1.max(x));
        for next_y in y.saturating_sub(1)..(y + 2).min(height) {
            for next_x in x.saturating_sub(1)..(x + 2).min(width) {
                let next = next_y * width + next_x;
                if free[next] {
                    free[next] = false;
                    waiting.push(next);
                }
            }
        }
    }
    let corners = |(row, (first, last)): (usize, (usize, usize))| {
        let (left, right) = (first as f32, last as f32 + 1.0);
        let (top, bottom) = ((first_row + row) as f32, (first_row + row) as f32 + 1.0);
        [(left, top), (right, top), (right, bottom), (left, bottom)].map(|(x, y)| Point::new(x, y))
    };
    extents.into_iter().enumerate().flat_map(corners).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map on which the given boxes are marked.
    fn map(marks: &[(SlantedBox, f32)]) -> ProbabilityMap {
        let mut map = ProbabilityMap::new(300, 200);
        for y in 0..200 {
            for x in 0..300 {
                let point = Point::new(x as f32 + 0.5, y as f32 + 0.5);
                let here = marks.iter().filter(|(mark, _)| mark.contains(point)).map(|(_, value)| *value);
                map.values[y * 300 + x] = here.fold(0.02, f32::max);
            }
        }
        map
    }

    fn mark(x: f32, y: f32, width: f32, height: f32, angle: f32) -> SlantedBox {
        SlantedBox { centre: Point::new(x, y), width, height, angle }
    }

    #[test]
    fn each_mark_becomes_a_box_that_has_grown_by_its_share() {
        let found = boxes(&map(&[(mark(100.0, 40.0, 160.0, 10.0, 0.0), 0.9)]));
        let by = 160.0 * 10.0 * 1.6 / 340.0;
        assert_eq!(found, vec![mark(100.0, 40.0, 160.0 + 2.0 * by, 10.0 + 2.0 * by, 0.0)]);
    }

    #[test]
    fn a_slanted_mark_keeps_its_angle_and_gives_it_to_short_ones() {
        let found = boxes(&map(&[
            (mark(130.0, 60.0, 200.0, 12.0, 0.1), 0.9),
            (mark(60.0, 150.0, 14.0, 12.0, 0.1), 0.9),
        ]));
        assert_eq!(found.len(), 2);
        assert!((found[0].angle - 0.1).abs() < 0.02, "{found:?}");
        assert!((found[1].angle - found[0].angle).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn faint_marks_and_specks_are_no_text() {
        let marks = [
            (mark(100.0, 40.0, 100.0, 10.0, 0.0), 0.2),
            (mark(100.0, 80.0, 100.0, 10.0, 0.0), 0.4),
            (mark(100.0, 120.0, 30.0, 2.0, 0.0), 0.9),
        ];
        assert_eq!(boxes(&map(&marks)), vec![]);
        assert_eq!(boxes(&ProbabilityMap::new(0, 0)), vec![]);
    }

    #[test]
    fn a_mark_that_fills_the_map_is_one_box() {
        let found = boxes(&map(&[(mark(150.0, 100.0, 900.0, 900.0, 0.0), 0.9)]));
        assert_eq!(found.len(), 1);
    }
}
