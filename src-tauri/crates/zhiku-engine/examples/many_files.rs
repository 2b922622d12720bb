//! Many small files, with and without being killed: the same vault in the end, nothing embedded that has its vectors, and
//! memory below the ceiling. Prints the figures.
//!
//! `cargo run --release -p zhiku-engine --example many_files -- [--files N] [--kills N] [--model]`. Without `--model` vectors
//! are made from a text's hash, so that the queue is measured and not the model.

#![expect(clippy::print_stdout, reason = "printing is this program's purpose")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use zhiku_core::RunContext;
use zhiku_core::model::{EmbedSide, Embedder, Embedding, EmbeddingSpace, ModelError, Priority, TokenMatrix};
use zhiku_core::{ErrorCode, Fault};
use zhiku_engine::{Engine, EngineConfig};
use zhiku_ingest::governor::{GovernorSettings, Machine};
use zhiku_ingest::{
    IgnoreRules, ModelSource, ModelSources, Pipeline, PipelineConfig, files_below, import_path,
};
use zhiku_parse::chunker::ChunkOptions;
use zhiku_parse::worker::{ParseLimits, WorkerCommand};
use zhiku_vault::{Home, OpenOptions, Urgency, Vault};

const DIM: usize = 32;
const TICK: Duration = Duration::from_millis(50);

fn main() -> Result<()> {
    zhiku_engine::run_worker_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, home, files, log, model] = arguments.as_slice()
        && command == "import"
    {
        return import(Path::new(home), Path::new(files), Path::new(log), model == "model");
    }
    let number = |name: &str, usual: usize| -> Result<usize> {
        let at = arguments.iter().position(|argument| argument == name);
        at.map_or(Ok(usual), |at| Ok(arguments.get(at + 1).context("a number is missing")?.parse()?))
    };
    let (n_files, n_kills) = (number("--files", 10_000)?, number("--kills", 10)?);
    let with_model = arguments.iter().any(|argument| argument == "--model");
    measure(n_files, n_kills, with_model)
}

fn measure(n_files: usize, n_kills: usize, with_model: bool) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let files = dir.path().join("files");
    write_files(&files, n_files)?;
    let home = |name: &str| dir.path().join(name);

    let undisturbed = Run::start(&home("undisturbed"), &files, with_model)?.finish()?;
    println!("undisturbed: {}", undisturbed.told());

    let disturbed = home("disturbed");
    let (mut seed, begun, mut killed) = (20_261_201_u64, Instant::now(), Vec::new());
    for _ in 0..n_kills {
        // Most kills hit the work; those after its end find nothing to disturb.
        let share = random(&mut seed) % 1000;
        let after = undisturbed.took.mul_f64(share as f64 / 1000.0 * 2.0 / (n_kills + 1) as f64);
        killed.push(Run::start(&disturbed, &files, with_model)?.kill(after)?);
    }
    let last = Run::start(&disturbed, &files, with_model)?.finish()?;
    println!("killed after {killed:.1?} s and finished: {} in {:.0?} in all", last.told(), begun.elapsed());

    let (before, after) = (&undisturbed.report, &last.report);
    let same = |name: &str| before["digest"][name] == after["digest"][name];
    let n_embedded = |run: &Finished| run.report["texts_embedded"].as_u64().unwrap_or(0);
    println!("same documents, units and chunks: {}", same("content"));
    println!("same vectors: {}", same("vectors"));
    println!(
        "texts given to the model: {} undisturbed, {} with kills, for {} chunks; stored twice: {}",
        n_embedded(&undisturbed),
        n_embedded(&last),
        after["digest"]["n_chunks"],
        after["digest"]["max_embedded"].as_u64().unwrap_or(0) > 1,
    );
    ensure!(same("content"), "the vaults differ");
    // Rounding in the model depends on what else is in a batch.
    ensure!(with_model || same("vectors"), "the vectors differ");
    ensure!(after["digest"]["max_embedded"] == 1, "a chunk was embedded that had its vectors");
    Ok(())
}

/// Words of their own in each file, so that no two are the same document.
fn write_files(dir: &Path, n_files: usize) -> Result<()> {
    for n in 0..n_files {
        let folder = dir.join(format!("{:03}", n / 100));
        std::fs::create_dir_all(&folder)?;
        let text = format!(
            "Note {n}: the delivery of order {} to site {} was checked. 第 {n} 号记录：材料已验收，数量 {} 件。\n",
            n * 7,
            n % 97,
            n % 13
        );
        let extension = if n % 2 == 0 { "txt" } else { "md" };
        std::fs::write(folder.join(format!("note-{n:05}.{extension}")), text.repeat(1 + n % 3))?;
    }
    Ok(())
}

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// An import in a process of its own.
struct Run {
    child: Child,
    begun: Instant,
    log: PathBuf,
}

struct Finished {
    report: Value,
    took: Duration,
    peak_mib: u64,
}

impl Run {
    fn start(home: &Path, files: &Path, with_model: bool) -> Result<Self> {
        std::fs::create_dir_all(home)?;
        let log = home.join("embedded.log");
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("import").args([home, files, log.as_path()]);
        let child = command.arg(if with_model { "model" } else { "hash" }).stdout(Stdio::piped()).spawn()?;
        Ok(Self { child, begun: Instant::now(), log })
    }

    fn kill(mut self, after: Duration) -> Result<f64> {
        while self.begun.elapsed() < after && self.child.try_wait()?.is_none() {
            std::thread::sleep(TICK.min(after));
        }
        self.child.kill()?;
        self.child.wait()?;
        Ok(self.begun.elapsed().as_secs_f64())
    }

