//! Reciprocal rank fusion. Scores of different kinds are never added; only their ranks are.

use std::collections::HashMap;

use zhiku_vault::ChunkKey;

/// Damps the difference between the first ranks (Cormack, Clarke, Büttcher 2009).
const RANK_OFFSET: f32 = 60.0;

/// `sum of 1 / (60 + rank)` over the lists in which a chunk stands, rank from 1; best first, equal ones by key. A chunk that
/// stands twice in one list counts once, at its better rank.
pub fn fuse_ranks<L: AsRef<[ChunkKey]>>(lists: &[L]) -> Vec<(ChunkKey, f32)> {
    let mut sums: HashMap<ChunkKey, f32> = HashMap::new();
    for list in lists {
        let mut seen = std::collections::HashSet::new();
        for (i, key) in list.as_ref().iter().enumerate() {
            if seen.insert(*key) {
                *sums.entry(*key).or_default() += 1.0 / (RANK_OFFSET + (i + 1) as f32);
            }
        }
    }
    let mut fused: Vec<(ChunkKey, f32)> = sums.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_are_counted_from_one_and_summed() {
        let fused = fuse_ranks(&[vec![7, 8], vec![8, 9]]);
        let keys: Vec<ChunkKey> = fused.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, [8, 7, 9]);
        assert!((fused[0].1 - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-7);
        assert!((fused[1].1 - 1.0 / 61.0).abs() < 1e-7);
    }

    proptest! {
        #[test]
        fn every_chunk_comes_out_once_and_the_order_of_lists_does_not_matter(
            a in prop::collection::vec(0_i64..30, 0..20),
            b in prop::collection::vec(0_i64..30, 0..20),
        ) {
            let fused = fuse_ranks(&[&a, &b]);
            let keys: std::collections::BTreeSet<ChunkKey> = fused.iter().map(|(key, _)| *key).collect();
            prop_assert_eq!(keys.len(), fused.len());
            prop_assert_eq!(keys, a.iter().chain(&b).copied().collect());
            prop_assert!(fused.is_sorted_by(|x, y| x.1 >= y.1));
            let swapped = fuse_ranks(&[&b, &a]);
            for ((_, x), (_, y)) in fused.iter().zip(&swapped) {
                prop_assert!((x - y).abs() < 1e-6);
            }
        }

        #[test]
        fn what_leads_every_list_leads_the_fusion(rest in prop::collection::vec(1_i64..30, 0..20)) {
            let list: Vec<ChunkKey> = std::iter::once(0).chain(rest).collect();
            prop_assert_eq!(fuse_ranks(&[&list, &list])[0].0, 0);
        }
    }
}
