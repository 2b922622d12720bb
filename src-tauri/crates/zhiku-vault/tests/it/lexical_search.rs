//! Which words find which text.

use zhiku_vault::SearchFilter;

use crate::support::{World, found};

const TEXTS: [&str; 8] = [
    "海棠 A 户型使用 M-208 防水卷材",
    "海棠 B 户型使用 M-280 防水涂料",
    "按 GB/T 50326-2017 建设工程项目管理规范执行",
    "执行 GB/T 19001-2016 质量管理体系要求",
    "Release v2.1.3 fixes the hotel booking limits",
    "The hotel limit in Shanghai is 650 yuan per night",
    "发票须在三十日内提交报销",
    "net income rose while sales of the network fell",
];

/// The first hit for each question.
fn check(cases: &[(&str, Option<usize>)]) {
    let world = World::new();
    world.import("t.txt", &TEXTS);
    let scope = world.owner_scope();
    for (question, expected) in cases {
        let first = found(&world.vault, &scope, question).into_iter().next();
        assert_eq!(first.as_deref(), expected.map(|n| TEXTS[n]), "{question}");
    }
}

#[test]
fn codes_are_found_however_they_are_written() {
    check(&[
        ("M-208", Some(0)),
        ("m208 是什么", Some(0)),
        ("Ｍ－２０８", Some(0)),
        ("M-280", Some(1)),
        ("GB/T 50326-2017", Some(2)),
        ("GB/T50326-2017", Some(2)),
        ("gb/t 19001", Some(3)),
        ("50326", Some(2)),
        ("v2.1.3", Some(4)),
        ("2.1.3", Some(4)),
    ]);
}

#[test]
fn words_are_found_in_any_form() {
    check(&[
        ("發票報銷", Some(6)),
        ("Hotels limited Shanghai", Some(5)),
        ("HOTEL LIMIT SHANGHAI", Some(5)),
        ("项目管理", Some(2)),
        ("涂", Some(1)),
        ("“net income”", Some(7)),
        ("unheard of zebra", Some(7)),
        ("zebra", None),
        ("？！", None),
        ("", None),
    ]);
}

#[test]
fn scores_are_positive_and_fall() {
    let world = World::new();
    world.import("t.txt", &TEXTS);
    let scope = world.owner_scope();
    let hits =
        world.vault.search_lexical(&scope, "海棠 户型 hotel", &SearchFilter::default(), 10).expect("search");
    assert!(hits.len() >= 4 && hits.iter().all(|hit| hit.score > 0.0));
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    let rare = world
        .vault
        .term_weights(&["卷材".to_owned(), "户型".to_owned(), "zebra".to_owned()])
        .expect("weights");
    assert!(rare[2] > rare[0] && rare[0] > rare[1] && rare[1] > 0.0, "{rare:?}");
}
