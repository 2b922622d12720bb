//! Text to token ids as e5 wants them: with the prefix of its side, between `<s>` and `</s>`, at most 512.

use std::ops::Range;
use std::path::Path;

use tokenizers::Tokenizer;
use zhiku_core::model::{EmbedSide, ModelError};

use crate::failure;

/// The number of positions the model has.
pub(crate) const MAX_TOKENS: usize = 512;
/// The id of `<pad>`.
pub(crate) const PADDING_ID: i64 = 1;

/// One text, ready for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EncodedText {
    pub(crate) ids: Vec<i64>,
    /// Which of `ids` stand for the text itself: neither special tokens nor the prefix.
    pub(crate) content: Range<usize>,
}

pub(crate) struct E5Tokenizer {
    tokenizer: Tokenizer,
}

impl E5Tokenizer {
    pub(crate) fn open(path: &Path) -> Result<Self, ModelError> {
        failure::require_file("the tokenizer", path)?;
        let tokenizer =
            Tokenizer::from_file(path).map_err(|error| failure::damaged("the tokenizer", path, error))?;
        Ok(Self { tokenizer })
    }

    /// Tokens before any cut.
    pub(crate) fn count(&self, text: &str, side: EmbedSide) -> Result<usize, ModelError> {
        let encoding = self.tokenizer.encode_fast(prefixed(text, side), true).map_err(cannot_encode)?;
        Ok(encoding.len())
    }

    pub(crate) fn encode(&self, text: &str, side: EmbedSide) -> Result<EncodedText, ModelError> {
        let encoding = self.tokenizer.encode(prefixed(text, side), true).map_err(cannot_encode)?;
        let mut ids: Vec<i64> = encoding.get_ids().iter().map(|&id| i64::from(id)).collect();
        // A piece may hold the prefix's space and the text's first letters: it belongs to the text. So the prefix is what
        // ends with it, and nothing is assumed about how its pieces are cut.
        let prefix_bytes = prefix(side).len();
        let n_prefix = encoding
            .get_offsets()
            .iter()
            .skip(1)
            .take_while(|(_, end)| (1..=prefix_bytes).contains(end))
            .count();
        if ids.len() > MAX_TOKENS {
            let end = ids.last().copied();
            ids.truncate(MAX_TOKENS - 1);
            ids.extend(end);
        }
        let last = ids.len().saturating_sub(1);
        Ok(EncodedText { content: (1 + n_prefix).min(last)..last, ids })
    }
}

fn prefix(side: EmbedSide) -> &'static str {
    match side {
        EmbedSide::Query => "query: ",
        EmbedSide::Passage => "passage: ",
    }
}

fn prefixed(text: &str, side: EmbedSide) -> String {
    format!("{}{text}", prefix(side))
}

fn cannot_encode(cause: tokenizers::Error) -> ModelError {
    failure::internal(format!("could not split a text into tokens: {cause}"))
}

#[cfg(test)]
mod tests {
    use zhiku_models::{ModelStore, Role};

    use super::*;

    fn tokenizer() -> Option<E5Tokenizer> {
        let store = ModelStore::open_default().expect("store");
        match store.require(Role::Embedding) {
            Ok(files) => Some(E5Tokenizer::open(&files.file("tokenizer.json")).expect("opens")),
            Err(error) => {
                eprintln!("skipped: {error}; run `zhiku models fetch`");
                None
            }
        }
    }

    /// The ids of the Python library, on full-width forms, ligatures, control characters, emoji and a dozen scripts.
    #[test]
    fn ids_equal_those_of_the_reference_tokenizer() {
        #[derive(serde::Deserialize)]
        struct Sample {
            text: String,
            ids: Vec<i64>,
        }
        let Some(tokenizer) = tokenizer() else { return };
        let samples: Vec<Sample> =
            serde_json::from_str(include_str!("../tests/fixtures/token_ids.json")).expect("fixture");
        assert!(samples.len() >= 40);
        for sample in samples {
            let encoded = tokenizer.encode(&sample.text, EmbedSide::Query).expect("encodes");
            assert_eq!(encoded.ids, sample.ids, "{:?}", sample.text);
            assert_eq!(tokenizer.count(&sample.text, EmbedSide::Query).expect("counts"), sample.ids.len());
        }
    }

    #[test]
    fn content_leaves_out_special_tokens_and_the_prefix() {
        let Some(tokenizer) = tokenizer() else { return };
        let content = |text: &str, side| {
            let encoded = tokenizer.encode(text, side).expect("encodes");
            let ids: Vec<u32> = encoded.ids[encoded.content].iter().map(|&id| id as u32).collect();
            tokenizer.tokenizer.decode(&ids, false).expect("decodes")
        };
        for side in [EmbedSide::Query, EmbedSide::Passage] {
            assert_eq!(content("The travel policy", side), "The travel policy");
            assert_eq!(content("差旅报销标准", side), "差旅报销标准");
            assert_eq!(content(": odd", side), ": odd");
            assert_eq!(content("", side), "");
        }
    }

    #[test]
    fn a_long_text_is_cut_to_512_and_keeps_its_end_mark() {
        let Some(tokenizer) = tokenizer() else { return };
        let encoded = tokenizer.encode(&"word ".repeat(2000), EmbedSide::Passage).expect("encodes");
        assert_eq!((encoded.ids.len(), encoded.ids[0], encoded.ids[511]), (512, 0, 2));
        assert_eq!(encoded.content.end, 511);
    }
}
