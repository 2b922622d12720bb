//! Reading of each format, in release, beside a Python pipeline on the same files. Writes a Markdown table.
//!
//! `cargo xtask bench formats` makes the files and the Python environment, and starts this as
//! `formats beside PYTHON SCRIPT FOLDER OUT`. It runs itself as `formats one KIND FILE...` and the script as
//! `PYTHON SCRIPT KIND FILE...`, in turn: each run is a process of its own that prints what reading took. At the end it
//! imports a long document and an edited copy of it.

#![expect(clippy::print_stdout, reason = "printing is this program's purpose")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use zhiku_core::{RunContext, SearchMode, SearchQuery};
use zhiku_engine::{AccessMode, Engine, EngineConfig, SearchFilter};
use zhiku_models::{ModelStore, Role};

const RUNS: usize = 3;
const SAMPLE_EVERY: Duration = Duration::from_millis(10);

const NOTES: &str = "\
Each figure is the median of three runs, one after the other in turn, each in a new process: Zhiku with its usual settings,
which leave half of the processors to others, the pipeline with two threads. Loading of models and libraries is not counted.
Memory is the most that the process and its children held at once, models and libraries
included. Zhiku reads in a worker process with limits, keeps places (page boxes, cells, slides, times), and repeats header
rows; the pipeline keeps text only. \"Text\" is how many characters other than spaces Zhiku gives for each of the pipeline's.

The pipeline: pypdfium2, python-docx, openpyxl (read-only), python-pptx, RapidOCR with the models it comes with, and
pywhispercpp with the same Whisper model as Zhiku; whisper.cpp there hears the whole file, Zhiku what its voice detector
keeps.

The edited document has one sentence more, in one paragraph of 300 pages. The time is from the import's call to the
switch to the new version, with the models loaded, as in an open window.
";
const ADDED: &str = "archive ninth floor";

/// What is read, what it is counted in, and how many of that there are.
struct Row {
    kind: &'static str,
    what: &'static str,
    unit: &'static str,
    n_units: f64,
    files: Vec<PathBuf>,
}

#[derive(Clone, Deserialize, Serialize)]
struct Measured {
    seconds: f64,
    n_chars: usize,
    #[serde(default)]
    peak_mib: u64,
}

fn main() -> Result<()> {
    zhiku_engine::run_worker_if_asked();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["one", kind, files @ ..] => {
            println!("{}", serde_json::to_string(&one(kind, files)?)?);
            Ok(())
        }
        ["beside", python, script, folder, out] => beside(python, script, Path::new(folder), Path::new(out)),
        _ => bail!("usage: formats one KIND FILE... | formats beside PYTHON SCRIPT FOLDER OUT"),
    }
}

fn one(kind: &str, files: &[&str]) -> Result<Measured> {
    let home = tempfile::tempdir()?;
    let engine = Engine::open(EngineConfig::new(home.path().to_owned(), "bench")?)?;
    let cancel = CancellationToken::new();
    match kind {
        "picture" => drop(engine.models().reader()?),
        "sound" => drop(engine.models().hearing()?),
        _ => {}
    }
    let read = |file: &str| -> Result<usize> {
        let file = Path::new(file);
        if kind == "sound" {
            let transcript = engine.transcribe(file, &cancel)?;
            return Ok(transcript.segments.iter().map(|segment| n_chars(&segment.text)).sum());
        }
        Ok(engine.parse(file, None, &cancel)?.units.iter().map(|unit| n_chars(&unit.text)).sum())
    };
    let started = Instant::now();
    let counts: Vec<usize> = files.iter().map(|file| read(file)).collect::<Result<_>>()?;
    Ok(Measured { seconds: started.elapsed().as_secs_f64(), n_chars: counts.iter().sum(), peak_mib: 0 })
}

