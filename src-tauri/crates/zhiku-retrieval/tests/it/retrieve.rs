use zhiku_core::sentences::char_slice;
use zhiku_core::{BudgetLimits, ExitReason, RunContext, Stage};
use zhiku_retrieval::{EvidenceResult, EvidenceStatus, Question, Retriever};
use zhiku_vault::Scope;

use crate::support::World;

fn retrieve(retriever: &Retriever, scope: &Scope, text: &str) -> EvidenceResult {
    let question = Question { text: text.to_owned(), ..Question::default() };
    retriever.retrieve(scope, &question, &RunContext::new(BudgetLimits::default()), &mut |_| {})
}

fn nodes(result: &EvidenceResult) -> Vec<&str> {
    result.node_trace.iter().map(|record| record.node.as_str()).collect()
}

fn texts(result: &EvidenceResult) -> Vec<&str> {
    result.evidence_set.items.iter().map(|item| item.text.as_str()).collect()
}

#[test]
fn one_fact_is_found_in_one_round() {
    let world = World::travel();
    let mut stages = Vec::new();
    let question = Question { text: "hotel limit night Munich".to_owned(), ..Question::default() };
    let ctx = RunContext::new(BudgetLimits::default());
    let result =
        world.retriever().retrieve(&world.owner_scope(), &question, &ctx, &mut |stage| stages.push(stage));
    assert_eq!((result.status, result.exit_reason), (EvidenceStatus::Ok, ExitReason::EvidenceSufficient));
    assert_eq!(nodes(&result), ["plan", "recall", "fuse", "rerank", "assess"]);
    assert_eq!(stages, [Stage::Planning, Stage::Retrieving, Stage::Reranking]);
    assert_eq!(result.run_id, ctx.run_id);
    assert!(result.evidence_set.items[0].text.contains("140 EUR"));
    assert_eq!(result.evidence_set.items[0].evidence_id.0, "D1");
    assert!(result.gaps.is_empty() && result.failure.is_none());
}

#[test]
fn each_part_has_evidence_of_its_own_and_the_missing_one_is_named() {
    let world = World::travel();
    let result = retrieve(
        &world.retriever(),
        &world.owner_scope(),
        "Hotel limit per night in Munich? Expense claims filed within days? Weeks of parental leave?",
    );
    let sufficient: Vec<bool> = result.sub_queries.iter().map(|part| part.sufficient).collect();
    assert_eq!(sufficient, [true, true, false]);
    assert_eq!(
        (result.status, result.exit_reason),
        (EvidenceStatus::Partial, ExitReason::RetrievalBudgetExhausted)
    );
    assert_eq!(result.gaps.len(), 1);
    assert_eq!(result.gaps[0].sub_query, "Weeks of parental leave?");
    let of_part = |part: usize| {
        let first = &result.sub_queries[part].evidence_ids[0];
        result.evidence_set.get(first).expect("in the set").text.as_str()
    };
    assert!(of_part(0).contains("140 EUR") && of_part(1).contains("30 days"));
    assert!(nodes(&result).contains(&"rewrite"));
}

#[test]
fn a_question_without_evidence_is_a_refusal_and_not_partial() {
    let world = World::travel();
    let result =
        retrieve(&world.retriever(), &world.owner_scope(), "Who won the chess championship in Reykjavik?");
    assert_eq!((result.status, result.exit_reason), (EvidenceStatus::Ok, ExitReason::NothingFound));
    assert!(result.evidence_set.items.is_empty());
    assert_eq!(result.gaps.len(), 1);
}

#[test]
fn an_invisible_document_contributes_nothing_to_the_result() {
    let world = World::travel();
    let prices =
        world.add("prices", &["The purchase price of the membrane M-208 is 41 EUR per square metre."]);
    world.restrict_to_owner(prices);
    let question = "purchase price membrane M-208";
    let owner = retrieve(&world.retriever(), &world.owner_scope(), question);
    assert_eq!(owner.exit_reason, ExitReason::EvidenceSufficient);
    let reader = retrieve(&world.retriever(), &world.reader_scope(), question);
    assert_eq!(reader.exit_reason, ExitReason::NothingFound);
    let told = serde_json::to_string(&reader).expect("json");
    assert!(!told.contains("41 EUR") && !told.contains("prices"));
}

