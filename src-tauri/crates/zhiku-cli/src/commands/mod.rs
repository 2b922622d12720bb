//! One module per subject, one function per command.

mod ask;
mod doctor;
mod eval;
mod import;
mod library;
mod models;
mod password;
mod people;
mod provider;
mod queue;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use zhiku_engine::{AccessMode, CancellationToken, Engine, EngineConfig, EngineError, Session};

use crate::args::{Cli, Command, Global};
use crate::output::Output;

type Result<T, E = EngineError> = std::result::Result<T, E>;

pub(crate) fn run(cli: Cli, output: &Output) -> Result<ExitCode> {
    let global = &cli.global;
    match cli.command {
        Command::Doctor => doctor::doctor(global, output),
        Command::Models(command) => models::models(global, command, output),
        Command::Parse { file, password_stdin } => {
            import::parse(global, &file, password::from_stdin(password_stdin)?.as_deref(), output)
        }
        Command::Transcribe { file } => import::transcribe(global, &file, output),
        Command::Import { paths, lexical_only, password_stdin } => {
            let opener = password::Opener::new(password::from_stdin(password_stdin)?);
            import::import(global, &paths, lexical_only, opener, output)
        }
        Command::List => library::list(global, output),
        Command::Show { document } => library::show(global, &document, output),
        Command::Versions { document } => library::versions(global, &document, output),
        Command::Remove { document, place: None } => library::remove(global, &document, output),
        Command::Remove { document, place: Some(place) } => {
            queue::remove_place(&owner(global)?, &document, &place, output)
        }
        Command::Jobs(command) => queue::jobs(global, command, output),
        Command::Governor(wanted) => queue::governor(global, &wanted, output),
        Command::Watch(command) => queue::watch(global, command, output),
        Command::VerifyRemoved { document } => library::verify_removed(global, &document, output),
        Command::Vault(command) => people::vault(global, command, output),
        Command::Profile(command) => people::profile(global, command, output),
        Command::Member(command) => people::member(global, command, output),
        Command::Rule(command) => people::rule(global, command, output),
        Command::Search { query, k, mode } => ask::search(global, &query, k, mode.into(), output),
        Command::Ask { question, model, stream, conversation } => {
            ask::ask(global, &question, &model, stream, conversation.as_deref(), output)
        }
        Command::Runs(command) => ask::runs(global, command, output),
        Command::Eval(command) => eval::eval(global, command, output),
        Command::Provider(command) => provider::provider(global, command, output),
    }
}

fn config(global: &Global) -> Result<EngineConfig> {
    let home: PathBuf = match &global.home {
        Some(home) => home.clone(),
        None => EngineConfig::default_home()?,
    };
    EngineConfig::new(home, "zhiku")
}

fn engine(global: &Global) -> Result<Arc<Engine>> {
    Engine::open(config(global)?)
}

/// The vault as its one owner process.
fn owner(global: &Global) -> Result<Session> {
    session(global, AccessMode::Owner)
}

/// The vault for asking: runs are recorded, so it is opened for writing.
fn writer(global: &Global) -> Result<Session> {
    owner(global)
}

/// The vault for writing when it is free, for reading when another process has it.
fn reader(global: &Global) -> Result<Session> {
    match session(global, AccessMode::Owner) {
        Err(error) if error.code == zhiku_core::ErrorCode::VaultLocked => {
            session(global, AccessMode::ReadOnly)
        }
        other => other,
    }
}

fn session(global: &Global, mode: AccessMode) -> Result<Session> {
    let engine = engine(global)?;
    let principal = engine.sign_in(global.as_profile.as_deref())?;
    engine.open_vault(&principal, global.vault.as_deref(), mode)
}

fn find_document(session: &Session, text: &str) -> Result<zhiku_core::DocumentId> {
    session.find_document(text)
}

/// A token that an interrupt (Ctrl-C) cancels.
fn cancel_on_interrupt() -> CancellationToken {
    static TOKEN: OnceLock<CancellationToken> = OnceLock::new();
    TOKEN
        .get_or_init(|| {
            let token = CancellationToken::new();
            let cancelled = token.clone();
            // Without a handler an interrupt ends the process, which is no worse.
            let _ = ctrlc::set_handler(move || cancelled.cancel());
            token
        })
        .clone()
}
