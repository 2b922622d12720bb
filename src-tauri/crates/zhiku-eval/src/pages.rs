//! Questions about pages: `{_id, text, gold_pages: [{doc, page}]}` per line, pages counted from 1.

use std::path::Path;

use serde::Deserialize;

use crate::EvalError;
use crate::lines::read_records;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PageQuestion {
    pub text: String,
    pub gold_pages: Vec<GoldPage>,
}

/// A page that holds the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
pub struct GoldPage {
    /// The file's name, with or without its extension.
    pub doc: String,
    /// From 1.
    pub page: u32,
}

pub fn read_questions(path: &Path) -> Result<Vec<PageQuestion>, EvalError> {
    read_records(path)
}

/// Names that differ in case, punctuation or the extension `pdf` only are the same document's.
pub(crate) fn same_name(name: &str) -> String {
    let stem = name.strip_suffix(".pdf").or_else(|| name.strip_suffix(".PDF")).unwrap_or(name);
    stem.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_their_punctuation() {
        assert_eq!(same_name("AMAZON_2017_10K.pdf"), same_name("Amazon 2017 10K"));
        assert_ne!(same_name("AMAZON_2017_10K"), same_name("AMAZON_2018_10K"));
    }

    #[test]
    fn a_question_with_its_pages() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("q.jsonl");
        std::fs::write(
            &path,
            r#"{"_id": "a", "text": "?", "answer": "1", "gold_pages": [{"doc": "X", "page": 3}]}"#,
        )
        .expect("write");
        let expect =
            PageQuestion { text: "?".into(), gold_pages: vec![GoldPage { doc: "X".into(), page: 3 }] };
        assert_eq!(read_questions(&path).expect("reads"), [expect]);
    }
}
