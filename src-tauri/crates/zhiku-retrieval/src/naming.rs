//! Whether a question names a document: `What was Activision Blizzard's revenue in 2019?` names `ACTIVISIONBLIZZARD_2019_10K`.
//!
//! Passages of one report and of another, or of the same one a year later, look alike; only their titles tell them apart.

use std::collections::{HashMap, HashSet};

use zhiku_vault::lexical::analyze;
use zhiku_vault::{Vault, VaultError};

/// Shorter words of a title are found inside too many others.
const MIN_JOINED_CHARS: usize = 4;

/// The words of one question, for comparing titles with them.
pub(crate) struct Naming<'a> {
    vault: &'a Vault,
    terms: HashSet<String>,
    /// Letters and digits only: file names are written in one piece.
    joined: String,
    known: HashMap<String, f32>,
}

impl<'a> Naming<'a> {
    pub(crate) fn new(vault: &'a Vault, question: &str) -> Self {
        Self {
            vault,
            terms: analyze(question).into_iter().collect(),
            joined: joined(question),
            known: HashMap::new(),
        }
    }

    /// Share of the title that the question names, by the rarity of its words: 0 to 1.
    pub(crate) fn of(&mut self, title: &str) -> Result<f32, VaultError> {
        if let Some(share) = self.known.get(title) {
            return Ok(*share);
        }
        let words = title_words(title);
        let weights = self.vault.term_weights(&words)?;
        let total: f32 = weights.iter().sum();
        let named = words.iter().zip(&weights).filter(|(word, _)| self.names(word)).map(|(_, weight)| weight);
        let share = if total > 0.0 { named.sum::<f32>() / total } else { 0.0 };
        self.known.insert(title.to_owned(), share);
        Ok(share)
    }

    fn names(&self, word: &str) -> bool {
        self.terms.contains(word)
            || (word.is_ascii() && word.len() >= MIN_JOINED_CHARS && self.joined.contains(word))
    }
}

/// The terms of a title, each once. An underscore stands for a space in a file name.
fn title_words(title: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in analyze(&title.replace('_', " ")) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

fn joined(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_is_cut_into_its_words() {
        assert_eq!(title_words("ACTIVISIONBLIZZARD_2019_2019"), ["activisionblizzard", "2019"]);
    }

    #[test]
    fn a_question_is_joined_without_its_spaces() {
        assert!(joined("FY2019 revenue of Activision Blizzard?").contains("activisionblizzard"));
    }
}
