//! Exact nearest neighbours by a scan of vectors held in memory. The vectors are read from SQLite version by version, when
//! a search first needs them, and dropped when the version's stamp says that they changed; a search scans only the
//! versions it is given, so what is out of scope costs nothing and cannot be found.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::Result;
use crate::records::{ChunkKey, DenseHit};

/// The vectors of one version at one stamp.
pub(crate) struct Block {
    pub(crate) stamp: i64,
    pub(crate) keys: Vec<ChunkKey>,
    /// Row-major, one row per key.
    pub(crate) values: Vec<f32>,
}

#[derive(Default)]
pub(crate) struct VectorScan {
    blocks: RwLock<HashMap<i64, Arc<Block>>>,
}

impl VectorScan {
    /// The blocks of the versions `(key, stamp)`, in their order; `load` reads what is not here or out of date.
    pub(crate) fn blocks(
        &self,
        versions: &[(i64, i64)],
        mut load: impl FnMut(i64, i64) -> Result<Block>,
    ) -> Result<Vec<Arc<Block>>> {
        let mut found: Vec<Option<Arc<Block>>> = {
            let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
            let current =
                |(key, stamp): &(i64, i64)| blocks.get(key).filter(|block| block.stamp == *stamp).cloned();
            versions.iter().map(current).collect()
        };
        for (slot, (key, stamp)) in found.iter_mut().zip(versions) {
            if slot.is_none() {
                let block = Arc::new(load(*key, *stamp)?);
                let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
                blocks.insert(*key, Arc::clone(&block));
                *slot = Some(block);
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// The version is gone or replaced.
    pub(crate) fn forget(&self, versions: &[i64]) {
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        for key in versions {
            blocks.remove(key);
        }
    }
}

/// The `k` rows with the greatest inner product, best first; equal ones in the order of their keys.
pub(crate) fn nearest(blocks: &[Arc<Block>], query: &[f32], k: usize) -> Vec<DenseHit> {
    let mut best: BinaryHeap<Worst> = BinaryHeap::with_capacity(k + 1);
    for block in blocks {
        for (key, row) in block.keys.iter().zip(block.values.chunks_exact(query.len())) {
            let candidate = Worst { cosine: dot(query, row), key: *key };
            if best.len() < k {
                best.push(candidate);
            } else if best.peek().is_some_and(|worst| candidate < *worst) {
                best.pop();
                best.push(candidate);
            }
        }
    }
    best.into_sorted_vec()
        .into_iter()
        .map(|hit| DenseHit { chunk_key: hit.key, cosine: hit.cosine })
        .collect()
}

/// Eight running sums, which the compiler keeps in vector registers on every target.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0_f32; LANES];
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// Ordered so that the greatest is the worst: the heap's top is what a better one pushes out.
#[derive(PartialEq)]
struct Worst {
    cosine: f32,
    key: ChunkKey,
}

impl Eq for Worst {}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cosine.total_cmp(&self.cosine).then(self.key.cmp(&other.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first_and_ties_by_key() {
        let block = |keys: Vec<i64>, values: Vec<f32>| Arc::new(Block { stamp: 0, keys, values });
        let blocks = [
            block(vec![4, 2], vec![0.0, 1.0, 1.0, 0.0]),
            block(vec![3, 1, 5], vec![1.0, 0.0, 0.6, 0.8, -1.0, 0.0]),
        ];
        let keys: Vec<i64> = nearest(&blocks, &[1.0, 0.0], 4).iter().map(|hit| hit.chunk_key).collect();
        assert_eq!(keys, [2, 3, 1, 4]);
    }

    #[test]
    fn the_inner_product_counts_every_dimension() {
        let a: Vec<f32> = (0..19).map(|i| i as f32).collect();
        assert!((dot(&a, &a) - 2109.0).abs() < 1e-3);
    }
}
