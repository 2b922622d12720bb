//! How much of what was said was understood, and when.

use ferrous_opencc::OpenCC;
use ferrous_opencc::config::BuiltinConfig;
use serde::Deserialize;
use zhiku_core::recognition::SpokenSegment;

/// What make_recordings.py wrote beside a recording.
#[derive(Deserialize)]
pub(crate) struct Truth {
    pub(crate) sentences: Vec<Sentence>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct Sentence {
    pub(crate) start_ms: u64,
    pub(crate) end_ms: u64,
    pub(crate) text: String,
    pub(crate) language: String,
}

pub(crate) struct Score {
    /// Characters of Mandarin, words of English.
    pub(crate) n_truth: usize,
    pub(crate) n_errors: usize,
    /// Of a segment's start or end.
    pub(crate) worst_time_ms: u64,
    pub(crate) worst_text: String,
}

impl Score {
    pub(crate) fn rate(&self) -> f64 {
        self.n_errors as f64 / self.n_truth.max(1) as f64
    }
}

/// Scores the segments of one language against the sentences of that language.
pub(crate) fn score(truth: &Truth, heard: &[SpokenSegment], language: &str) -> Score {
    let tokens = Tokens::new(language);
    let sentences: Vec<&Sentence> = truth.sentences.iter().filter(|one| one.language == language).collect();
    let heard: Vec<&SpokenSegment> = heard.iter().filter(|one| one.language == language).collect();
    let said: Vec<(usize, Vec<String>)> =
        sentences.iter().enumerate().map(|(i, one)| (i, tokens.of(&one.text))).collect();
    let truth_tokens: Vec<&String> = said.iter().flat_map(|(_, tokens)| tokens).collect();
    let sentence_of: Vec<usize> =
        said.iter().flat_map(|(i, tokens)| tokens.iter().map(move |_| *i)).collect();
    // For each token of the truth: when it begins and ends, if a sentence is spoken evenly.
    let times: Vec<(u64, u64)> = said
        .iter()
        .flat_map(|(i, tokens)| {
            let (start, n) = (sentences[*i].start_ms, tokens.len() as u64);
            let length = sentences[*i].end_ms - start;
            (0..n).map(move |k| (start + length * k / n, start + length * (k + 1) / n))
        })
        .collect();
    let heard_tokens: Vec<Vec<String>> = heard.iter().map(|one| tokens.of(&one.text)).collect();
    let flat: Vec<&String> = heard_tokens.iter().flatten().collect();
    let (n_errors, partners) = align(&truth_tokens, &flat);
    let mut score =
        Score { n_truth: truth_tokens.len(), n_errors, worst_time_ms: 0, worst_text: String::new() };
    let mut at = 0;
    for (segment, tokens) in heard.iter().zip(&heard_tokens) {
        let own = &partners[at..at + tokens.len()];
        at += tokens.len();
        // What was misheard before the first equal token and after the last one was said there as well.
        let known = |(k, partner): (usize, &Option<usize>)| partner.map(|truth| (k, truth));
        let Some((n_before, first)) = own.iter().enumerate().find_map(known) else { continue };
        let Some((n_after, last)) = own.iter().rev().enumerate().find_map(known) else { continue };
        let first = earlier_in_sentence(&sentence_of, first, n_before);
        let last = later_in_sentence(&sentence_of, last, n_after);
        let worst = times[first].0.abs_diff(segment.start_ms).max(times[last].1.abs_diff(segment.end_ms));
        if worst >= score.worst_time_ms {
            score.worst_time_ms = worst;
            score.worst_text = format!("{}-{} {}", segment.start_ms, segment.end_ms, segment.text);
        }
    }
    score
}

/// The token `n` before this one, or the first of its sentence.
fn earlier_in_sentence(sentence_of: &[usize], at: usize, n: usize) -> usize {
    (at.saturating_sub(n)..=at).find(|&k| sentence_of[k] == sentence_of[at]).unwrap_or(at)
}

fn later_in_sentence(sentence_of: &[usize], at: usize, n: usize) -> usize {
    let most = (at + n).min(sentence_of.len() - 1);
    (at..=most).rfind(|&k| sentence_of[k] == sentence_of[at]).unwrap_or(at)
}

struct Tokens {
    is_mandarin: bool,
    to_simplified: OpenCC,
}

impl Tokens {
    fn new(language: &str) -> Self {
        let to_simplified = OpenCC::from_config(BuiltinConfig::T2s).expect("built in");
        Self { is_mandarin: language == "zh", to_simplified }
    }

    /// Characters or words, with numbers written in one way.
    fn of(&self, text: &str) -> Vec<String> {
        let text = self.to_simplified.convert(text).to_lowercase();
        if self.is_mandarin {
            let text = text.replace("48", "四十八").replace("10", "十").replace('两', "二");
            let digits: Vec<char> = "零一二三四五六七八九".chars().collect();
            let character = |c: char| c.to_digit(10).map_or(c, |digit| digits[digit as usize]);
            return text.chars().filter(|c| c.is_alphanumeric()).map(|c| character(c).to_string()).collect();
        }
        let numbers = [("2", "two"), ("3", "three"), ("5", "five"), ("7", "seven"), ("40", "forty")];
        let word = |word: &str| {
            let word: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
            numbers.iter().find(|(digits, _)| *digits == word).map_or(word, |(_, name)| (*name).to_owned())
        };
        text.split([' ', '-']).map(word).filter(|word| !word.is_empty()).collect()
    }
}

/// Edit distance, and for each token of `heard` its equal partner in `truth`.
fn align(truth: &[&String], heard: &[&String]) -> (usize, Vec<Option<usize>>) {
    let width = heard.len() + 1;
    let mut cost = vec![0_usize; (truth.len() + 1) * width];
    for i in 0..=truth.len() {
        for j in 0..=heard.len() {
            cost[i * width + j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let same = usize::from(truth[i - 1] != heard[j - 1]);
                    let replaced = cost[(i - 1) * width + j - 1] + same;
                    replaced.min(cost[(i - 1) * width + j] + 1).min(cost[i * width + j - 1] + 1)
                }
            };
        }
    }
    let mut partners = vec![None; heard.len()];
    let (mut i, mut j) = (truth.len(), heard.len());
    while i > 0 && j > 0 {
        let here = cost[i * width + j];
        let same = truth[i - 1] == heard[j - 1];
        if here == cost[(i - 1) * width + j - 1] + usize::from(!same) {
            (i, j) = (i - 1, j - 1);
            if same {
                partners[j] = Some(i);
            }
        } else if here == cost[(i - 1) * width + j] + 1 {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    (cost[truth.len() * width + heard.len()], partners)
}
