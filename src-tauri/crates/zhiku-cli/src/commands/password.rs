//! The password of protected files: from standard input, never from the command line, where others could see it.

use std::collections::HashSet;

use zhiku_engine::{EngineError, ImportProgress, Session, VersionRef, awaits_password};

use super::Result;

pub(super) fn from_stdin(wanted: bool) -> Result<Option<String>> {
    if !wanted {
        return Ok(None);
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|error| {
        EngineError::invalid(format!("could not read the password from standard input: {error}"))
    })?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(EngineError::invalid("standard input holds no password")
            .with_hint("pipe it in: printf '%s\\n' PASSWORD | zhiku import --password-stdin FILE"));
    }
    Ok(Some(password.to_owned()))
}

/// Opens the files of an import that turn out to be protected, each once.
pub(super) struct Opener {
    password: Option<String>,
    tried: HashSet<VersionRef>,
}

impl Opener {
    pub(super) fn new(password: Option<String>) -> Self {
        Self { password, tried: HashSet::new() }
    }

    /// Whether the file goes on with the password.
    pub(super) fn open(&mut self, session: &Session, step: &ImportProgress) -> Result<bool> {
        let Some(password) = self.password.clone() else { return Ok(false) };
        let waits = step.settled && step.reason.as_ref().is_some_and(awaits_password);
        if !waits || !self.tried.insert(step.version) {
            return Ok(false);
        }
        session.unlock(step.version.document, password)?;
        Ok(true)
    }
}
