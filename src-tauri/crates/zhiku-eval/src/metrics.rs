//! Metrics over ranks. Ranks count from 1; what was not found has none.
//!
//! Ties count against: among results of equal score the relevant one stands last, so a ranking that cannot tell two passages
//! apart gains nothing by luck.

use std::collections::HashSet;
use std::hash::Hash;

/// One result in order, with the score it was ordered by.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored<T> {
    pub id: T,
    pub score: f32,
}

/// Ranks of the relevant ids in a list, ascending. An id that comes more than once counts at its first place only, and takes up
/// one rank. A relevant id in a run of equal scores has the rank of the run's last irrelevant one.
pub fn ranks_of<T: Eq + Hash>(results: &[Scored<T>], is_relevant: impl Fn(&T) -> bool) -> Vec<usize> {
    let mut seen = HashSet::new();
    let firsts: Vec<&Scored<T>> = results.iter().filter(|result| seen.insert(&result.id)).collect();
    let mut ranks = Vec::new();
    let mut start = 0;
    for run in firsts.chunk_by(|a, b| a.score.total_cmp(&b.score).is_eq()) {
        let n_relevant = run.iter().filter(|result| is_relevant(&result.id)).count();
        let n_before = start + run.len() - n_relevant;
        ranks.extend((1..=n_relevant).map(|i| n_before + i));
        start += run.len();
    }
    ranks
}

/// Share of the relevant ones among the first `k`.
pub fn recall(ranks: &[usize], n_relevant: usize, k: usize) -> f64 {
    if n_relevant == 0 {
        return 0.0;
    }
    ranks.iter().filter(|rank| **rank <= k).count() as f64 / n_relevant as f64
}

/// 1 / rank of the first relevant one within `k`, else 0.
pub fn reciprocal_rank(ranks: &[usize], k: usize) -> f64 {
    ranks.iter().min().filter(|rank| **rank <= k).map_or(0.0, |rank| 1.0 / *rank as f64)
}

/// Discounted gain of the first `k` over that of a perfect order; every relevant one gains 1.
pub fn ndcg(ranks: &[usize], n_relevant: usize, k: usize) -> f64 {
    let gain = |rank: usize| 1.0 / ((rank + 1) as f64).log2();
    let ideal: f64 = (1..=n_relevant.min(k)).map(gain).sum();
    if ideal == 0.0 {
        return 0.0;
    }
    ranks.iter().filter(|rank| **rank <= k).map(|rank| gain(*rank)).sum::<f64>() / ideal
}

/// 1 when a relevant one is among the first `k`, else 0.
pub fn hit(ranks: &[usize], k: usize) -> f64 {
    if ranks.iter().any(|rank| *rank <= k) { 1.0 } else { 0.0 }
}

pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut n) = (0.0, 0usize);
    for value in values {
        sum += value;
        n += 1;
    }
    if n == 0 { 0.0 } else { sum / n as f64 }
}

/// The value below which `share` of the values lie (nearest rank); 0 without values.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn results(list: &[(&'static str, f32)]) -> Vec<Scored<&'static str>> {
        list.iter().map(|(id, score)| Scored { id: *id, score: *score }).collect()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn ties_count_against() {
        let relevant = |id: &&str| *id == "r";
        assert_eq!(ranks_of(&results(&[("r", 2.0), ("a", 2.0), ("b", 2.0), ("c", 1.0)]), relevant), [3]);
        assert_eq!(ranks_of(&results(&[("a", 3.0), ("r", 2.0), ("b", 1.0)]), relevant), [2]);
        assert!(ranks_of(&results(&[("a", 3.0)]), relevant).is_empty());
    }

    #[test]
    fn a_document_counts_once_at_its_best_place() {
        let list = results(&[("a", 9.0), ("a", 8.0), ("a", 7.0), ("r", 6.0), ("r", 5.0)]);
        assert_eq!(ranks_of(&list, |id| *id == "r"), [2]);
    }

    #[test]
    fn values_worked_out_by_hand() {
        // Two relevant ones, found at 1 and 4.
        let ranks = [1, 4];
        close(recall(&ranks, 2, 1), 0.5);
        close(recall(&ranks, 2, 5), 1.0);
        close(reciprocal_rank(&ranks, 10), 1.0);
        close(reciprocal_rank(&[4], 10), 0.25);
        close(reciprocal_rank(&[11], 10), 0.0);
        // (1 + 1/log2(5)) / (1 + 1/log2(3)) = 1.430676558 / 1.630929754
        close(ndcg(&ranks, 2, 10), (1.0 + 1.0 / 5.0_f64.log2()) / (1.0 + 1.0 / 3.0_f64.log2()));
        assert!((ndcg(&ranks, 2, 10) - 0.877_215).abs() < 1e-5);
        close(ndcg(&[2], 1, 10), 1.0 / 3.0_f64.log2());
        close(hit(&ranks, 3), 1.0);
        close(hit(&[4], 3), 0.0);
        close(mean([1.0, 0.0, 0.5]), 0.5);
        close(mean([]), 0.0);
    }

    #[test]
    fn percentiles_by_nearest_rank() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        close(percentile(&values, 0.5), 10.0);
        close(percentile(&values, 0.95), 19.0);
        close(percentile(&[7.0], 0.95), 7.0);
        close(percentile(&[], 0.5), 0.0);
    }

    proptest! {
        #[test]
        fn every_metric_stays_between_0_and_1(
            scores in prop::collection::vec(0_u8..5, 0..15),
            relevant in prop::collection::hash_set(0_usize..15, 1..5),
        ) {
            let mut scores = scores;
            scores.sort_unstable_by(|a, b| b.cmp(a));
            let list: Vec<Scored<usize>> =
                scores.iter().enumerate().map(|(id, score)| Scored { id, score: f32::from(*score) }).collect();
            let ranks = ranks_of(&list, |id| relevant.contains(id));
            prop_assert!(ranks.is_sorted() && ranks.iter().all(|rank| (1..=list.len()).contains(rank)));
            for value in [
                recall(&ranks, relevant.len(), 5),
                reciprocal_rank(&ranks, 10),
                ndcg(&ranks, relevant.len(), 10),
                hit(&ranks, 3),
            ] {
                prop_assert!((0.0..=1.0 + 1e-9).contains(&value));
            }
        }
    }
}
