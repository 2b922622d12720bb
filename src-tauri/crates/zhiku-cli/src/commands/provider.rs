//! `provider list|set|test|remove`. Keys come from standard input, never from the command line, where others could see them.

use std::io::Read;
use std::process::ExitCode;

use serde_json::json;
use zhiku_engine::{EngineError, KeyState, ProviderConfig, ProviderKind, Secret};

use super::{Result, engine};
use crate::args::{Global, ProviderCommand};
use crate::output::Output;

pub(super) fn provider(global: &Global, command: ProviderCommand, output: &Output) -> Result<ExitCode> {
    let engine = engine(global)?;
    match command {
        ProviderCommand::List => {}
        ProviderCommand::Set { id, kind, base_url, model, key_from_stdin } => {
            let kind: ProviderKind = serde_json::from_value(json!(kind)).map_err(|_| {
                EngineError::invalid(format!("unknown kind {kind}: openai_compatible or anthropic"))
            })?;
            let key = if key_from_stdin { Some(read_key()?) } else { None };
            engine.set_provider(ProviderConfig::new(id, kind, base_url, model), key)?;
        }
        ProviderCommand::Remove { id } => engine.remove_provider(&id)?,
        ProviderCommand::Test { id } => {
            let report = engine.test_provider(&id)?;
            output.result(&json!(report), || format!("{id} answers"));
            return Ok(ExitCode::SUCCESS);
        }
    }
    let providers = engine.providers()?;
    let key = |state: KeyState| match state {
        KeyState::Stored => "stored",
        KeyState::NotStored => "not_stored",
        KeyState::Unavailable => "unavailable",
    };
    let rows: Vec<_> = providers
        .iter()
        .map(|p| json!({ "id": p.config.id, "kind": p.config.kind, "base_url": p.config.base_url, "model": p.config.model, "key": key(p.key) }))
        .collect();
    output.result(&json!({ "providers": rows }), || {
        let line = |p: &zhiku_engine::ProviderStatus| {
            format!("{:<14} {:<28} {}  key {}", p.config.id, p.config.model, p.config.base_url, key(p.key))
        };
        providers.iter().map(line).collect::<Vec<_>>().join("\n")
    });
    Ok(ExitCode::SUCCESS)
}

fn read_key() -> Result<Secret> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| {
        EngineError::invalid(format!("could not read the key from standard input: {error}"))
    })?;
    Ok(Secret::new(text))
}
