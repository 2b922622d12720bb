//! Token vectors as bytes: 4 bits per value and one scale per token, an eighth of the size of `f32`. Late interaction
//! loses nothing by it, while 2 bits or fewer dimensions cost points.
//!
//! Layout, little endian: format version `u8`, dimensions `u16`, tokens `u32`; then per token its scale `f32` followed by
//! `ceil(dim / 2)` bytes, value `2i` in the low and `2i + 1` in the high half of byte `i`. A half `h` stands for
//! `(h - 8) * scale` and is never 0. Persisted: changes need a new format version.

use crate::model::TokenMatrix;

const FORMAT: u8 = 1;
const HEADER_BYTES: usize = 1 + 2 + 4;
const SCALE_BYTES: usize = 4;
/// Halves run from `ZERO - LEVELS` to `ZERO + LEVELS`.
const LEVELS: f32 = 7.0;
const ZERO: f32 = 8.0;

/// Packs a matrix. Each value comes back with an error of at most a fourteenth of its row's greatest magnitude. Values that
/// are not finite count as 0. At most 65,535 dimensions; a wider matrix is no token matrix and packs as an empty one.
pub fn encode(matrix: &TokenMatrix) -> Vec<u8> {
    let dim = u16::try_from(matrix.dim).unwrap_or(0);
    let n_tokens = if dim == 0 { 0 } else { matrix.n_tokens() };
    let mut bytes = Vec::with_capacity(HEADER_BYTES + n_tokens * row_bytes(usize::from(dim)));
    bytes.push(FORMAT);
    bytes.extend(dim.to_le_bytes());
    bytes.extend((n_tokens as u32).to_le_bytes());
    for row in matrix.rows().take(n_tokens) {
        encode_row(row, &mut bytes);
    }
    bytes
}

/// Unpacks what [`encode`] made. `None` when the bytes are of another format version, cut short or too long.
pub fn decode(bytes: &[u8]) -> Option<TokenMatrix> {
    let (header, body) = bytes.split_at_checked(HEADER_BYTES)?;
    if header[0] != FORMAT {
        return None;
    }
    let dim = usize::from(u16::from_le_bytes([header[1], header[2]]));
    let n_tokens = u32::from_le_bytes([header[3], header[4], header[5], header[6]]) as usize;
    if body.len() != n_tokens.checked_mul(row_bytes(dim))? || (dim == 0 && n_tokens > 0) {
        return None;
    }
    let mut values = Vec::with_capacity(n_tokens * dim);
    for row in body.chunks_exact(row_bytes(dim)) {
        decode_row(row, dim, &mut values);
    }
    Some(TokenMatrix { dim, values })
}

fn row_bytes(dim: usize) -> usize {
    SCALE_BYTES + dim.div_ceil(2)
}

fn encode_row(row: &[f32], bytes: &mut Vec<u8>) {
    let greatest =
        row.iter().filter(|value| value.is_finite()).fold(0.0_f32, |most, value| most.max(value.abs()));
    let scale = greatest / LEVELS;
    bytes.extend(scale.to_le_bytes());
    let half = |value: f32| {
        let level = if scale > 0.0 && value.is_finite() { (value / scale).round() } else { 0.0 };
        (level.clamp(-LEVELS, LEVELS) + ZERO) as u8
    };
    for pair in row.chunks(2) {
        let high = pair.get(1).map_or(ZERO as u8, |value| half(*value));
        bytes.push(half(pair[0]) | (high << 4));
    }
}

fn decode_row(row: &[u8], dim: usize, values: &mut Vec<f32>) {
    let (scale, halves) = row.split_at(SCALE_BYTES);
    let scale = f32::from_le_bytes([scale[0], scale[1], scale[2], scale[3]]);
    let both = halves.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    values.extend(both.take(dim).map(|half| (f32::from(half) - ZERO) * scale));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matrices() -> impl Strategy<Value = TokenMatrix> {
        (1_usize..40, 0_usize..12).prop_flat_map(|(dim, n_tokens)| {
            prop::collection::vec(-2.0_f32..2.0, dim * n_tokens)
                .prop_map(move |values| TokenMatrix { dim, values })
        })
    }

    proptest! {
        #[test]
        fn every_value_comes_back_within_a_fourteenth_of_its_rows_greatest(matrix in matrices()) {
            let back = decode(&encode(&matrix)).expect("decodes");
            prop_assert_eq!((back.dim, back.values.len()), (matrix.dim, matrix.values.len()));
            for (before, after) in matrix.rows().zip(back.rows()) {
                let bound = before.iter().fold(0.0_f32, |most, value| most.max(value.abs())) / 14.0 * 1.0001;
                for (a, b) in before.iter().zip(after) {
                    prop_assert!((a - b).abs() <= bound, "{} became {}, bound {}", a, b, bound);
                }
            }
        }

        #[test]
        fn cut_or_lengthened_bytes_are_refused(matrix in matrices(), cut in 1_usize..20) {
            let bytes = encode(&matrix);
            prop_assert_eq!(decode(&bytes[..bytes.len().saturating_sub(cut)]), None);
            let longer = [bytes.as_slice(), &[0]].concat();
            prop_assert_eq!(decode(&longer), None);
        }

        #[test]
        fn foreign_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }
    }

    #[test]
    fn a_row_of_nothing_and_a_row_with_nan_come_back_finite() {
        let matrix = TokenMatrix { dim: 3, values: vec![0.0, 0.0, 0.0, f32::NAN, 7.0, -7.0] };
        let back = decode(&encode(&matrix)).expect("decodes");
        assert_eq!(back.values, vec![0.0, 0.0, 0.0, 0.0, 7.0, -7.0]);
    }

    #[test]
    fn a_passage_of_172_tokens_takes_33_kb() {
        let matrix = TokenMatrix { dim: 384, values: vec![0.05; 384 * 172] };
        assert_eq!(encode(&matrix).len(), 7 + 172 * 196);
    }
}
