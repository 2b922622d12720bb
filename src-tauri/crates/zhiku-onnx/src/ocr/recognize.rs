//! What lines say: strips through the network in batches of like width, and its steps to text.

use ort::session::{RunOptions, Session};
use ort::value::Tensor;
use zhiku_core::RunContext;
use zhiku_core::model::{ModelError, Priority};

use super::model_input::{Strip, padded_planes};
use crate::batches::BatchPlan;
use crate::failure;
use crate::session_thread::SessionThread;

/// Height of the strips.
pub(crate) const HEIGHT: usize = 48;
/// The longest lines are squeezed to this: 80 times as long as high.
pub(crate) const MOST_WIDTH: usize = 3840;
/// The network was trained with no narrower ones.
const LEAST_WIDTH: usize = 320;
/// Columns of pixels per run: about one line across a page, so that other work soon gets its turn.
const COLUMNS_PER_BATCH: usize = 960;

/// The model's metadata with the characters, one per line.
pub(crate) const CHARACTERS_KEY: &str = "character";

/// What a line says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    pub(crate) text: String,
    /// Mean of the characters' probabilities; 0 without characters.
    pub(crate) confidence: f32,
}

/// The characters by the network's classes: class 0 is "nothing new", the last is a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Characters(Vec<String>);

impl Characters {
    /// From the metadata: classes 1 and up, one per line.
    pub(crate) fn parse(listed: &str) -> Self {
        let mut characters = vec![String::new()];
        characters.extend(listed.strip_suffix('\n').unwrap_or(listed).split('\n').map(str::to_owned));
        characters.push(" ".to_owned());
        Self(characters)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Greedy decoding of connectionist temporal classification (Graves et al., 2006): a class counts where it begins.
    pub(crate) fn read(&self, steps: &[Step]) -> Reading {
        let (mut text, mut sum, mut n, mut last) = (String::new(), 0.0, 0, 0);
        for step in steps {
            if step.class != last && step.class != 0 {
                text.push_str(self.0.get(step.class).map_or("", String::as_str));
                sum += step.probability;
                n += 1;
            }
            last = step.class;
        }
        Reading { text, confidence: if n == 0 { 0.0 } else { sum / n as f32 } }
    }
}

/// The likeliest class at one place of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) class: usize,
    pub(crate) probability: f32,
}

/// One reading per strip.
pub(crate) fn read_strips(
    thread: &SessionThread,
    characters: &Characters,
    strips: &[Strip],
    priority: Priority,
    ctx: &RunContext,
) -> Result<Vec<Reading>, ModelError> {
    let widths: Vec<usize> = strips.iter().map(|strip| strip.width.max(LEAST_WIDTH)).collect();
    let mut plan = BatchPlan::new(&widths);
    let mut readings = vec![Reading::default(); strips.len()];
    let n_classes = characters.len();
    while let Some(batch) = plan.next_batch(COLUMNS_PER_BATCH) {
        ctx.check()?;
        let members: Vec<&Strip> = batch.members.iter().map(|&member| &strips[member]).collect();
        let input = padded_planes(&members, HEIGHT, batch.length);
        let shape = [members.len(), 3, HEIGHT, batch.length];
        let steps = thread
            .run(priority, ctx, move |session, options| run(session, options, shape, input, n_classes))?;
        let per_line = steps.len() / members.len();
        if per_line == 0 || steps.len() % members.len() != 0 {
            return Err(failure::internal("the recognition's output has an unexpected shape".to_owned()));
        }
        for (&member, steps) in batch.members.iter().zip(steps.chunks_exact(per_line)) {
            readings[member] = characters.read(steps);
        }
    }
    Ok(readings)
}

/// The steps of all lines, one line after the other; none when the number of classes differs.
fn run(
    session: &mut Session,
    options: &RunOptions,
    shape: [usize; 4],
    input: Vec<f32>,
    n_classes: usize,
) -> Result<Vec<Step>, ort::Error> {
    let outputs = session.run_with_options(ort::inputs![Tensor::from_array((shape, input))?], options)?;
    let (shape, values) = outputs[0].try_extract_tensor::<f32>()?;
    if shape.last().and_then(|&classes| usize::try_from(classes).ok()) != Some(n_classes) {
        return Ok(Vec::new());
    }
    Ok(values.chunks_exact(n_classes).map(likeliest).collect())
}

fn likeliest(probabilities: &[f32]) -> Step {
    let mut best = Step { class: 0, probability: f32::MIN };
    for (class, &probability) in probabilities.iter().enumerate() {
        if probability > best.probability {
            best = Step { class, probability };
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(steps: &[(usize, f32)]) -> Reading {
        let steps: Vec<Step> =
            steps.iter().map(|&(class, probability)| Step { class, probability }).collect();
        Characters::parse("库\na\n").read(&steps)
    }

    #[test]
    fn repeated_classes_are_one_character_unless_something_lies_between() {
        let got = read(&[(0, 0.9), (1, 0.8), (1, 0.1), (0, 0.9), (1, 0.6), (2, 1.0), (3, 1.0), (2, 0.6)]);
        assert_eq!(got.text, "库库a a");
        assert!((got.confidence - 0.8).abs() < 1e-6);
    }

    #[test]
    fn nothing_is_read_with_no_confidence() {
        assert_eq!(read(&[(0, 1.0), (0, 1.0)]), Reading::default());
        assert_eq!(read(&[]), Reading::default());
    }

    #[test]
    fn the_likeliest_class_is_taken() {
        assert_eq!(likeliest(&[0.1, 0.7, 0.2]), Step { class: 1, probability: 0.7 });
    }
}
