//! Prints what a file holds as JSON: `{"units": [{"text": …, "locator": …}]}`, for measuring parsers against each other.
//!
//! usage: parse FILE
#![expect(clippy::print_stdout, reason = "this is a command line program")]

use std::path::Path;

use tokio_util::sync::CancellationToken;
use zhiku_parse::report::parse_report;
use zhiku_parse::worker::{ParseLimits, WorkerCommand, run_if_asked};

fn main() -> anyhow::Result<()> {
    run_if_asked();
    let path = std::env::args().nth(1).ok_or_else(|| anyhow::anyhow!("usage: parse FILE"))?;
    let worker = WorkerCommand::current_exe()?;
    let limits = ParseLimits::default();
    let report = parse_report(&worker, Path::new(&path), None, &limits, &CancellationToken::new())?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}
