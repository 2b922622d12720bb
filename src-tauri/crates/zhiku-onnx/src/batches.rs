//! Which texts run together. Pure: lengths in, batches out.

/// Texts of nearly equal length, padded to `length` tokens each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Positions in the caller's list.
    pub(crate) members: Vec<usize>,
    pub(crate) length: usize,
}

impl Batch {
    pub(crate) fn padded_tokens(&self) -> usize {
        self.members.len() * self.length
    }
}

/// Hands out texts from the longest to the shortest. Equal lengths matter more than large batches: padding is computed
/// like any other token.
#[derive(Debug)]
pub(crate) struct BatchPlan<'a> {
    lengths: &'a [usize],
    order: Vec<usize>,
    next: usize,
}

/// A text may be this many tokens shorter than the longest of its batch, or a tenth of it.
const FREE_PADDING: usize = 4;

impl<'a> BatchPlan<'a> {
    pub(crate) fn new(lengths: &'a [usize]) -> Self {
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&position| std::cmp::Reverse(lengths[position]));
        Self { lengths, order, next: 0 }
    }

    /// The next batch of at most `max_tokens` padded tokens, but of at least one text.
    pub(crate) fn next_batch(&mut self, max_tokens: usize) -> Option<Batch> {
        let rest = &self.order[self.next..];
        let length = self.lengths[*rest.first()?];
        let shortest = length - FREE_PADDING.max(length / 10).min(length);
        let room = (max_tokens / length.max(1)).max(1);
        let members: Vec<usize> = rest
            .iter()
            .copied()
            .take(room)
            .take_while(|&position| self.lengths[position] >= shortest)
            .collect();
        self.next += members.len();
        Some(Batch { members, length })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn batches(lengths: &[usize], max_tokens: usize) -> Vec<Batch> {
        let mut plan = BatchPlan::new(lengths);
        std::iter::from_fn(|| plan.next_batch(max_tokens)).collect()
    }

    #[test]
    fn texts_of_like_length_share_a_batch_and_outliers_stay_apart() {
        let got = batches(&[10, 300, 12, 295, 100], 1000);
        let batch = |members: &[usize], length| Batch { members: members.to_vec(), length };
        assert_eq!(got, vec![batch(&[1, 3], 300), batch(&[4], 100), batch(&[2, 0], 12)]);
    }

    #[test]
    fn a_text_longer_than_the_limit_runs_alone() {
        assert_eq!(batches(&[512, 512], 256).len(), 2);
    }

    proptest! {
        #[test]
        fn every_text_runs_once_within_the_limit(
            lengths in prop::collection::vec(0_usize..513, 0..60),
            max_tokens in 1_usize..3000,
        ) {
            let all = batches(&lengths, max_tokens);
            let mut seen: Vec<usize> = all.iter().flat_map(|batch| batch.members.clone()).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
            for batch in &all {
                prop_assert!(batch.members.len() == 1 || batch.padded_tokens() <= max_tokens);
                prop_assert!(batch.members.iter().all(|&member| lengths[member] <= batch.length));
            }
        }
    }
}