#[test]
fn evidence_is_a_contiguous_stretch_of_its_unit() {
    let world = World::travel();
    let result = retrieve(&world.retriever(), &world.owner_scope(), "hotel rooms up to a limit in Munich");
    assert!(!result.evidence_set.items.is_empty());
    for item in &result.evidence_set.items {
        let unit = world.vault.unit(&world.owner_scope(), item.unit_id).expect("read").expect("visible");
        assert_eq!(item.text, char_slice(&unit.text, item.char_start as usize..item.char_end as usize));
    }
}

#[test]
fn the_same_text_in_two_documents_is_one_piece_of_evidence() {
    let world = World::travel();
    world.add(
        "copy",
        &["Employees are reimbursed for hotel rooms up to a limit of 140 EUR per night in Munich."],
    );
    let result = retrieve(&world.retriever(), &world.owner_scope(), "hotel limit night Munich");
    let n = texts(&result).iter().filter(|text| text.contains("140 EUR")).count();
    assert_eq!(n, 1);
}

#[test]
fn words_alone_still_answer_without_an_embedder() {
    let world = World::travel();
    let result =
        retrieve(&world.retriever_without_embedder(), &world.owner_scope(), "hotel limit night Munich");
    assert_eq!(result.exit_reason, ExitReason::EvidenceSufficient);
    assert_eq!(result.route_degraded[0].code, "dense_unavailable");
    let refused = retrieve(
        &world.retriever_without_embedder(),
        &world.owner_scope(),
        "How many weeks of parental leave?",
    );
    assert_eq!(refused.exit_reason, ExitReason::NothingFound);
}

#[test]
fn a_code_that_stands_nowhere_is_a_gap_though_its_neighbour_is_there() {
    let world = World::travel();
    world.add("manual", &["The filter of the compressor M-208 is replaced every 2000 hours."]);
    let found = retrieve(&world.retriever(), &world.owner_scope(), "filter compressor M-208 replaced");
    assert_eq!(found.exit_reason, ExitReason::EvidenceSufficient);
    let missing =
        retrieve(&world.retriever(), &world.owner_scope(), "filter compressor M-209 replaced hours");
    assert_eq!(missing.exit_reason, ExitReason::NothingFound);
}

#[test]
fn cancel_before_recall_gives_no_evidence_and_says_so() {
    let world = World::travel();
    let ctx = RunContext::new(BudgetLimits::default());
    ctx.cancel.cancel();
    let question = Question { text: "hotel limit".to_owned(), ..Question::default() };
    let result = world.retriever().retrieve(&world.owner_scope(), &question, &ctx, &mut |_| {});
    assert_eq!((result.status, result.exit_reason), (EvidenceStatus::Cancelled, ExitReason::Cancelled));
    assert!(result.completed_stages.is_empty() && result.retryable);
}

#[test]
fn a_deadline_after_ranking_leaves_the_evidence_found_until_then() {
    let world = World::travel();
    let question = Question { text: "hotel limit night Munich".to_owned(), ..Question::default() };
    let run = |n_checks: u32| {
        let ctx = RunContext::new(BudgetLimits::default());
        ctx.budget.expire_after_checks(n_checks);
        world.retriever().retrieve(&world.owner_scope(), &question, &ctx, &mut |_| {})
    };
    let results: Vec<EvidenceResult> = (0..12).map(run).collect();
    let late: Vec<&EvidenceResult> = results
        .iter()
        .filter(|result| result.exit_reason == ExitReason::Deadline && !result.evidence_set.items.is_empty())
        .collect();
    assert!(!late.is_empty());
    for result in &late {
        assert_eq!(result.status, EvidenceStatus::BudgetExhausted);
        assert!(result.completed_stages.contains(&"rerank".to_owned()) && result.retryable);
    }
    let early = &results[0];
    assert_eq!((early.exit_reason, early.evidence_set.items.len()), (ExitReason::Deadline, 0));
}

#[test]
fn an_empty_question_ends_at_once() {
    let world = World::travel();
    let result = retrieve(&world.retriever(), &world.owner_scope(), "  ");
    assert_eq!((nodes(&result), result.exit_reason), (vec!["plan"], ExitReason::NothingFound));
}
