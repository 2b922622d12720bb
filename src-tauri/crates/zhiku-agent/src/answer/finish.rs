//! From a draft to the finished answer: each sentence is judged, general knowledge is taken out, status and confidence follow
//! from what is left. Pure apart from an optional embedder.

use std::collections::HashSet;

use zhiku_core::model::Embedder;
use zhiku_core::{
    Answer, AnswerStatus, Claim, Confidence, DocumentId, Evidence, EvidenceSet, ExitReason, Gap, NodeRecord,
    Reason, Route, RunContext, Support, Usage,
};

use super::phrases;
use crate::citations::cited::{CitedSentence, Part, QuoteRef, render};
use crate::citations::quote::best_quote;
use crate::claims::{Basis, Verdict, verify};
use crate::extractive::similarities;
use crate::text::{Language, slice};

/// Who wrote the draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Extractive,
    /// The model's name.
    Model(String),
}

/// Sentences that nobody has judged yet.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) origin: Origin,
    pub(super) sentences: Vec<CitedSentence>,
    pub(super) evidence: EvidenceSet,
    pub(super) gaps: Vec<Gap>,
    pub(super) conflicts: Vec<Gap>,
    pub(super) usage: Usage,
    /// Why the answer is not quite what was asked for (another writer, cut short); becomes the answer's reason.
    pub(super) note: Option<Reason>,
    /// Set when time or budget ended the writing.
    pub(super) exhausted: bool,
}

/// What the run knows apart from the draft.
#[derive(Clone, Debug)]
pub(super) struct RunFacts {
    pub(super) language: Language,
    pub(super) searched: Vec<String>,
    pub(super) route: Route,
    pub(super) exit_reason: ExitReason,
    pub(super) node_trace: Vec<NodeRecord>,
}

impl Draft {
    /// Takes out what rests on documents that may not be used any more. A model had them before its eyes, so of its sentences
    /// only those stay that cite something else.
    pub(super) fn without_revoked(&mut self, visible: &HashSet<DocumentId>) {
        let revoked = |quote: &QuoteRef| {
            self.evidence.items.get(quote.evidence).is_none_or(|item| !visible.contains(&item.document_id))
        };
        for sentence in &mut self.sentences {
            sentence.parts.retain(|part| !matches!(part, Part::Mark(quote) if revoked(quote)));
        }
        self.sentences.retain(|sentence| sentence.quotes().next().is_some());
        self.conflicts.clear();
    }
}

pub(super) fn finish(
    draft: Draft,
    facts: RunFacts,
    embedder: Option<&dyn Embedder>,
    strict: bool,
    ctx: &RunContext,
) -> Answer {
    let judge = Judge { evidence: &draft.evidence, embedder, ctx };
    let (kept, verdicts) = match draft.origin {
        Origin::Extractive => judge.extractive(draft.sentences.clone()),
        Origin::Model(_) => judge.model(draft.sentences.clone(), strict),
    };
    let rendered = render(&kept, &draft.evidence);
    let mut claims = Vec::new();
    for ((sentence, verdict), citations) in kept.iter().zip(verdicts).zip(rendered.numbers) {
        if let Some(verdict) = verdict {
            let text = sentence.text().trim_start_matches("- ").to_owned();
            claims.push(Claim { text, citations, support: verdict.support, reason: verdict.reason });
        }
    }
    if draft.exhausted && claims.is_empty() {
        return without_claims(AnswerStatus::Exhausted, phrases::exhausted(facts.language), draft, facts);
    }
    if claims.is_empty() {
        let text = phrases::refusal(facts.language, &facts.searched);
        return without_claims(AnswerStatus::InsufficientEvidence, text, draft, facts);
    }
    let holds =
        |claim: &Claim| matches!(claim.support, Support::Supported | Support::Partly | Support::Unchecked);
    if !claims.iter().any(holds) {
        let mut draft = draft;
        draft.note = Some(Reason::new("answer_unsupported"));
        let text = phrases::unsupported(facts.language);
        return without_claims(AnswerStatus::InsufficientEvidence, text, draft, facts);
    }
    let confidence = confidence(&claims, &draft.gaps, &draft.conflicts);
    let limits = phrases::limits(facts.language, &draft.gaps, &draft.conflicts);
    let text =
        [rendered.text, limits].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    let writer = match &draft.origin {
        Origin::Extractive => "extractive".to_owned(),
        Origin::Model(name) => name.clone(),
    };
    let status = if draft.exhausted { AnswerStatus::Exhausted } else { AnswerStatus::Completed };
    Answer {
        status,
        text,
        citations: rendered.citations,
        claims,
        gaps: draft.gaps.into_iter().chain(draft.conflicts).collect(),
        confidence,
        usage: draft.usage,
        reason: draft.note.unwrap_or_else(|| Reason::new("answered")).with("writer", writer),
        route: facts.route,
        exit_reason: facts.exit_reason,
        node_trace: facts.node_trace,
    }
}

fn without_claims(status: AnswerStatus, text: String, draft: Draft, facts: RunFacts) -> Answer {
    let default = Reason::new("nothing_found").with("searched", facts.searched.join(" | "));
    Answer {
        status,
        text,
        citations: Vec::new(),
        claims: Vec::new(),
        gaps: draft.gaps,
        confidence: Confidence::None,
        usage: draft.usage,
        reason: draft.note.unwrap_or(default),
        route: facts.route,
        exit_reason: facts.exit_reason,
        node_trace: facts.node_trace,
    }
}

