//! Which way up lines are. One line alone is often misjudged, so a page is judged by many of its lines.

use ort::session::{RunOptions, Session};
use ort::value::Tensor;
use zhiku_core::RunContext;
use zhiku_core::model::{ModelError, Priority};

use super::boxes::{length, thickness};
use super::crop::cut_out;
use super::geometry::{Point, SlantedBox};
use super::model_input::{Strip, padded_planes};
use super::view::View;
use crate::failure;
use crate::session_thread::SessionThread;

/// What the network takes.
const HEIGHT: usize = 48;
const WIDTH: usize = 192;
/// Lines that are asked; more change no vote.
const VOTERS: usize = 24;
/// The network's second output: turned by half a turn.
const TURNED: usize = 1;
/// Higher than wide by this much is a line that runs up or down.
const UPRIGHT_SHAPE: f32 = 1.5;

/// The line runs up or down the page.
pub(crate) fn runs_down(slanted: &SlantedBox) -> bool {
    slanted.height > UPRIGHT_SHAPE * slanted.width
}

/// Most of the text of a page runs up or down: the page was turned by a quarter.
pub(crate) fn mostly_runs_down(boxes: &[SlantedBox]) -> bool {
    let total = |down: bool| -> f32 {
        let long = boxes.iter().filter(|slanted| length(slanted) > UPRIGHT_SHAPE * thickness(slanted));
        long.filter(|slanted| runs_down(slanted) == down).map(length).sum()
    };
    total(true) > total(false)
}

/// How much speaks for lines that are turned by half a turn, 0 to 1: the mean over some lines of the page. `None` when no
/// line says anything.
pub(crate) fn turned_share(
    thread: &SessionThread,
    view: &View<'_>,
    boxes: &[SlantedBox],
    priority: Priority,
    ctx: &RunContext,
) -> Result<Option<f32>, ModelError> {
    let strips: Vec<Strip> =
        voters(boxes).into_iter().map(|slanted| cut_out(view, &middle(slanted), HEIGHT, WIDTH)).collect();
    if strips.is_empty() {
        return Ok(None);
    }
    ctx.check()?;
    let rows: Vec<&Strip> = strips.iter().collect();
    let input = padded_planes(&rows, HEIGHT, WIDTH);
    let shape = [strips.len(), 3, HEIGHT, WIDTH];
    let shares = thread.run(priority, ctx, move |session, options| run(session, options, shape, input))?;
    if shares.len() != strips.len() * 2 {
        return Err(failure::internal("the direction's output has an unexpected shape".to_owned()));
    }
    let turned: f32 = shares.chunks_exact(2).map(|share| share[TURNED]).sum();
    Ok(Some(turned / strips.len() as f32))
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

/// The longest level lines, for they say most.
pub(crate) fn voters(boxes: &[SlantedBox]) -> Vec<&SlantedBox> {
    let mut level: Vec<&SlantedBox> =
        boxes.iter().filter(|slanted| slanted.width > UPRIGHT_SHAPE * slanted.height).collect();
    level.sort_by(|a, b| b.width.total_cmp(&a.width));
    level.truncate(VOTERS);
    level
}

/// As much of the middle of a line as the network sees without squeezing.
fn middle(slanted: &SlantedBox) -> SlantedBox {
    let most = slanted.height * WIDTH as f32 / HEIGHT as f32;
    SlantedBox { width: slanted.width.min(most), ..*slanted }
}

/// The same box in the view turned by one quarter more.
pub(crate) fn turned_once(view: &View<'_>, slanted: &SlantedBox) -> SlantedBox {
    SlantedBox {
        centre: Point::new(slanted.centre.y, view.width() as f32 - slanted.centre.x),
        width: slanted.height,
        height: slanted.width,
        angle: slanted.angle,
    }
}

/// The same box in the view turned by two quarters more.
pub(crate) fn turned_twice(view: &View<'_>, slanted: &SlantedBox) -> SlantedBox {
    let centre = Point::new(view.width() as f32 - slanted.centre.x, view.height() as f32 - slanted.centre.y);
    SlantedBox { centre, ..*slanted }
}

#[cfg(test)]
mod tests {
    use zhiku_core::recognition::Picture;

    use super::*;

    fn line(width: f32, height: f32) -> SlantedBox {
        SlantedBox { centre: Point::new(30.0, 20.0), width, height, angle: 0.1 }
    }

    #[test]
    fn a_page_runs_down_when_most_of_its_length_does() {
        assert!(mostly_runs_down(&[line(20.0, 300.0), line(200.0, 20.0)]));
        assert!(!mostly_runs_down(&[line(20.0, 100.0), line(200.0, 20.0)]));
        assert!(!mostly_runs_down(&[line(20.0, 22.0), line(20.0, 20.0)]), "single letters do not count");
        assert!(!mostly_runs_down(&[]));
    }

    #[test]
    fn boxes_in_turned_views_are_at_the_same_place_of_the_picture() {
        let picture = Picture { width: 100, height: 70, rgb: vec![0; 21_000] };
        for turns in 0..4 {
            let (view, own) = (View::new(&picture, turns), line(24.0, 8.0));
            let expected = view.bbox(&own).0;
            let others = [
                view.turned(1).bbox(&turned_once(&view, &own)),
                view.turned(2).bbox(&turned_twice(&view, &own)),
            ];
            for other in others {
                assert!(other.0.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01), "{turns} {other:?}");
            }
        }
    }
}
