//! A whole file as one JSON object: what `parse FILE` prints.

use std::fs::File;
use std::io;
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use zhiku_core::{DocumentKind, Locator, ParseWarning, Process, Trust};

use crate::error::ParseError;
use crate::parser::ParsedDocument;
use crate::worker::{ParseLimits, ParseRequest, WorkerCommand, parse_file};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParseReport {
    pub source: ReportSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_count: Option<u32>,
    pub units: Vec<ReportUnit>,
    pub warnings: Vec<ReportWarning>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportSource {
    pub name: String,
    pub kind: DocumentKind,
    pub bytes: u64,
    /// In hexadecimal.
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportUnit {
    /// `u1`, `u2` … in reading order.
    pub id: String,
    pub kind: &'static str,
    pub locator: Locator,
    pub heading_path: Vec<String>,
    pub text: String,
    pub process: Process,
    pub trust: Trust,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportWarning {
    pub code: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locator: Option<Locator>,
}

/// Parses a file in a worker process and keeps all of it.
pub fn parse_report(
    command: &WorkerCommand,
    path: &Path,
    password: Option<&str>,
    limits: &ParseLimits,
    cancel: &CancellationToken,
) -> Result<ParseReport, ParseError> {
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let request = ParseRequest { name: &name, password, start_unit: 0 };
    let mut parsed = ParsedDocument::default();
    let summary = parse_file(command, path, &request, limits, cancel, &mut parsed)?;
    let (bytes, sha256) = digest(path)
        .map_err(|err| ParseError::Io { attempt: format!("read {name}"), detail: err.to_string() })?;
    let unit = |(n, unit): (usize, zhiku_core::ParsedUnit)| ReportUnit {
        id: format!("u{}", n + 1),
        kind: unit.kind.as_str(),
        locator: unit.locator,
        heading_path: unit.heading_path,
        text: unit.text,
        process: unit.process,
        trust: unit.trust,
    };
    let warning = |warning: ParseWarning| ReportWarning {
        code: warning.code,
        message: warning.message,
        locator: warning.locator,
    };
    Ok(ParseReport {
        source: ReportSource { kind: summary.kind, bytes, sha256, name },
        page_count: summary.page_count,
        units: parsed.units.into_iter().enumerate().map(unit).collect(),
        warnings: parsed.warnings.into_iter().map(warning).collect(),
    })
}

fn digest(path: &Path) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let n_bytes = io::copy(&mut File::open(path)?, &mut hash)?;
    Ok((n_bytes, to_hex(&hash.finalize())))
}

fn to_hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
