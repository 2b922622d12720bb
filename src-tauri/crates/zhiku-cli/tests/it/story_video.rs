//! The renovation story's video: an answer opens it at its second, and it is gone from an answer during which it is revoked.
//! One process asks and revokes, as a window does that two people use in turn: a vault has one process that may change it.

use std::path::Path;
use std::sync::Arc;

use zhiku_core::{Answer, AnswerEvent, AnswerStatus, Citation, DocumentVisibility, Locator, SearchMode};
use zhiku_core::{BudgetLimits, ErrorCode, RunContext, RunId, SearchQuery};
use zhiku_engine::{
    AccessMode, AskRequest, CancellationToken, Engine, EngineConfig, ProviderConfig, ProviderKind,
    SearchFilter, Session, WriterChoice, recv_event,
};

use crate::chat::Chat;
use crate::common::{Zhiku, have_models, in_root, text};

const VIDEO: &str = "培训视频";
const RULE: &str = "售后服务规定";
const SAID: &str = "售后流程分为四步";
const QUESTION: &str = "培训视频里说售后流程分为几步？防水的保修期是多长？";

/// A vault with the rule and the video in which the sales employee may see both.
fn company(folder: &Path) -> Zhiku {
    std::fs::copy(in_root("fixtures/media/slides.mp4"), folder.join(format!("{VIDEO}.mp4"))).expect("copy");
    let rule = format!("{RULE}.pdf");
    let from = in_root("fixtures/stories/renovation").join(&rule);
    std::fs::copy(from, folder.join(&rule)).expect("copy");
    let mut zhiku = Zhiku::new();
    for profile in ["owner", "sales"] {
        zhiku.json(&["profile", "add", profile]);
    }
    zhiku.act_as("owner");
    zhiku.json(&["vault", "create", "renovation"]);
    zhiku.json(&["member", "add", "sales", "--department", "Sales"]);
    let (lines, code) = zhiku.lines(&["import", text(folder)]);
    assert_eq!(code, Some(0), "{lines:?}");
    zhiku
}

fn asked(session: &Session, question: &str, writer: WriterChoice) -> (RunId, Answer) {
    let request = AskRequest { question: question.to_owned(), writer, ..AskRequest::default() };
    let mut run = session.ask(request).expect("asked");
    let cancel = CancellationToken::new();
    while let Some(Some(event)) = recv_event(&mut run.events, &cancel, false) {
        match event {
            AnswerEvent::Final { answer, .. } => return (run.run_id, *answer),
            AnswerEvent::Error { message, .. } => panic!("{message}"),
            _ => {}
        }
    }
    panic!("no answer to {question}");
}

fn cited<'a>(answer: &'a Answer, title: &str) -> Vec<&'a Citation> {
    answer.citations.iter().filter(|citation| citation.title == title).collect()
}

/// The number under which the model was given the evidence that says this.
fn number_of(message: &str, words: &str) -> usize {
    let before = message.split(words).next().expect("a text");
    assert!(before.len() < message.len(), "no evidence says {words}: {message}");
    before.matches("<<<evidence ").count()
}

fn two_facts(message: &str) -> String {
    let (video, rule) = (number_of(message, SAID), number_of(message, "五年"));
    format!("{SAID} [{video}]。防水工程的保修期为五年 [{rule}]。")
}

#[test]
fn a_video_is_cited_at_its_second_until_it_is_revoked_during_an_answer() {
    let has_ffmpeg = std::process::Command::new("ffmpeg").arg("-version").output().is_ok();
    if !has_ffmpeg || !have_models("the story's video") {
        eprintln!("skipped without ffmpeg or models: a video is cited at its second");
        return;
    }
    let folder = tempfile::tempdir().expect("temp dir");
    let zhiku = company(folder.path());
    let engine = Engine::open(EngineConfig::new(zhiku.home().to_owned(), "test").expect("a set-up"));
    let engine: Arc<Engine> = engine.expect("an engine");
    let open = |profile: &str| {
        let principal = engine.sign_in(Some(profile)).expect("signed in");
        engine.open_vault(&principal, Some("renovation"), AccessMode::Owner).expect("open")
    };
    let (owner, sales) = (open("owner"), open("sales"));

    let (old_run, old) = asked(&sales, "培训视频里说售后流程分为几步？", WriterChoice::Extractive);
    let [citation] = cited(&old, VIDEO)[..] else { panic!("{old:?}") };
    assert_eq!(citation.quote, SAID);
    assert_eq!(citation.locator, Locator::Time { start_ms: 4_000, end_ms: 5_500 });
    let open_video = || sales.place(citation.unit_id, citation.char_start, citation.char_end);
    assert_eq!(open_video().expect("visible").locator, citation.locator);

    // As long as nobody intervenes, a model's answer has both facts.
    let ask = |before_the_end: Box<dyn FnOnce() + Send>| {
        let chat = Chat::once(two_facts, before_the_end);
        let kind = ProviderKind::OpenAiCompatible;
        let provider = ProviderConfig::new("scripted", kind, chat.base_url.as_str(), "scripted");
        engine.set_provider(provider, None).expect("a provider");
        let (_, answer) = asked(&sales, QUESTION, WriterChoice::Provider("scripted".to_owned()));
        chat.finish();
        answer
    };
    let both = ask(Box::new(|| ()));
    assert_eq!(both.status, AnswerStatus::Completed, "{both:?}");
    assert!(!cited(&both, VIDEO).is_empty() && !cited(&both, RULE).is_empty(), "{both:?}");

    let video = citation.document;
    let during = ask(Box::new(move || {
        owner.set_visibility(video, DocumentVisibility::OwnerOnly, &[]).expect("revoked");
    }));
    assert!(cited(&during, VIDEO).is_empty() && !during.text.contains("四步"), "{during:?}");
    assert!(!cited(&during, RULE).is_empty(), "what rests on the rule stays: {during:?}");

    // Nor is there a way to it: not through the old answer's place, not by name, not by search, not in its quotes.
    assert_eq!(open_video().expect_err("revoked").code, ErrorCode::NotFound);
    assert_eq!(sales.source(video, citation.version).expect_err("revoked").code, ErrorCode::NotFound);
    assert!(sales.find_document(VIDEO).is_err());
    for mode in [SearchMode::Lexical, SearchMode::Dense, SearchMode::Hybrid, SearchMode::Rerank] {
        let query = SearchQuery { text: SAID.to_owned(), k: 20, mode };
        let ctx = RunContext::new(BudgetLimits::default());
        let found = sales.search(&query, &SearchFilter::default(), &ctx).expect("searched");
        assert!(found.hits.iter().all(|hit| hit.document != video), "{mode:?} finds it");
    }
    let kept = sales.answer(old_run).expect("read").expect("the old answer");
    assert!(cited(&kept, VIDEO).iter().all(|citation| citation.quote.is_empty()), "{kept:?}");
}
