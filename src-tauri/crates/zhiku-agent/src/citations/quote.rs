//! Finds the words of a piece of evidence that a sentence rests on: one contiguous stretch, never over a blank line.

use std::collections::HashSet;
use std::ops::Range;

use zhiku_core::{Evidence, Locator};

use crate::facts::{Decimal, numbers};
use crate::text::segments::{LineEnds, Segment, SegmentKind, segments};
use crate::text::terms::content_terms;
use crate::text::{fold, slice};

/// The most stretches that are put together into one quote.
const MAX_WINDOW: usize = 3;

pub(crate) fn line_ends(evidence: &Evidence) -> LineEnds {
    match evidence.locator {
        Locator::Page { .. } | Locator::Region { .. } => LineEnds::Soft,
        _ => LineEnds::Hard,
    }
}

/// The stretch of `evidence` that best carries `sentence`, in characters of its text: most of the sentence's numbers first,
/// then most of its words, then the shortest. `None` for evidence without words.
pub(crate) fn best_quote(sentence: &str, evidence: &Evidence) -> Option<Range<usize>> {
    let parts = segments(&evidence.text, line_ends(evidence));
    let folded = fold(sentence);
    if let Some(part) = parts.iter().find(|part| fold(&slice(&evidence.text, &part.range)) == folded) {
        return Some(part.range.clone());
    }
    let wanted_numbers = numbers(sentence);
    let wanted = content_terms(sentence);
    let mut best: Option<(usize, f32, Range<usize>)> = None;
    for window in windows(&parts) {
        let text = slice(&evidence.text, &window);
        let held = count_held(&wanted_numbers, &text);
        let overlap = overlap(&wanted, &content_terms(&text));
        // A longer window must earn its length.
        let score = overlap - 0.02 * (window.len() as f32 / 100.0);
        let better = best.as_ref().is_none_or(|(best_held, best_score, _)| {
            held > *best_held || (held == *best_held && score > *best_score + 0.05)
        });
        if better {
            best = Some((held, score, window));
        }
    }
    best.map(|(_, _, window)| window)
}

/// Runs of up to [`MAX_WINDOW`] stretches of one block, shortest first, headings left out.
fn windows(parts: &[Segment]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for length in 1..=MAX_WINDOW {
        for run in parts.windows(length) {
            let same_block = run.iter().all(|part| part.block == run[0].block);
            let quotable = run.iter().all(|part| part.kind != SegmentKind::Heading);
            // Rows are joined by pipes and line ends that a reader does not see as running text.
            let running = length == 1
                || run.iter().all(|part| matches!(part.kind, SegmentKind::Sentence | SegmentKind::ListItem));
            if same_block && quotable && running {
                found.push(run[0].range.start..run[length - 1].range.end);
            }
        }
    }
    if found.is_empty() {
        found.extend(parts.first().map(|part| part.range.clone()));
    }
    found
}

fn count_held(wanted: &[Decimal], text: &str) -> usize {
    let held = numbers(text);
    wanted.iter().filter(|number| held.contains(number)).count()
}

/// The share of `wanted` that is in `present`, 0 to 1.
pub(crate) fn overlap(wanted: &HashSet<String>, present: &HashSet<String>) -> f32 {
    if wanted.is_empty() {
        return 0.0;
    }
    wanted.intersection(present).count() as f32 / wanted.len() as f32
}
