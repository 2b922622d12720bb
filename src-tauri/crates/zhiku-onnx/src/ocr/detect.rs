//! Where lines of text are. The page is scaled so that print has a size the network knows, and looked at in overlapping
//! tiles whose maps are put together: a tile bounds memory and the time until other work gets its turn.

use std::ops::Range;

use ort::session::{RunOptions, Session};
use ort::value::Tensor;
use zhiku_core::RunContext;
use zhiku_core::model::{ModelError, Priority};

use super::boxes::{ProbabilityMap, boxes, thickness};
use super::geometry::SlantedBox;
use super::model_input::planes;
use super::view::{View, scaled_part};
use crate::failure;
use crate::session_thread::SessionThread;

/// The shorter side of a page after scaling: ordinary print is then 12 to 30 pixels high.
const SHORT_SIDE: f32 = 960.0;
/// Large pictures are not made smaller than this: a plan at 200 dpi has as small letters as a page.
const LEAST_SCALE: f32 = 0.4;
/// Small ones are enlarged up to this shorter side, at most twice, and not beyond [`SHORT_SIDE`] for the longer one.
const LEAST_SHORT_SIDE: f32 = 480.0;
const MOST_SCALE: f32 = 2.0;
/// Beyond this many pixels the scale goes below [`LEAST_SCALE`]; the map takes four bytes for each.
const MOST_PIXELS: f32 = 16e6;
/// Sides of tiles are multiples of this.
const STEP: usize = 32;
const TILE_WIDTH: usize = 1024;
const TILE_PIXELS: usize = 1024 * 416;
/// Seen beyond the edges of the page, so that words at them have surroundings.
const EDGE: usize = 16;
/// Near its rim a tile knows too little of the surroundings; neighbours overlap by twice this.
const RIM: usize = 32;

/// Letters this high in the scaled page are larger than the network knows: it takes them to pieces.
const LARGE_PRINT: f32 = 96.0;
/// What they are brought to.
const ORDINARY_PRINT: f32 = 36.0;

/// The boxes of lines in pixels of the view.
pub(crate) fn detect(
    thread: &SessionThread,
    view: &View<'_>,
    priority: Priority,
    ctx: &RunContext,
) -> Result<Vec<SlantedBox>, ModelError> {
    let scale = scale(view.width(), view.height());
    let found = detect_at(thread, view, scale, priority, ctx)?;
    match smaller_scale(&found, scale) {
        Some(smaller) => detect_at(thread, view, smaller, priority, ctx),
        None => Ok(found),
    }
}

/// The scale that brings large print to ordinary size, when most boxes are of large print.
fn smaller_scale(boxes: &[SlantedBox], scale: f32) -> Option<f32> {
    let mut heights: Vec<f32> = boxes.iter().map(|slanted| thickness(slanted) * scale).collect();
    heights.sort_by(f32::total_cmp);
    let median = heights.get(heights.len() / 2).copied()?;
    (median > LARGE_PRINT).then(|| scale * ORDINARY_PRINT / median)
}

fn detect_at(
    thread: &SessionThread,
    view: &View<'_>,
    scale: f32,
    priority: Priority,
    ctx: &RunContext,
) -> Result<Vec<SlantedBox>, ModelError> {
    let scaled = |side: usize| ((side as f32 * scale).round() as usize).max(1);
    let mut map = ProbabilityMap::new(scaled(view.width()), scaled(view.height()));
    let columns = spans(map.width, TILE_WIDTH);
    let tile_width = columns.first().map_or(STEP, |span| span.size);
    for rows in &spans(map.height, TILE_PIXELS / tile_width) {
        for columns in &columns {
            ctx.check()?;
            let part = scaled_part(view, scale, (columns.start, rows.start), (columns.size, rows.size));
            let shape = [1, 3, rows.size, columns.size];
            let input = planes(&part);
            let tile =
                thread.run(priority, ctx, move |session, options| run(session, options, shape, input))?;
            if tile.len() != columns.size * rows.size {
                return Err(failure::internal("the detection's output has an unexpected shape".to_owned()));
            }
            copy(&tile, columns, rows, &mut map);
        }
    }
    Ok(boxes(&map).into_iter().map(|slanted| slanted.scaled(1.0 / scale)).collect())
}

fn run(
    session: &mut Session,
    options: &RunOptions,
    shape: [usize; 4],
    input: Vec<f32>,
) -> Result<Vec<f32>, ort::Error> {
    let outputs = session.run_with_options(ort::inputs![Tensor::from_array((shape, input))?], options)?;
    Ok(outputs[0].try_extract_tensor::<f32>()?.1.to_vec())
}

