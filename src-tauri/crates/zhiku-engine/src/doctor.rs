//! Whether everything that is needed is there, and what to do where it is not.

use std::sync::Arc;

use serde::Serialize;
use zhiku_llm::keychain::Keychain;

use crate::engine::Engine;
use crate::models::ModelState;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Ok,
    /// Zhiku works, with less.
    Degraded,
    /// Something needed is missing.
    Missing,
}

#[derive(Clone, Debug, Serialize)]
pub struct Check {
    pub name: String,
    pub state: CheckState,
    pub detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    pub version: &'static str,
    pub checks: Vec<Check>,
}

impl Diagnosis {
    pub fn is_complete(&self) -> bool {
        self.checks.iter().all(|check| check.state != CheckState::Missing)
    }
}

impl Engine {
    /// Looks at models, keychain and disk. Reads only, apart from one file written and removed in the home.
    pub fn diagnose(self: &Arc<Self>) -> Diagnosis {
        let mut checks: Vec<Check> = self
            .models
            .list()
            .into_iter()
            .map(|entry| {
                let whole = matches!(entry.state, ModelState::Present | ModelState::Verified);
                Check {
                    name: format!("model:{}", entry.role),
                    state: if whole { CheckState::Ok } else { CheckState::Missing },
                    detail: format!("{} ({})", entry.id, state_name(entry.state)),
                    hint: (!whole).then(|| format!("zhiku models fetch {}", entry.id)),
                }
            })
            .collect();
        checks.push(self.embedding_check());
        checks.push(keychain_check());
        checks.push(self.home_check());
        Diagnosis { version: env!("CARGO_PKG_VERSION"), checks }
    }

    fn embedding_check(&self) -> Check {
        let (state, detail, hint) = match self.models.embedder() {
            Ok(embedder) => {
                let space = embedder.space();
                (CheckState::Ok, format!("{}, {} dimensions", space.model_id, space.dim), None)
            }
            Err(error) => (CheckState::Missing, error.to_string(), error.hint),
        };
        Check { name: "embedding".to_owned(), state, detail, hint }
    }

    fn home_check(&self) -> Check {
        let probe = self.home_dir().join(format!(".write-test-{}", std::process::id()));
        let written = std::fs::write(&probe, b"x").and_then(|()| std::fs::remove_file(&probe));
        let (state, detail, hint) = match written {
            Ok(()) => (CheckState::Ok, self.home_dir().display().to_string(), None),
            Err(error) => (
                CheckState::Missing,
                format!("{}: {error}", self.home_dir().display()),
                Some("choose a folder you can write to with --home".to_owned()),
            ),
        };
        Check { name: "home".to_owned(), state, detail, hint }
    }
}

fn keychain_check() -> Check {
    let probed = Keychain::open().and_then(|keychain| keychain.status("doctor"));
    let (state, detail, hint) = match probed {
        Ok(_) => (CheckState::Ok, "the system keychain answers".to_owned(), None),
        Err(error) => (CheckState::Degraded, error.to_string(), error.hint().map(str::to_owned)),
    };
    Check { name: "keychain".to_owned(), state, detail, hint }
}

fn state_name(state: ModelState) -> &'static str {
    match state {
        ModelState::Missing => "missing",
        ModelState::Damaged => "damaged",
        ModelState::Present => "present",
        ModelState::Verified => "verified",
    }
}
