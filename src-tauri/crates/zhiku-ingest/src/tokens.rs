//! Counting tokens for the chunker: by the model's own tokenizer, or from above where there is no model yet.

use zhiku_core::model::{EmbedSide, Embedder};

/// Counts as the embedding model will, prefix and special tokens included.
pub(crate) fn count_with(embedder: &dyn Embedder, text: &str) -> usize {
    embedder.count_tokens(text, EmbedSide::Passage)
}

/// Never less than the model's count: a token of a subword vocabulary covers at least one character, and a Latin word of
/// `n` letters has been seen to need no more than `n / 2 + 1` tokens. Chunks come out smaller, never too long.
pub(crate) fn count_from_above(text: &str) -> usize {
    const PREFIX_AND_SPECIAL: usize = 5;
    let (mut n_tokens, mut latin_run) = (PREFIX_AND_SPECIAL, 0);
    for c in text.chars() {
        if c.is_ascii_alphabetic() {
            latin_run += 1;
            continue;
        }
        n_tokens += latin_tokens(latin_run) + usize::from(!c.is_whitespace());
        latin_run = 0;
    }
    n_tokens + latin_tokens(latin_run)
}

fn latin_tokens(n_letters: usize) -> usize {
    if n_letters == 0 { 0 } else { n_letters / 2 + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_counts_every_character_of_chinese_and_half_of_latin() {
        assert_eq!(
            [count_from_above(""), count_from_above("防水 FS-101"), count_from_above("waterproof")],
            [5, 13, 11]
        );
    }
}
