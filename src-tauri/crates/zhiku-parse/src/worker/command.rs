//! What starts a worker, and what one file may cost it.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::WORKER_ARGUMENT;
use crate::error::ParseError;
use crate::formats::PDFIUM_VARIABLE;

/// The program that becomes a worker.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    program: PathBuf,
    pub(super) pdfium: Option<PathBuf>,
    #[cfg(feature = "fault-injection")]
    fault: Option<String>,
}

impl WorkerCommand {
    /// A program that calls [`super::run_if_asked`].
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            pdfium: std::env::var_os(PDFIUM_VARIABLE).map(PathBuf::from),
            #[cfg(feature = "fault-injection")]
            fault: None,
        }
    }

    /// This program.
    pub fn current_exe() -> Result<Self, ParseError> {
        std::env::current_exe().map(Self::new).map_err(|err| ParseError::Io {
            attempt: "find this program".to_owned(),
            detail: err.to_string(),
        })
    }

    /// Where PDFium is, unless the environment says it.
    #[must_use]
    pub fn with_pdfium(mut self, path: impl Into<PathBuf>) -> Self {
        self.pdfium = Some(path.into());
        self
    }

    /// Makes the worker fail as told: `abort:3`, `spin:3`, `eat:3`.
    #[cfg(feature = "fault-injection")]
    #[must_use]
    pub fn with_fault(mut self, plan: &str) -> Self {
        self.fault = Some(plan.to_owned());
        self
    }

    pub(super) fn to_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(WORKER_ARGUMENT).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(feature = "fault-injection")]
        if let Some(fault) = &self.fault {
            command.env("ZHIKU_PARSE_FAULT", fault);
        }
        command
    }
}

/// What one file may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseLimits {
    pub file_bytes: u64,
    /// Address space of the worker, its program included.
    pub memory_bytes: u64,
    /// The longest silence: about the time one page may take.
    pub unit_time: Duration,
    pub total_time: Duration,
    /// How many pages may take the worker down before the file is given up.
    pub restarts: u32,
    pub units: u32,
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self {
            file_bytes: 200 * 1024 * 1024,
            memory_bytes: 1536 * 1024 * 1024,
            unit_time: Duration::from_mins(1),
            total_time: Duration::from_hours(1),
            restarts: 20,
            units: 200_000,
        }
    }
}

/// What to read.
#[derive(Clone, Copy)]
pub struct ParseRequest<'a> {
    /// The file's name, for messages and for formats that only an extension tells apart.
    pub name: &'a str,
    pub password: Option<&'a str>,
    /// Units before this one (from 0) are left out: an interrupted import goes on where it was.
    pub start_unit: u32,
}