    fn finish(mut self) -> Result<Finished> {
        let mut peak = 0;
        while self.child.try_wait()?.is_none() {
            peak = peak.max(memory_of(self.child.id()).unwrap_or(0));
            std::thread::sleep(TICK);
        }
        let took = self.begun.elapsed();
        let output = self.child.wait_with_output()?;
        ensure!(output.status.success(), "the import failed");
        let mut report: Value = serde_json::from_slice(&output.stdout)?;
        let log = std::fs::read_to_string(&self.log)?;
        report["texts_embedded"] =
            json!(log.lines().filter_map(|line| line.parse::<u64>().ok()).sum::<u64>());
        Ok(Finished { report, took, peak_mib: peak / 1024 })
    }
}

impl Finished {
    fn told(&self) -> String {
        let digest = &self.report["digest"];
        format!(
            "{} documents, {} chunks, {} vectors in {:.0?}, peak memory {} MiB",
            digest["n_documents"], digest["n_chunks"], digest["n_vectors"], self.took, self.peak_mib
        )
    }
}

/// Most memory that a process had so far, in KiB; nothing where the system does not say.
fn memory_of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The process that is killed.
fn import(home: &Path, files: &Path, log: &Path, with_model: bool) -> Result<()> {
    let home_dir = home.join("home");
    let (home, dir) = (Home::open(&home_dir)?, home_dir.join("vault"));
    if home.profiles()?.is_empty() {
        home.add_profile("owner")?;
    }
    let owner = home.sign_in("owner")?;
    let vault = if let Ok(vault) = Vault::open(&dir, &OpenOptions::default()) {
        vault
    } else {
        // Killed before the vault was there.
        let _ = std::fs::remove_dir_all(&dir);
        Vault::create(&dir, "many", &owner, &OpenOptions::default())?
    };
    let scope = vault.scope(&owner)?;
    let config = PipelineConfig {
        worker: WorkerCommand::current_exe()?,
        limits: ParseLimits::default(),
        chunks: ChunkOptions::default(),
        governor: GovernorSettings { keep_usable: false, ..GovernorSettings::default() },
        machine: Machine::source(vault.dir()),
    };
    let pipeline = Pipeline::start(vault.clone(), config, models(&home_dir, log, with_model)?)?;
    for path in files_below(files, &IgnoreRules::standard())? {
        import_path(&vault, &scope, &path, Urgency::InTurn)?;
        pipeline.wake();
    }
    pipeline.wait_until_idle();
    println!("{}", json!({ "digest": vault.digest(&scope)? }));
    Ok(())
}

fn models(home: &Path, log: &Path, with_model: bool) -> Result<ModelSources> {
    let inner: Option<Arc<dyn Embedder>> = if with_model {
        let engine = Engine::open(EngineConfig::new(home.to_owned(), "many_files")?)?;
        Some(engine.models().embedder().map_err(|error| anyhow::anyhow!("{error}"))?)
    } else {
        None
    };
    let counted: Arc<dyn Embedder> = Arc::new(Counted { inner, log: log.to_owned() });
    let embedder: ModelSource<dyn Embedder> = Arc::new(move || Ok(Arc::clone(&counted)));
    Ok(ModelSources { embedder, reader: Arc::new(|| Err(missing())), hearing: Arc::new(|| Err(missing())) })
}

fn missing() -> ModelError {
    ModelError {
        code: ErrorCode::ModelMissing,
        fault: Fault::Environment,
        message: "not needed for text".to_owned(),
        hint: None,
        retryable: false,
    }
}

/// Notes how many texts each call brings before it answers, in a file that outlives a kill.
struct Counted {
    inner: Option<Arc<dyn Embedder>>,
    log: PathBuf,
}

impl Counted {
    fn note(&self, n_texts: usize) -> Result<()> {
        let mut log = std::fs::File::options().create(true).append(true).open(&self.log)?;
        writeln!(log, "{n_texts}")?;
        if n_texts == 0 {
            bail!("a call without texts");
        }
        Ok(())
    }
}

impl Embedder for Counted {
    fn space(&self) -> EmbeddingSpace {
        let own = EmbeddingSpace { model_id: "hash".to_owned(), dim: DIM as u32 };
        self.inner.as_ref().map_or(own, |inner| inner.space())
    }

    fn count_tokens(&self, text: &str, side: EmbedSide) -> usize {
        self.inner.as_ref().map_or_else(|| text.chars().count(), |inner| inner.count_tokens(text, side))
    }

    fn max_tokens(&self) -> usize {
        self.inner.as_ref().map_or(512, |inner| inner.max_tokens())
    }

    fn embed(
        &self,
        texts: &[&str],
        side: EmbedSide,
        priority: Priority,
        ctx: &RunContext,
    ) -> Result<Vec<Embedding>, ModelError> {
        self.note(texts.len()).map_err(|error| ModelError { message: error.to_string(), ..missing() })?;
        match &self.inner {
            Some(inner) => inner.embed(texts, side, priority, ctx),
            None => Ok(texts.iter().map(|text| hashed(text)).collect()),
        }
    }
}

/// The same text has the same vector in every process.
fn hashed(text: &str) -> Embedding {
    let mut seed = text.bytes().fold(14_695_981_039_346_656_037_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
    });
    let values: Vec<f32> = (0..DIM).map(|_| (random(&mut seed) % 2001) as f32 / 1000.0 - 1.0).collect();
    let norm = values.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    let sentence: Vec<f32> = values.iter().map(|value| value / norm).collect();
    Embedding { tokens: TokenMatrix { dim: DIM, values: sentence.repeat(4) }, sentence }
}