fn n_chars(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

fn beside(python: &str, script: &str, folder: &Path, out: &Path) -> Result<()> {
    let store = ModelStore::open_default()?;
    let whisper = store.require(Role::SpeechRecognition)?.main();
    let own = std::env::current_exe()?;
    let mut table = String::from(
        "| what | Zhiku | pipeline | ratio | Zhiku's memory | pipeline's memory | text |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows(folder)? {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            ours.push(run(Command::new(&own).args(["one", row.kind]).args(&row.files))?);
            let mut peer = Command::new(python);
            peer.args([script, row.kind]).args(&row.files).arg("--model").arg(&whisper);
            theirs.push(run(&mut peer)?);
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let (our_rate, their_rate) = (row.n_units / ours.seconds, row.n_units / theirs.seconds);
        let line = format!(
            "| {} | {our_rate:.1} {unit} | {their_rate:.1} {unit} | {:.2} | {} MiB | {} MiB | {:.2} |",
            row.what,
            our_rate / their_rate,
            ours.peak_mib,
            theirs.peak_mib,
            ours.n_chars as f64 / theirs.n_chars.max(1) as f64,
            unit = row.unit,
        );
        println!("{line}");
        let _ = writeln!(table, "{line}");
    }
    let edit = edited(folder)?;
    println!("{edit}");
    let text = format!("# Reading of formats\n\n{table}\n## An edited document\n\n{edit}\n\n{NOTES}");
    std::fs::write(out, text).with_context(|| format!("could not write {}", out.display()))
}

/// Imports a document of 300 pages, then a copy with one more sentence, and tells what the second import cost.
fn edited(folder: &Path) -> Result<String> {
    let home = tempfile::tempdir()?;
    let engine = Engine::open(EngineConfig::new(home.path().to_owned(), "bench")?)?;
    let session = engine.open_vault(&engine.sign_in(None)?, None, AccessMode::Owner)?;
    let path = home.path().join("report.docx");
    let import = |from: &str| -> Result<f64> {
        std::fs::copy(folder.join(from), &path)?;
        let started = Instant::now();
        session.import(std::slice::from_ref(&path), &mut |_| {})?;
        session.wait_for_imports();
        Ok(started.elapsed().as_secs_f64())
    };
    let first = import("long.docx")?;
    let second = import("long_edited.docx")?;
    let query = SearchQuery { text: ADDED.to_owned(), k: 1, mode: SearchMode::Lexical };
    let found = session.search(&query, &SearchFilter::default(), &RunContext::background())?;
    ensure!(
        found.hits.first().is_some_and(|hit| hit.text.contains("ninth floor")),
        "the edited sentence is not found"
    );
    let document = session.list()?.first().context("no document")?.document;
    let newest = session.show(document)?.versions.swap_remove(0);
    Ok(format!(
        "Imported in {first:.1} s; the edited copy was searchable after {second:.2} s, with {} of {} chunks embedded again.",
        newest.n_embedded, newest.n_chunks
    ))
}

fn rows(folder: &Path) -> Result<Vec<Row>> {
    let at = |name: &str| vec![folder.join(name)];
    let mut scans = Vec::new();
    for entry in std::fs::read_dir(folder.join("scans"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "png" || end == "jpg") {
            scans.push(path);
        }
    }
    scans.sort();
    let mut rows = vec![
        Row { kind: "pdf", what: "PDF, 200 pages", unit: "pages/s", n_units: 200.0, files: at("report.pdf") },
        Row {
            kind: "docx",
            what: "DOCX, 200 pages",
            unit: "pages/s",
            n_units: 200.0,
            files: at("report.docx"),
        },
        Row {
            kind: "xlsx",
            what: "XLSX, 20,000 rows",
            unit: "rows/s",
            n_units: 20_000.0,
            files: at("orders.xlsx"),
        },
        Row {
            kind: "pptx",
            what: "PPTX, 100 slides",
            unit: "slides/s",
            n_units: 100.0,
            files: at("deck.pptx"),
        },
        Row { kind: "picture", what: "Scans", unit: "pages/s", n_units: scans.len() as f64, files: scans },
    ];
    if folder.join("talk.wav").is_file() {
        let files = at("talk.wav");
        rows.push(Row { kind: "sound", what: "Speech, 60 s", unit: "s of sound/s", n_units: 60.0, files });
    }
    Ok(rows)
}

/// Runs to the end, watching how much memory the process and its children hold.
fn run(command: &mut Command) -> Result<Measured> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut peak_kib = 0;
    while child.try_wait()?.is_none() {
        peak_kib = peak_kib.max(tree_kib(child.id()));
        std::thread::sleep(SAMPLE_EVERY);
    }
    let output = child.wait_with_output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let last = printed.lines().last().with_context(|| format!("{command:?} printed nothing"))?;
    let measured: Measured = serde_json::from_str(last).with_context(|| format!("{command:?}: {last}"))?;
    Ok(Measured { peak_mib: peak_kib / 1024, ..measured })
}

/// Resident memory of a process and all below it; what is gone meanwhile counts nothing.
fn tree_kib(pid: u32) -> u64 {
    let read = |name: String| std::fs::read_to_string(name).unwrap_or_default();
    let status = read(format!("/proc/{pid}/status"));
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let own: u64 = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0);
    let mut children = String::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        children.push_str(&read(format!("{}/children", task.path().display())));
    }
    own + children.split_whitespace().filter_map(|id| id.parse().ok()).map(tree_kib).sum::<u64>()
}

fn median(mut runs: Vec<Measured>) -> Measured {
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    runs.swap_remove(runs.len() / 2)
}