fn copy(tile: &[f32], columns: &Span, rows: &Span, map: &mut ProbabilityMap) {
    let from = (columns.keep.start as isize - columns.start) as usize;
    for y in rows.keep.clone() {
        let row = (y as isize - rows.start) as usize * columns.size + from;
        let target = y * map.width;
        map.values[target + columns.keep.start..target + columns.keep.end]
            .copy_from_slice(&tile[row..row + columns.keep.len()]);
    }
}

fn scale(width: usize, height: usize) -> f32 {
    let short = width.min(height).max(1) as f32;
    let wished = if short > SHORT_SIDE {
        (SHORT_SIDE / short).max(LEAST_SCALE)
    } else {
        let long = width.max(height) as f32;
        (LEAST_SHORT_SIDE / short).min(SHORT_SIDE / long).clamp(1.0, MOST_SCALE)
    };
    let most = (MOST_PIXELS / (width as f32 * height as f32)).sqrt();
    wished.min(most)
}

/// One tile's share of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    /// Where it begins; negative before the edge.
    start: isize,
    /// A multiple of [`STEP`].
    size: usize,
    /// What is taken from this tile.
    keep: Range<usize>,
}

/// Cuts a side of `length` into the fewest tiles of at most `most`.
fn spans(length: usize, most: usize) -> Vec<Span> {
    let most = (most / STEP * STEP).max(4 * STEP);
    let seen = length + 2 * EDGE;
    let overlap = 2 * RIM;
    let n = if seen <= most { 1 } else { (seen - overlap).div_ceil(most - overlap) };
    let size = (seen + (n - 1) * overlap).div_ceil(n).next_multiple_of(STEP);
    // The first begins at the edge, the last ends with it or beyond.
    let start = |at: usize| (at * (seen.max(size) - size) / (n - 1).max(1)) as isize - EDGE as isize;
    let seam = |at: usize| match at {
        0 => 0,
        _ if at == n => length,
        _ => ((start(at - 1) + size as isize + start(at)) / 2) as usize,
    };
    (0..n).map(|at| Span { start: start(at), size, keep: seam(at)..seam(at + 1) }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::geometry::Point;
    use super::*;

    #[test]
    fn pages_screenshots_and_plans_get_a_scale_that_keeps_print_legible() {
        let percent = |width, height| (scale(width, height) * 100.0).round() as u32;
        assert_eq!(percent(1654, 2339), 58, "A4 at 200 dpi");
        assert_eq!(percent(2480, 3508), 40, "A4 at 300 dpi");
        assert_eq!(percent(800, 12_000), 100, "a long screenshot");
        assert_eq!(percent(6600, 9300), 40, "a large plan");
        assert_eq!(percent(300, 60), 200, "a cut-out line");
        assert!(scale(40_000, 40_000) * 40_000.0 < 4001.0);
    }

    #[test]
    fn only_pages_of_large_print_are_looked_at_again() {
        let page = |heights: &[f32]| -> Vec<SlantedBox> {
            let line =
                |&height| SlantedBox { centre: Point::new(0.0, 0.0), width: 900.0, height, angle: 0.0 };
            heights.iter().map(line).collect()
        };
        assert_eq!(smaller_scale(&page(&[400.0, 60.0, 30.0]), 0.5), None, "one large title");
        assert_eq!(smaller_scale(&page(&[360.0, 370.0, 30.0]), 0.5), Some(0.1));
        assert_eq!(smaller_scale(&[], 0.5), None);
    }

    #[test]
    fn a_short_side_is_one_tile_with_room_at_its_edges() {
        assert_eq!(spans(900, 1024), vec![Span { start: -16, size: 960, keep: 0..900 }]);
        assert_eq!(spans(1, 1024), vec![Span { start: -16, size: 64, keep: 0..1 }]);
    }

    proptest! {
        #[test]
        fn tiles_cover_a_side_once_and_know_the_surroundings_of_what_is_kept(
            length in 1_usize..20_000, most in 128_usize..1200,
        ) {
            let spans = spans(length, most);
            let mut next = 0;
            for span in &spans {
                prop_assert_eq!(span.keep.start, next);
                next = span.keep.end;
                prop_assert!(span.size % STEP == 0 && span.size <= most.max(128));
                let room = if span.keep.start == 0 { EDGE } else { RIM - 1 };
                prop_assert!(span.keep.start as isize - span.start >= room as isize);
                let room = if span.keep.end == length { EDGE } else { RIM - 1 };
                prop_assert!(span.start + span.size as isize - span.keep.end as isize >= room as isize);
            }
            prop_assert_eq!(next, length);
        }
    }
}
