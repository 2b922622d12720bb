//! Retrieval sets in BEIR's layout: `corpus.jsonl {_id, title, text}`, `queries.jsonl {_id, text}`, `qrels.tsv`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::EvalError;
use crate::lines::{bad_line, read_lines, read_records};

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BeirPassage {
    #[serde(rename = "_id")]
    pub id: String,
    #[serde(default)]
    pub title: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BeirQuery {
    #[serde(rename = "_id")]
    pub id: String,
    pub text: String,
}

/// A corpus, questions, and which passages answer them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BeirSet {
    pub passages: Vec<BeirPassage>,
    pub queries: Vec<BeirQuery>,
    /// By question: the passages that answer it.
    pub relevant: HashMap<String, HashSet<String>>,
}

impl BeirSet {
    /// The corpus in `dir` with the passages of `extra` (files in the corpus's layout, whose ids get the file's path in
    /// front), and the questions of `dir` or, against this corpus, those of `queries`.
    pub fn read(dir: &Path, queries: Option<&Path>, extra: &[PathBuf]) -> Result<Self, EvalError> {
        let mut passages: Vec<BeirPassage> = read_records(&dir.join("corpus.jsonl"))?;
        for path in extra {
            let more: Vec<BeirPassage> = read_records(path)?;
            passages.extend(
                more.into_iter().map(|passage| BeirPassage {
                    id: format!("{}#{}", path.display(), passage.id),
                    ..passage
                }),
            );
        }
        let questions = queries.unwrap_or(dir);
        Ok(Self {
            passages,
            queries: read_records(&questions.join("queries.jsonl"))?,
            relevant: read_qrels(&questions.join("qrels.tsv"))?,
        })
    }

    /// Questions that a passage of this corpus answers, with those passages.
    pub fn answerable(&self) -> Vec<(&BeirQuery, HashSet<&str>)> {
        let known: HashSet<&str> = self.passages.iter().map(|passage| passage.id.as_str()).collect();
        let of_query = |query: &BeirQuery| -> HashSet<&str> {
            let all = self.relevant.get(&query.id).into_iter().flatten();
            all.filter_map(|id| known.get(id.as_str()).copied()).collect()
        };
        self.queries
            .iter()
            .map(|query| (query, of_query(query)))
            .filter(|(_, relevant)| !relevant.is_empty())
            .collect()
    }
}

/// `query-id corpus-id score`, tab separated, below a header.
fn read_qrels(path: &Path) -> Result<HashMap<String, HashSet<String>>, EvalError> {
    let mut relevant: HashMap<String, HashSet<String>> = HashMap::new();
    for (line, text) in read_lines(path)? {
        let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
        let [query, passage, score] = fields[..] else {
            return Err(bad_line(path, line, "expected three columns"));
        };
        match score.parse::<i32>() {
            Ok(score) if score > 0 => {
                relevant.entry(query.to_owned()).or_default().insert(passage.to_owned());
            }
            Ok(_) => {}
            Err(_) if line == 1 => {}
            Err(_) => return Err(bad_line(path, line, "the score is no number")),
        }
    }
    Ok(relevant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, name: &str, text: &str) {
        std::fs::write(dir.join(name), text).expect("write");
    }

    #[test]
    fn a_set_with_foreign_questions_and_distractors() {
        let dir = tempfile::tempdir().expect("temp dir");
        write(dir.path(), "corpus.jsonl", "{\"_id\": \"p1\", \"title\": \"T\", \"text\": \"one\"}\n");
        write(dir.path(), "more.jsonl", "{\"_id\": \"p1\", \"text\": \"two\"}\n\n");
        let other = dir.path().join("other");
        std::fs::create_dir(&other).expect("create");
        write(
            &other,
            "queries.jsonl",
            "{\"_id\": \"q1\", \"text\": \"?\"}\n{\"_id\": \"q2\", \"text\": \"??\"}",
        );
        write(&other, "qrels.tsv", "query-id\tcorpus-id\tscore\nq1\tp1\t1\nq1\tp9\t1\nq2\tp1\t0\n");
        let more = dir.path().join("more.jsonl");
        let set = BeirSet::read(dir.path(), Some(&other), std::slice::from_ref(&more)).expect("reads");
        assert_eq!(set.passages.len(), 2);
        assert_eq!(set.passages[1].id, format!("{}#p1", more.display()));
        let answerable = set.answerable();
        assert_eq!(answerable.len(), 1);
        assert_eq!(answerable[0].0.id, "q1");
        assert_eq!(answerable[0].1, HashSet::from(["p1"]));
    }

    #[test]
    fn a_broken_line_is_named() {
        let dir = tempfile::tempdir().expect("temp dir");
        write(dir.path(), "corpus.jsonl", "{\"_id\": \"p1\", \"text\": \"one\"}\n{\"_id\": 2");
        let error = BeirSet::read(dir.path(), None, &[]).expect_err("line 2 is broken");
        assert!(error.to_string().starts_with("could not read line 2 of "), "{error}");
        let missing = BeirSet::read(&dir.path().join("nowhere"), None, &[]).expect_err("no such folder");
        assert!(matches!(missing, EvalError::Io { .. }));
    }
}
