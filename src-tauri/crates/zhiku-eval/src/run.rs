//! Runs a question set over a [`Searcher`] and reports.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher;
use std::time::Instant;

use serde::Serialize;
use zhiku_core::{DocumentId, Locator, RunContext, SearchHit, SearchMode, SearchQuery, Searcher};

use crate::EvalError;
use crate::beir::BeirSet;
use crate::metrics::{Scored, hit, mean, ndcg, percentile, ranks_of, recall, reciprocal_rank};
use crate::pages::{PageQuestion, same_name};

/// Chunks asked for, so that ten different passages or pages are among them.
const CHUNKS: usize = 50;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    pub p50: f64,
    pub p95: f64,
}

/// Averages over questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RetrievalReport {
    #[serde(rename = "recall@1")]
    pub recall_at_1: f64,
    #[serde(rename = "recall@5")]
    pub recall_at_5: f64,
    #[serde(rename = "recall@10")]
    pub recall_at_10: f64,
    #[serde(rename = "mrr@10")]
    pub mrr_at_10: f64,
    #[serde(rename = "ndcg@10")]
    pub ndcg_at_10: f64,
    pub n_queries: usize,
    pub n_passages: usize,
    pub ms: Latency,
    /// Set by whoever imported the corpus.
    pub index_seconds: f64,
    /// Searches in which a route could not be used; the figures then say little about ranking.
    pub n_degraded: usize,
}

/// Share of questions of which a gold page is among the first k; each page counts once, by its best chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PagesReport {
    #[serde(rename = "hit@1")]
    pub hit_at_1: f64,
    #[serde(rename = "hit@3")]
    pub hit_at_3: f64,
    #[serde(rename = "hit@5")]
    pub hit_at_5: f64,
    #[serde(rename = "hit@10")]
    pub hit_at_10: f64,
    pub n_questions: usize,
    /// Set by whoever imported the files.
    pub n_pages: u32,
    /// Set by whoever imported the files.
    pub import_seconds: f64,
    pub ms: Latency,
    /// Searches in which a route could not be used.
    pub n_degraded: usize,
}

/// Asks the set's questions, the first `limit` of them. `passage_of` names the passage that a document was made of.
pub fn run_retrieval<S: BuildHasher>(
    set: &BeirSet,
    mode: SearchMode,
    limit: Option<usize>,
    searcher: &dyn Searcher,
    passage_of: &HashMap<DocumentId, String, S>,
    ctx: &RunContext,
) -> Result<RetrievalReport, EvalError> {
    let questions = set.answerable();
    let questions = &questions[..questions.len().min(limit.unwrap_or(usize::MAX))];
    if questions.is_empty() {
        return Err(EvalError::NoQuestions);
    }
    let mut asked = Asked::default();
    let mut found: Vec<(Vec<usize>, usize)> = Vec::with_capacity(questions.len());
    for (query, relevant) in questions {
        let hits = asked.search(searcher, &query.text, mode, ctx)?;
        let results: Vec<Scored<&str>> = hits
            .iter()
            .filter_map(|hit| {
                let id = passage_of.get(&hit.document)?;
                Some(Scored { id: id.as_str(), score: ordering_score(hit, mode) })
            })
            .collect();
        found.push((ranks_of(&results, |id| relevant.contains(id)), relevant.len()));
    }
    let over =
        |metric: &dyn Fn(&[usize], usize) -> f64| mean(found.iter().map(|(ranks, n)| metric(ranks, *n)));
    Ok(RetrievalReport {
        recall_at_1: over(&|ranks, n| recall(ranks, n, 1)),
        recall_at_5: over(&|ranks, n| recall(ranks, n, 5)),
        recall_at_10: over(&|ranks, n| recall(ranks, n, 10)),
        mrr_at_10: over(&|ranks, _| reciprocal_rank(ranks, 10)),
        ndcg_at_10: over(&|ranks, n| ndcg(ranks, n, 10)),
        n_queries: questions.len(),
        n_passages: set.passages.len(),
        ms: asked.latency(),
        index_seconds: 0.0,
        n_degraded: asked.n_degraded,
    })
}