fn confidence(claims: &[Claim], gaps: &[Gap], conflicts: &[Gap]) -> Confidence {
    let share = |support: Support| {
        claims.iter().filter(|claim| claim.support == support).count() as f32 / claims.len().max(1) as f32
    };
    let supported = share(Support::Supported);
    let wrong = share(Support::Unsupported) + share(Support::Contradicted);
    if supported >= 0.999 && gaps.is_empty() && conflicts.is_empty() {
        Confidence::High
    } else if supported >= 0.5 && wrong <= 0.25 {
        Confidence::Medium
    } else {
        Confidence::Low
    }
}

struct Judge<'a> {
    evidence: &'a EvidenceSet,
    embedder: Option<&'a dyn Embedder>,
    ctx: &'a RunContext,
}

type Judged = (Vec<CitedSentence>, Vec<Option<Verdict>>);

impl Judge<'_> {
    fn extractive(&self, sentences: Vec<CitedSentence>) -> Judged {
        // What cites nothing are the assistant's own few words.
        let judged =
            |sentence: &CitedSentence| sentence.quotes().next().is_some().then(|| self.verdict(sentence));
        let verdicts = sentences.iter().map(judged).collect();
        (sentences, verdicts)
    }

    /// Sentences without a citation get one where the evidence carries them; otherwise they are general knowledge and go.
    fn model(&self, sentences: Vec<CitedSentence>, strict: bool) -> Judged {
        let cited_somewhere: Vec<usize> =
            sentences.iter().flat_map(|sentence| sentence.quotes().map(|quote| quote.evidence)).collect();
        let mut kept = Vec::new();
        let mut verdicts = Vec::new();
        for mut sentence in sentences {
            let is_cited = sentence.quotes().next().is_some();
            if !is_cited && !strict && !is_factual(&sentence.text()) {
                kept.push(sentence);
                verdicts.push(None);
                continue;
            }
            if !is_cited && (strict || !self.repair(&mut sentence, &cited_somewhere)) {
                continue;
            }
            let verdict = self.verdict(&sentence);
            if strict && !matches!(verdict.support, Support::Supported | Support::Partly) {
                continue;
            }
            kept.push(sentence);
            verdicts.push(Some(verdict));
        }
        (kept, verdicts)
    }

    fn verdict(&self, sentence: &CitedSentence) -> Verdict {
        let claim = sentence.text();
        let claim = claim.trim_start_matches("- ");
        let quotes: Vec<&QuoteRef> = sentence.quotes().collect();
        let mut cited: Vec<&Evidence> = Vec::new();
        for item in quotes.iter().filter_map(|quote| self.evidence.items.get(quote.evidence)) {
            if !cited.iter().any(|other| other.evidence_id == item.evidence_id) {
                cited.push(item);
            }
        }
        let verdict = verify(claim, &cited, None);
        let (Basis::Words, Some(embedder)) = (verdict.basis, self.embedder) else { return verdict };
        if verdict.support == Support::Supported {
            return verdict;
        }
        let texts: Vec<String> = quotes
            .iter()
            .filter_map(|quote| Some(slice(&self.evidence.items.get(quote.evidence)?.text, &quote.range)))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        // Without the embedder's word the words' verdict stands.
        match similarities(claim, &texts, embedder, self.ctx) {
            Ok(found) => verify(claim, &cited, found.into_iter().reduce(f32::max)),
            Err(_) => verdict,
        }
    }

    fn repair(&self, sentence: &mut CitedSentence, cited_somewhere: &[usize]) -> bool {
        let claim = sentence.text();
        let near = cited_somewhere.iter().copied();
        let all = 0..self.evidence.items.len();
        let found = near
            .chain(all)
            .find(|at| verify(&claim, &[&self.evidence.items[*at]], None).support == Support::Supported);
        let Some(evidence) = found else { return false };
        let Some(range) = best_quote(&claim, &self.evidence.items[evidence]) else { return false };
        let mark = Part::Mark(QuoteRef { evidence, range });
        match sentence.parts.last_mut() {
            Some(Part::Text(text)) => {
                let kept = text.trim_end().len();
                let after = text.split_off(kept);
                text.push(' ');
                sentence.parts.extend([mark, Part::Text(after)]);
            }
            _ => sentence.parts.push(mark),
        }
        true
    }
}

/// Whether a sentence states something. Headings, lead-ins, questions and words about what was not found do not.
fn is_factual(text: &str) -> bool {
    let text = text.trim_matches(['*', '_', ' ']);
    if text.starts_with('#') || text.ends_with([':', '：', '?', '？']) {
        return false;
    }
    let lower = text.to_lowercase();
    let about_gaps = [
        "没有找到",
        "未找到",
        "没有提到",
        "未提及",
        "没有说明",
        "未说明",
        "没有相关",
        "不足以",
        "无法确定",
        "could not find",
        "not found",
        "no information",
        "does not mention",
        "do not mention",
        "does not say",
        "do not say",
        "not stated",
        "does not contain",
        "do not contain",
        "no evidence",
    ];
    text.chars().filter(|c| c.is_alphanumeric()).count() > 3
        && !about_gaps.iter().any(|phrase| lower.contains(phrase))
}
