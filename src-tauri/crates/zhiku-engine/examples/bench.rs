//! Speed and memory, in release, as ratios where a bare limit can run beside. Writes a Markdown table.
//!
//! `cargo xtask bench [--chunks N] [--pdf FILE] [--out FILE]`. The corpus is made here from a fixed list of words, so that
//! every machine measures the same. Without models there is nothing to measure, and it says so.

#![expect(clippy::print_stdout, reason = "printing is this program's purpose")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use zhiku_core::model::{EmbedSide, Priority};
use zhiku_core::{AnswerEvent, JobStage, RunContext, SearchMode, SearchQuery};
use zhiku_engine::{AccessMode, AskRequest, Engine, EngineConfig, SearchFilter, Session};

const WORDS: &[&str] = &[
    "contract",
    "supplier",
    "delivery",
    "warranty",
    "inspection",
    "customer",
    "invoice",
    "schedule",
    "material",
    "quality",
    "department",
    "approval",
    "budget",
    "training",
    "safety",
    "equipment",
    "maintenance",
    "report",
    "policy",
    "travel",
    "合同",
    "供应商",
    "交付",
    "保修",
    "验收",
    "客户",
    "发票",
    "进度",
    "材料",
    "质量",
    "部门",
    "审批",
    "预算",
    "培训",
    "安全",
];
const QUESTIONS: usize = 20;

const NOTES: &str = "\
A document is found by its words as soon as they are indexed; its vectors are made after that, and the library and every
answer say which of the two it is. \"PDF searchable by words\" is the time from import to that moment.

The import is held against the bare model: the same session embeds texts of the same length and batches, without files,
parsing, words and storage. The window's start is timed by the end-to-end run, which prints it.
";

struct Options {
    chunks: usize,
    pdf: Option<PathBuf>,
    out: PathBuf,
}

fn main() -> Result<()> {
    zhiku_engine::run_worker_if_asked();
    let options = options()?;
    let home = tempfile::tempdir()?;
    let started = Instant::now();
    let engine = Engine::open(EngineConfig::new(home.path().to_owned(), "bench")?)?;
    let principal = engine.sign_in(None)?;
    let session = engine.open_vault(&principal, None, AccessMode::Owner)?;
    let opened = started.elapsed();
    let idle = memory_mib("VmRSS");
    let embedder = match engine.models().embedder() {
        Ok(embedder) => embedder,
        Err(error) => {
            bail!("nothing to measure without the embedding model: {error}; run `zhiku models fetch`")
        }
    };
    let mut table = String::from("| what | figure |\n|---|---|\n");
    let mut row = |what: &str, figure: String| {
        println!("{what}: {figure}");
        let _ = writeln!(table, "| {what} | {figure} |");
    };
    row("open home and vault", format!("{:.0} ms", ms(opened)));
    row("memory after opening", format!("{idle} MiB"));

    if let Some(pdf) = &options.pdf {
        let (words, all, pages) = import_pdf(&session, pdf)?;
        row("PDF pages", pages.to_string());
        row("PDF searchable by words after", format!("{:.2} s", words.as_secs_f64()));
        row("PDF pages per second, vectors included", format!("{:.1}", f64::from(pages) / all.as_secs_f64()));
    }

    // Import beside the bare model: the same texts, the same batches by length, nothing else.
    let folder = tempfile::tempdir()?;
    let n_compared = 256.min(options.chunks);
    let long: Vec<String> = (0..n_compared).map(|n| passage(n, 150)).collect();
    let texts: Vec<&str> = long.iter().map(String::as_str).collect();
    let ctx = RunContext::background();
    embedder.embed(&texts[..16], EmbedSide::Passage, Priority::Background, &ctx)?;
    let started = Instant::now();
    embedder.embed(&texts, EmbedSide::Passage, Priority::Background, &ctx)?;
    let bare = started.elapsed();
    for (n, text) in long.iter().enumerate() {
        std::fs::write(folder.path().join(format!("long-{n:05}.md")), text)?;
    }
    let before = chunk_count(&session)?;
    let imported = import(&session, folder.path().to_owned())?;
    let made = chunk_count(&session)? - before;
    let bare_rate = n_compared as f64 / bare.as_secs_f64();
    let rate = made as f64 / imported.as_secs_f64();
    row("bare model, chunks per second", format!("{bare_rate:.1}"));
    row("import, chunks per second (files, words, vectors)", format!("{rate:.1}"));
    row("import / bare model", format!("{:.2}", rate / bare_rate));

    // Questions over many chunks.
    let folder = tempfile::tempdir()?;
    let rest = options.chunks.saturating_sub(chunk_count(&session)?);
    for n in 0..rest {
        std::fs::write(folder.path().join(format!("short-{n:06}.md")), passage(n + 10_000, 12))?;
    }
    import(&session, folder.path().to_owned())?;
    row("chunks in the vault", chunk_count(&session)?.to_string());
    let (mut evidence, mut answer, mut search) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..QUESTIONS {
        let (first, full) = ask(&session, &passage(n * 37 + 3, 6))?;
        evidence.push(first);
        answer.push(full);
        let query = SearchQuery { text: passage(n * 41 + 5, 5), k: 10, mode: SearchMode::Rerank };
        let started = Instant::now();
        session.search(&query, &SearchFilter::default(), &ctx)?;
        search.push(ms(started.elapsed()));
    }
    row("question to first evidence, median", format!("{:.0} ms", median(&mut evidence)));
    row("question to full extractive answer, median", format!("{:.0} ms", median(&mut answer)));
    row("search with reranking, median", format!("{:.0} ms", median(&mut search)));
    row("memory at peak", format!("{} MiB", memory_mib("VmHWM")));

    let text = format!("# Speed and memory\n\n{}\n{table}\n{NOTES}", machine());
    if let Some(parent) = options.out.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&options.out, text).with_context(|| format!("could not write {}", options.out.display()))
}