/// Asks for pages. Documents are told apart by their titles, which are the file names.
pub fn run_pages(
    questions: &[PageQuestion],
    searcher: &dyn Searcher,
    ctx: &RunContext,
) -> Result<PagesReport, EvalError> {
    if questions.is_empty() {
        return Err(EvalError::NoQuestions);
    }
    let mut asked = Asked::default();
    let mut found: Vec<Vec<usize>> = Vec::with_capacity(questions.len());
    let mut titles: BTreeSet<String> = BTreeSet::new();
    let mut n_hits = 0;
    for question in questions {
        let hits = asked.search(searcher, &question.text, SearchMode::Rerank, ctx)?;
        n_hits += hits.len();
        titles.extend(hits.iter().map(|hit| hit.title.clone()));
        let results: Vec<Scored<(String, u32)>> = hits
            .iter()
            .filter_map(|hit| {
                Some(Scored { id: page_of(hit)?, score: ordering_score(hit, SearchMode::Rerank) })
            })
            .collect();
        let gold: HashSet<(String, u32)> =
            question.gold_pages.iter().map(|page| (same_name(&page.doc), page.page)).collect();
        found.push(ranks_of(&results, |page| gold.contains(page)));
    }
    let expected: BTreeSet<&str> =
        questions.iter().flat_map(|question| &question.gold_pages).map(|page| page.doc.as_str()).collect();
    let known: HashSet<String> = titles.iter().map(|title| same_name(title)).collect();
    if n_hits > 0 && !expected.iter().any(|doc| known.contains(&same_name(doc))) {
        let some = |names: Vec<&str>| names.into_iter().take(3).collect::<Vec<_>>().join(", ");
        return Err(EvalError::OtherDocuments {
            expected: some(expected.into_iter().collect()),
            found: some(titles.iter().map(String::as_str).collect()),
        });
    }
    let share = |k: usize| mean(found.iter().map(|ranks| hit(ranks, k)));
    Ok(PagesReport {
        hit_at_1: share(1),
        hit_at_3: share(3),
        hit_at_5: share(5),
        hit_at_10: share(10),
        n_questions: questions.len(),
        n_pages: 0,
        import_seconds: 0.0,
        ms: asked.latency(),
        n_degraded: asked.n_degraded,
    })
}

/// Searches with their times.
#[derive(Default)]
struct Asked {
    ms: Vec<f64>,
    n_degraded: usize,
}

impl Asked {
    fn search(
        &mut self,
        searcher: &dyn Searcher,
        text: &str,
        mode: SearchMode,
        ctx: &RunContext,
    ) -> Result<Vec<SearchHit>, EvalError> {
        let started = Instant::now();
        let query = SearchQuery { text: text.to_owned(), k: CHUNKS, mode };
        let response = searcher.search(&query, ctx)?;
        self.ms.push(started.elapsed().as_secs_f64() * 1e3);
        self.n_degraded += usize::from(!response.route_degraded.is_empty());
        Ok(response.hits)
    }

    fn latency(&self) -> Latency {
        Latency { p50: percentile(&self.ms, 0.5), p95: percentile(&self.ms, 0.95) }
    }
}

/// The score a list of this mode is ordered by. Reranked results stand before those that were only fused.
fn ordering_score(hit: &SearchHit, mode: SearchMode) -> f32 {
    match mode {
        SearchMode::Lexical => hit.scores.lexical.unwrap_or(0.0),
        SearchMode::Dense => hit.scores.dense.unwrap_or(f32::MIN),
        SearchMode::Hybrid => hit.scores.fused,
        SearchMode::Rerank => hit.scores.rerank.unwrap_or(hit.scores.fused),
    }
}

