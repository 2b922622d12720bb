//! Two ways to say the same: JSON for programs on standard output, text for people.

use std::io::{IsTerminal, Write};

use serde_json::{Value, json};
use zhiku_engine::EngineError;

pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// The command's result: `value` for programs, `text` for people.
    pub(crate) fn result(&self, value: &Value, text: impl FnOnce() -> String) {
        if self.json {
            print_line(&value.to_string());
        } else {
            print_line(text().trim_end());
        }
    }

    /// One line of a stream.
    pub(crate) fn line(&self, value: &Value, text: impl FnOnce() -> Option<String>) {
        if self.json {
            print_line(&value.to_string());
        } else if let Some(text) = text() {
            print_line(&text);
        }
    }

    pub(crate) fn error(&self, error: &EngineError) {
        if self.json {
            print_line(&json!({ "error": error }).to_string());
        } else {
            remark(&format!("zhiku: {error}"));
            if let Some(hint) = &error.hint {
                remark(&format!("  {hint}"));
            }
        }
    }
}

/// Progress and remarks: never on standard output.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A bar on a terminal, nothing elsewhere.
pub(crate) fn bar() -> indicatif::ProgressBar {
    if std::io::stderr().is_terminal() {
        indicatif::ProgressBar::new(0)
    } else {
        indicatif::ProgressBar::hidden()
    }
}

fn print_line(text: &str) {
    // The reader may have gone (`zhiku … | head`); that is no fault.
    let _ = writeln!(std::io::stdout(), "{text}");
}
