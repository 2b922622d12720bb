//! The two stories that every release must pass, as far as text goes, through the real program.

use std::path::Path;

use crate::common::{Zhiku, have_models, in_root, text};
use serde_json::Value;

struct Question {
    row: Value,
}

impl Question {
    fn all(story: &str) -> Vec<Self> {
        let lines = std::fs::read_to_string(in_root("fixtures/stories/questions.jsonl")).expect("questions");
        let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a question is JSON"));
        rows.filter(|row| row["story"] == story).map(|row| Self { row }).collect()
    }

    fn is_for(&self, version: u64) -> bool {
        self.row["version"].as_u64().is_none_or(|only| only == version)
    }

    fn strings(&self, name: &str) -> Vec<String> {
        let values = self.row[name].as_array().cloned().unwrap_or_default();
        values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn text(&self) -> &str {
        self.row["text"].as_str().expect("text")
    }

    /// What is wrong with the answer; nothing when it is as the story wants it.
    fn faults(&self, answer: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        let whole = answer.to_string();
        faults.extend(
            self.strings("never_text")
                .iter()
                .filter(|word| whole.contains(*word))
                .map(|word| format!("says {word}")),
        );
        let citations = answer["citations"].as_array().cloned().unwrap_or_default();
        if self.row["refuse"] == true {
            if answer["status"] != "insufficient_evidence" || !citations.is_empty() {
                faults.push(format!("does not refuse: {}", answer["answer"]));
            }
            return faults;
        }
        if answer["status"] != "completed" {
            faults.push(format!("ends as {}", answer["status"]));
        }
        let spoken = squeezed(answer["answer"].as_str().unwrap_or_default());
        let missing =
            self.strings("expect_text").into_iter().filter(|word| !spoken.contains(&squeezed(word)));
        faults.extend(missing.map(|word| format!("lacks {word}")));
        for file in self.strings("expect_documents") {
            let title =
                Path::new(&file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            let cited: Vec<&Value> =
                citations.iter().filter(|citation| citation["title"] == title.as_str()).collect();
            if cited.is_empty() {
                faults.push(format!("does not cite {file}"));
            }
            let page = self.row["expect_page"].as_u64();
            if let Some(page) = page
                && !cited.iter().any(|citation| citation["locator"]["page_index"].as_u64() == Some(page - 1))
            {
                faults.push(format!("does not cite page {page} of {file}"));
            }
        }
        if faults.is_empty() {
            return faults;
        }
        faults.push(format!("the answer was {}", answer["answer"]));
        faults
    }
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("create");
    for entry in std::fs::read_dir(from).expect("read folder") {
        let entry = entry.expect("entry");
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copy");
        }
    }
}

fn ask_all(zhiku: &mut Zhiku, story: &str, version: u64) -> Vec<String> {
    let mut faults = Vec::new();
    for question in Question::all(story).iter().filter(|question| question.is_for(version)) {
        zhiku.act_as(question.row["as"].as_str().expect("as"));
        let answer = zhiku.json(&["ask", question.text()]);
        faults.extend(
            question.faults(&answer).into_iter().map(|fault| format!("{}: {fault}", question.text())),
        );
    }
    faults
}

#[test]
fn renovation_employees_get_what_they_may_see_with_its_source() {
    if !have_models("the renovation story") {
        return;
    }
    let folder = tempfile::tempdir().expect("temp dir");
    copy_files(&in_root("fixtures/stories/renovation"), folder.path());
    let mut zhiku = Zhiku::new();
    for profile in ["owner", "sales", "purchasing"] {
        zhiku.json(&["profile", "add", profile]);
    }
    zhiku.act_as("owner");
    zhiku.json(&["vault", "create", "renovation"]);
    zhiku.json(&["member", "add", "sales", "--department", "Sales"]);
    zhiku.json(&["member", "add", "purchasing", "--department", "Purchasing"]);
    let (_, code) = zhiku.lines(&["import", text(folder.path())]);
    assert_eq!(code, Some(0), "all files are imported");
    for document in zhiku.json(&["list"])["documents"].as_array().expect("documents") {
        let title = document["title"].as_str().expect("title");
        let restricted = title == "采购价目表";
        let rule: &[&str] = if restricted {
            &["--visibility", "departments", "--department", "Purchasing"]
        } else {
            &["--visibility", "all_members"]
        };
        zhiku.json(&[&["rule", "set", title], rule].concat());
    }

    let mut faults = ask_all(&mut zhiku, "renovation", 1);

    zhiku.act_as("sales");
    let listed = zhiku.json(&["list"]).to_string();
    assert!(!listed.contains("采购价目表"), "a list names what must not be seen");
    for mode in ["lexical", "dense", "hybrid", "rerank"] {
        let hits = zhiku.json(&["search", "采购单价 386.50", "-k", "50", "--mode", mode]).to_string();
        assert!(
            !hits.contains("386.50") && !hits.contains("采购价目表"),
            "{mode} search shows what must not be seen: {hits}"
        );
    }
    let before = zhiku.json(&["ask", "防水的保修期是多长？"]);

    // The rule is replaced: the next answer cites the new version, the old one still opens what it cited.
    std::fs::copy(folder.path().join("售后服务规定.pdf"), folder.path().join("old.bak")).expect("keep");
    std::fs::remove_file(folder.path().join("old.bak")).expect("remove");
    std::fs::copy(
        in_root("fixtures/stories/renovation/v2/售后服务规定.pdf"),
        folder.path().join("售后服务规定.pdf"),
    )
    .expect("replace");
    zhiku.act_as("owner");
    let (_, code) = zhiku.lines(&["import", text(folder.path())]);
    assert_eq!(code, Some(0), "the new version is imported");
    faults.extend(ask_all(&mut zhiku, "renovation", 2));

    zhiku.act_as("sales");
    let after = zhiku.json(&["ask", "防水的保修期是多长？"]);
    assert_eq!(
        (&before["citations"][0]["version"], &after["citations"][0]["version"]),
        (&1.into(), &2.into())
    );
    let old = zhiku.json(&["runs", "show", before["run_id"].as_str().expect("run")]).to_string();
    assert!(old.contains("五年"), "the old conversation keeps its quote");

    // Removed: gone at once, and proven so.
    zhiku.act_as("owner");
    let rule = zhiku.json(&["show", "售后服务规定"]);
    let id = rule["document"].as_str().expect("id").to_owned();
    zhiku.json(&["remove", &id]);
    let receipt = zhiku.json(&["verify-removed", &id]);
    let left: u64 = receipt["stores"]
        .as_array()
        .expect("stores")
        .iter()
        .filter_map(|store| store["found"].as_u64())
        .sum();
    assert_eq!(left, 0, "{receipt}");
    zhiku.act_as("sales");
    let gone = zhiku.json(&["ask", "防水的保修期是多长？"]).to_string();
    assert!(!gone.contains("八年") && !gone.contains("五年"), "a removed document still answers: {gone}");

    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn travel_policy_gives_both_facts_and_names_the_gap() {
    if !have_models("the travel story") {
        return;
    }
    let mut zhiku = Zhiku::new();
    zhiku.json(&["profile", "add", "staff"]);
    zhiku.act_as("staff");
    let (_, code) = zhiku.lines(&["import", text(&in_root("fixtures/stories/travel"))]);
    assert_eq!(code, Some(0));
    assert_eq!(ask_all(&mut zhiku, "travel", 1), Vec::<String>::new());
}

#[test]
fn without_models_words_still_find_and_the_document_says_so() {
    let mut zhiku = Zhiku::new();
    zhiku.json(&["profile", "add", "staff"]);
    zhiku.act_as("staff");
    let empty = tempfile::tempdir().expect("temp dir");
    let run = |args: &[&str]| {
        let output =
            zhiku.command(args).env("ZHIKU_MODELS", empty.path()).output().expect("the program starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run(&["import", text(&in_root("fixtures/stories/travel/Expense Handbook.md"))]);
    let listed: Value = serde_json::from_str(&run(&["list"])).expect("JSON");
    assert_eq!(listed["documents"][0]["searchable"], "lexical", "{listed}");
    let found: Value = serde_json::from_str(&run(&["search", "expense"])).expect("JSON");
    assert!(!found["hits"].as_array().expect("hits").is_empty());
    assert!(found["route_degraded"].to_string().contains("dense"), "{found}");
    let doctor =
        zhiku.command(&["doctor"]).env("ZHIKU_MODELS", empty.path()).output().expect("the program starts");
    assert_eq!(doctor.status.code(), Some(1));
}
