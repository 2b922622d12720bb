//! The mean vectors of Chinese and English, which retrieval subtracts when question and passage differ in language.
//!
//! Vectors of one language sit together, so without this a question finds passages of its own language first. How they were
//! made, and the layout of the file, is written in `models/convert/language_means.py`.

use zhiku_core::model::EmbedSide;

use crate::error::ModelsError;
use crate::stamp::hex;

const BUILT_IN: &[u8] = include_bytes!("../../../../models/language_means.bin");
const HEADER_BYTES: usize = 48;
const ENTRY_HEADER_BYTES: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    Chinese,
    English,
}

impl Language {
    fn code(self) -> &'static [u8; 2] {
        match self {
            Self::Chinese => b"zh",
            Self::English => b"en",
        }
    }
}

/// Means per language and side. They are not normalised.
#[derive(Clone, Debug, PartialEq)]
pub struct LanguageMeans {
    dim: usize,
    model_sha256: String,
    zh: Sides,
    en: Sides,
}

#[derive(Clone, Debug, PartialEq)]
struct Sides {
    query: Means,
    passage: Means,
}

#[derive(Clone, Debug, PartialEq)]
struct Means {
    sentence: Vec<f32>,
    tokens: Vec<f32>,
}

impl LanguageMeans {
    /// Those that were compiled in, for the default embedding model.
    pub fn built_in() -> Result<Self, ModelsError> {
        Self::parse(BUILT_IN)
    }

    /// Reads the layout of `language_means.py`.
    pub fn parse(bytes: &[u8]) -> Result<Self, ModelsError> {
        Self::read(bytes)
            .ok_or_else(|| ModelsError::Manifest { detail: "the language means are damaged".to_owned() })
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (header, body) = bytes.split_at_checked(HEADER_BYTES)?;
        let number = |at: usize| header.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        if &header[..4] != b"ZKLM" || number(4)? != 1 {
            return None;
        }
        let (dim, n_entries) = (number(8)? as usize, number(12)? as usize);
        let entry_bytes = dim.checked_mul(8)?.checked_add(ENTRY_HEADER_BYTES)?;
        if body.len() != entry_bytes.checked_mul(n_entries)? {
            return None;
        }
        let find = |language: Language, side: EmbedSide| {
            let wanted = [language.code()[0], language.code()[1], side_code(side), 0];
            let entry = body.chunks_exact(entry_bytes).find(|entry| entry.starts_with(&wanted))?;
            let (sentence, tokens) = entry[ENTRY_HEADER_BYTES..].split_at(dim * 4);
            Some(Means { sentence: floats(sentence), tokens: floats(tokens) })
        };
        let sides = |language| {
            Some(Sides {
                query: find(language, EmbedSide::Query)?,
                passage: find(language, EmbedSide::Passage)?,
            })
        };
        Some(Self {
            dim,
            model_sha256: hex(&header[16..]),
            zh: sides(Language::Chinese)?,
            en: sides(Language::English)?,
        })
    }

    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The sum of the model file whose vectors these are.
    pub fn model_sha256(&self) -> &str {
        &self.model_sha256
    }

    /// Mean of sentence vectors, `dim` values.
    pub fn sentence(&self, language: Language, side: EmbedSide) -> &[f32] {
        &self.means(language, side).sentence
    }

    /// Mean of token vectors, `dim` values.
    pub fn tokens(&self, language: Language, side: EmbedSide) -> &[f32] {
        &self.means(language, side).tokens
    }

    fn means(&self, language: Language, side: EmbedSide) -> &Means {
        let sides = match language {
            Language::Chinese => &self.zh,
            Language::English => &self.en,
        };
        match side {
            EmbedSide::Query => &sides.query,
            EmbedSide::Passage => &sides.passage,
        }
    }
}

fn side_code(side: EmbedSide) -> u8 {
    match side {
        EmbedSide::Query => 0,
        EmbedSide::Passage => 1,
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_means_differ_by_language_and_side() {
        let means = LanguageMeans::built_in().expect("whole");
        assert_eq!(means.dim(), 384);
        let all = [
            means.sentence(Language::Chinese, EmbedSide::Query),
            means.sentence(Language::Chinese, EmbedSide::Passage),
            means.sentence(Language::English, EmbedSide::Query),
            means.sentence(Language::English, EmbedSide::Passage),
            means.tokens(Language::Chinese, EmbedSide::Query),
            means.tokens(Language::English, EmbedSide::Passage),
        ];
        for (i, a) in all.iter().enumerate() {
            assert_eq!(a.len(), 384);
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn cut_means_are_refused() {
        assert!(LanguageMeans::parse(&BUILT_IN[..BUILT_IN.len() - 1]).is_err());
        assert!(LanguageMeans::parse(&[]).is_err());
    }
}
