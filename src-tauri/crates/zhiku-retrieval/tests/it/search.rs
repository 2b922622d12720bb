use zhiku_core::{RunContext, SearchMode, SearchQuery, SearchResponse};
use zhiku_retrieval::Retriever;
use zhiku_vault::{Scope, SearchFilter};

use crate::support::{Until, World, space};

fn search(retriever: &Retriever, scope: &Scope, text: &str, mode: SearchMode) -> SearchResponse {
    let query = SearchQuery { text: text.to_owned(), k: 5, mode };
    retriever.search(scope, &query, &SearchFilter::default(), &RunContext::background()).expect("search")
}

fn reasons(response: &SearchResponse) -> Vec<(&str, Option<&str>)> {
    response
        .route_degraded
        .iter()
        .map(|reason| (reason.code.as_str(), reason.args.get("cause").map(String::as_str)))
        .collect()
}

#[test]
fn every_mode_finds_the_passage_and_carries_the_scores_of_its_routes() {
    let world = World::travel();
    let (retriever, scope) = (world.retriever(), world.owner_scope());
    for (mode, dense, lexical, rerank) in [
        (SearchMode::Lexical, false, true, false),
        (SearchMode::Dense, true, false, false),
        (SearchMode::Hybrid, true, true, false),
        (SearchMode::Rerank, true, true, true),
    ] {
        let response = search(&retriever, &scope, "hotel limit per night in Munich", mode);
        let best = &response.hits[0];
        assert!(best.text.contains("140 EUR"), "{mode:?} found {}", best.text);
        let scores = best.scores;
        assert_eq!(
            (scores.dense.is_some(), scores.lexical.is_some(), scores.rerank.is_some()),
            (dense, lexical, rerank),
            "{mode:?}"
        );
        assert!(response.route_degraded.is_empty() && response.hits.len() <= 5);
    }
}

#[test]
fn a_hit_by_words_alone_is_never_listed_without_a_common_word() {
    let world = World::travel();
    let response = search(&world.retriever(), &world.owner_scope(), "zebra", SearchMode::Lexical);
    assert!(response.hits.is_empty());
}

#[test]
fn without_an_embedder_words_decide_and_the_reason_is_told() {
    let world = World::travel();
    let response = search(
        &world.retriever_without_embedder(),
        &world.owner_scope(),
        "hotel limit Munich",
        SearchMode::Rerank,
    );
    assert!(response.hits[0].text.contains("140 EUR"));
    assert_eq!(response.hits[0].scores.rerank, None);
    assert_eq!(reasons(&response), [("dense_unavailable", Some("no_embedder"))]);
}

#[test]
fn vectors_of_another_model_are_not_compared() {
    let world = World::travel();
    world.vault.set_embedding_space(&space("other")).expect("space");
    let response = search(&world.retriever(), &world.owner_scope(), "hotel limit Munich", SearchMode::Hybrid);
    assert_eq!(reasons(&response), [("dense_unavailable", Some("other_model"))]);
    assert!(response.hits[0].text.contains("140 EUR"));
}

#[test]
fn a_document_whose_vectors_are_pending_is_found_by_words_and_keeps_its_fused_place() {
    let world = World::travel();
    world.add_until("news", &["Hotel limit in Munich: the new limit is under discussion."], Until::Words);
    let response = search(&world.retriever(), &world.owner_scope(), "hotel limit Munich", SearchMode::Rerank);
    let pending = response.hits.iter().find(|hit| hit.title == "news").expect("found by words");
    assert_eq!((pending.scores.rerank, pending.scores.dense), (None, None));
    assert_eq!(reasons(&response), [("vectors_pending", None)]);
}

#[test]
fn what_the_principal_does_not_see_is_in_no_mode() {
    let world = World::travel();
    let prices = world.add("prices", &["The purchase price of the membrane M-208 is 41 EUR."]);
    world.restrict_to_owner(prices);
    let retriever = world.retriever();
    for mode in [SearchMode::Lexical, SearchMode::Dense, SearchMode::Hybrid, SearchMode::Rerank] {
        let text = "purchase price of membrane M-208";
        let owner = search(&retriever, &world.owner_scope(), text, mode);
        assert_eq!(owner.hits[0].title, "prices", "{mode:?}");
        let reader = search(&retriever, &world.reader_scope(), text, mode);
        assert!(reader.hits.iter().all(|hit| hit.title != "prices"), "{mode:?}");
    }
}

#[test]
fn a_filter_narrows_every_route() {
    let world = World::travel();
    let other = world.add("other", &["The hotel limit in Munich was discussed."]);
    let filter = SearchFilter { documents: Some(vec![other.document]) };
    let query = SearchQuery { text: "hotel limit Munich".to_owned(), k: 5, mode: SearchMode::Rerank };
    let found = world
        .retriever()
        .search(&world.owner_scope(), &query, &filter, &RunContext::background())
        .expect("search");
    assert_eq!(found.hits.iter().map(|hit| hit.title.as_str()).collect::<Vec<_>>(), ["other"]);
}

#[test]
fn among_like_passages_that_of_the_named_document_comes_first() {
    let world = World::new();
    world.add("BORNHOLM_2019_10K", &["Revenue rose by five percent over the year before."]);
    world.add("ELDORADO_2019_10K", &["Revenue rose by seven percent over the year before."]);
    world.add("ELDORADO_2020_10K", &["Revenue rose by eight percent over the year before."]);
    let best = |text: &str| {
        let response = search(&world.retriever(), &world.owner_scope(), text, SearchMode::Rerank);
        response.hits[0].title.clone()
    };
    assert_eq!(best("By how much did the revenue of El Dorado rise in FY2019?"), "ELDORADO_2019_10K");
    assert_eq!(best("By how much did the revenue of El Dorado rise in FY2020?"), "ELDORADO_2020_10K");
    assert_eq!(best("By how much did the revenue of Born Holm rise?"), "BORNHOLM_2019_10K");
}