fn page_of(hit: &SearchHit) -> Option<(String, u32)> {
    match &hit.locator {
        Locator::Page { page_index, .. } => Some((same_name(&hit.title), page_index + 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use zhiku_core::model::ModelError;
    use zhiku_core::{ChunkId, Scores, SearchResponse, UnitId, VersionNumber};

    use super::*;
    use crate::beir::{BeirPassage, BeirQuery};
    use crate::pages::GoldPage;

    /// Brings the same hits for every question.
    struct Fixed(Vec<SearchHit>);

    impl Searcher for Fixed {
        fn search(&self, _: &SearchQuery, _: &RunContext) -> Result<SearchResponse, ModelError> {
            Ok(SearchResponse { hits: self.0.clone(), took_ms: 1.0, route_degraded: Vec::new() })
        }
    }

    fn page_hit(document: DocumentId, title: &str, page_index: u32, fused: f32) -> SearchHit {
        SearchHit {
            document,
            version: VersionNumber(1),
            title: title.to_owned(),
            unit_id: UnitId::new(),
            chunk_id: ChunkId::new(),
            locator: Locator::Page { page_index, page_label: String::new(), boxes: Vec::new() },
            text: String::new(),
            scores: Scores { fused, ..Scores::default() },
        }
    }

    fn set() -> BeirSet {
        let passage = |id: &str| BeirPassage { id: id.into(), title: String::new(), text: String::new() };
        let query = |id: &str| BeirQuery { id: id.into(), text: id.into() };
        let relevant = |id: &str| HashSet::from([id.to_owned()]);
        BeirSet {
            passages: vec![passage("a"), passage("b")],
            queries: vec![query("1"), query("2"), query("not in the corpus")],
            relevant: [("1", "a"), ("2", "b"), ("not in the corpus", "c")]
                .map(|(query, passage)| (query.to_owned(), relevant(passage)))
                .into(),
        }
    }

    #[test]
    fn passages_are_averaged_over_the_questions_that_have_an_answer() {
        let (a, b) = (DocumentId::new(), DocumentId::new());
        let searcher =
            Fixed(vec![page_hit(a, "a", 0, 0.9), page_hit(a, "a", 1, 0.8), page_hit(b, "b", 0, 0.7)]);
        let passage_of = HashMap::from([(a, "a".to_owned()), (b, "b".to_owned())]);
        let ctx = RunContext::background();
        let run = |limit| {
            run_retrieval(&set(), SearchMode::Hybrid, limit, &searcher, &passage_of, &ctx).expect("runs")
        };
        let report = run(None);
        assert_eq!((report.n_queries, report.n_passages), (2, 2));
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-9, "{x} is not {y}");
        near(report.recall_at_1, 0.5);
        near(report.recall_at_5, 1.0);
        near(report.mrr_at_10, 0.75);
        near(report.ndcg_at_10, f64::midpoint(1.0, 1.0 / 3.0_f64.log2()));
        near(run(Some(1)).recall_at_1, 1.0);
    }

    #[test]
    fn a_page_counts_once_and_pages_are_told_apart_by_document() {
        let (a, b) = (DocumentId::new(), DocumentId::new());
        let searcher = Fixed(vec![
            page_hit(a, "REPORT_A", 4, 0.9),
            page_hit(a, "REPORT_A", 4, 0.8),
            page_hit(b, "REPORT_B", 6, 0.7),
            page_hit(a, "REPORT_A", 6, 0.6),
        ]);
        let question = PageQuestion {
            text: "?".into(),
            gold_pages: vec![GoldPage { doc: "report_a.pdf".into(), page: 7 }],
        };
        let report = run_pages(&[question], &searcher, &RunContext::background()).expect("runs");
        assert_eq!((report.hit_at_1, report.hit_at_3, report.n_questions), (0.0, 1.0, 1));
    }

    #[test]
    fn titles_that_are_no_file_names_are_an_error_and_not_a_bad_score() {
        let searcher = Fixed(vec![page_hit(DocumentId::new(), "Annual report", 0, 0.9)]);
        let question =
            PageQuestion { text: "?".into(), gold_pages: vec![GoldPage { doc: "X_2019".into(), page: 1 }] };
        let error = run_pages(&[question], &searcher, &RunContext::background()).expect_err("no such title");
        assert_eq!(
            error.to_string(),
            "could not evaluate: none of the documents X_2019 was found, only Annual report"
        );
    }

    #[test]
    fn the_report_has_the_names_of_the_command_line() {
        let value = serde_json::to_value(RetrievalReport::default()).expect("json");
        let names: Vec<&String> = value.as_object().expect("object").keys().collect();
        for name in [
            "recall@1",
            "recall@5",
            "recall@10",
            "mrr@10",
            "ndcg@10",
            "n_queries",
            "n_passages",
            "ms",
            "index_seconds",
        ] {
            assert!(names.iter().any(|known| *known == name), "{name}");
        }
    }
}
