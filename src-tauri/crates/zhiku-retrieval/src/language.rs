//! The language of a text, and the mean vectors that take it out of an embedding.
//!
//! A multilingual embedder puts texts of one language side by side. Subtracting the mean of a language, separately for
//! questions and passages, leaves what they are about. The means are fixed ones, from general sentences: those of the corpus
//! itself would take its subject out too.

use zhiku_core::model::EmbedSide;

/// A language with means of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    Chinese,
    English,
}

/// The language most of a text is written in; `None` without words, or in a script of neither.
///
/// A Chinese character counts as one word, four Latin letters as another, so a Chinese question about a product with a Latin
/// name stays Chinese.
pub fn language_of(text: &str) -> Option<Language> {
    let (mut han, mut latin, mut other) = (0usize, 0usize, 0usize);
    for c in text.chars() {
        match c {
            '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}' => han += 4,
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => latin += 1,
            c if c.is_alphabetic() => other += 2,
            _ => {}
        }
    }
    if other > han.max(latin) || han + latin == 0 {
        return None;
    }
    Some(if han >= latin { Language::Chinese } else { Language::English })
}

/// Means over general sentences of one language on one side of a retrieval.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanVectors {
    /// Mean of the sentence vectors.
    pub sentence: Vec<f32>,
    /// Mean of the token vectors.
    pub token: Vec<f32>,
}

/// The fixed means of the embedding model in use. Empty means: nothing is centred.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LanguageMeans {
    entries: Vec<(Language, EmbedSide, MeanVectors)>,
}

impl LanguageMeans {
    /// Adds or replaces the means of one language and side.
    #[must_use]
    pub fn with(mut self, language: Language, side: EmbedSide, means: MeanVectors) -> Self {
        self.entries.retain(|(known, of, _)| (*known, *of) != (language, side));
        self.entries.push((language, side, means));
        self
    }

    pub fn get(&self, language: Language, side: EmbedSide) -> Option<&MeanVectors> {
        self.entries
            .iter()
            .find(|(known, of, _)| (*known, *of) == (language, side))
            .map(|(_, _, means)| means)
    }
}

/// `vector - mean`, of norm 1.
pub(crate) fn centred(vector: &[f32], mean: &[f32]) -> Vec<f32> {
    let mut out: Vec<f32> = vector.iter().zip(mean).map(|(value, mean)| value - mean).collect();
    let norm = dot(&out, &out).sqrt();
    if norm > f32::EPSILON {
        for value in &mut out {
            *value /= norm;
        }
    }
    out
}

/// Sixteen running sums, which the compiler keeps in vector registers.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_of_mixed_texts() {
        let check = |text: &str, expect| assert_eq!(language_of(text), expect, "{text}");
        check("海棠 A 用了哪种防水材料？", Some(Language::Chinese));
        check("Microsoft 的收入是多少", Some(Language::Chinese));
        check("What was used in flat type 海棠 A?", Some(Language::English));
        check("12,345 | 7.5 %", None);
        check("Сколько стоит номер?", None);
        check("ホテルはいくらですか", None);
    }

    #[test]
    fn centring_takes_the_mean_out_and_keeps_the_norm() {
        let v = centred(&[0.8, 0.6, 0.0], &[0.8, 0.0, 0.0]);
        assert!((v[0]).abs() < 1e-6 && (v[1] - 1.0).abs() < 1e-6);
        assert_eq!(centred(&[1.0, 0.0], &[1.0, 0.0]), [0.0, 0.0]);
    }

    #[test]
    fn dot_of_a_length_that_is_no_multiple_of_the_lanes() {
        let a: Vec<f32> = (0..19).map(|i| i as f32).collect();
        assert!((dot(&a, &a) - 2109.0).abs() < 1e-3);
    }
}