fn options() -> Result<Options> {
    let mut options = Options { chunks: 10_000, pdf: None, out: PathBuf::from("docs/bench.md") };
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let value = args.next().with_context(|| format!("{name} takes a value"))?;
        match name.as_str() {
            "--chunks" => options.chunks = value.parse().context("--chunks takes a number")?,
            "--pdf" => options.pdf = Some(PathBuf::from(value)),
            "--out" => options.out = PathBuf::from(value),
            _ => bail!("unknown option {name}"),
        }
    }
    Ok(options)
}

/// Sentences from a small generator: the same number gives the same text.
fn passage(seed: usize, n_words: usize) -> String {
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut text = format!("No. {seed}: ");
    for n in 0..n_words {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(state >> 33) as usize % WORDS.len()]);
        text.push_str(if n % 12 == 11 { ". " } else { " " });
    }
    text
}

fn import(session: &Session, path: PathBuf) -> Result<Duration> {
    let started = Instant::now();
    session.import(&[path], &mut |_| {})?;
    session.wait_for_imports();
    Ok(started.elapsed())
}

fn import_pdf(session: &Session, pdf: &std::path::Path) -> Result<(Duration, Duration, u32)> {
    let progress = session.watch_imports()?;
    let started = Instant::now();
    session.import(&[pdf.to_owned()], &mut |_| {})?;
    let mut words = None;
    while let Ok(step) = progress.recv() {
        if step.stage == JobStage::PublishLexical {
            words.get_or_insert(started.elapsed());
        }
        if step.settled {
            break;
        }
    }
    let pages = session.list()?.first().map_or(0, |document| document.n_units);
    Ok((words.unwrap_or_else(|| started.elapsed()), started.elapsed(), pages))
}

fn ask(session: &Session, question: &str) -> Result<(f64, f64)> {
    let started = Instant::now();
    let mut run = session.ask(AskRequest { question: question.to_owned(), ..AskRequest::default() })?;
    let mut first = None;
    while let Some(event) = run.events.blocking_recv() {
        if matches!(event, AnswerEvent::EvidenceReady { .. }) {
            first.get_or_insert(ms(started.elapsed()));
        }
    }
    Ok((first.unwrap_or_default(), ms(started.elapsed())))
}

fn chunk_count(session: &Session) -> Result<usize> {
    Ok(session.list()?.iter().map(|document| document.n_chunks as usize).sum())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// A line of `/proc/self/status`, in MiB; 0 where there is none.
fn memory_mib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}

fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown processor", |name| name.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{name}, {cores} cores, {} {}, release build.\n", std::env::consts::OS, std::env::consts::ARCH)
}
