//! The worker as a program of its own, for tests and measurements. The applications carry the worker inside themselves.
//!
//! `zhiku-parse-worker parse FILE` prints what a file holds as JSON.
#![expect(clippy::print_stdout, reason = "this is a command line program")]

use std::path::Path;
use std::process::ExitCode;

use tokio_util::sync::CancellationToken;
use zhiku_parse::report::parse_report;
use zhiku_parse::worker::{ParseLimits, WorkerCommand, run_if_asked};

fn main() -> ExitCode {
    run_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, path] = arguments.as_slice() else { return usage() };
    if command != "parse" {
        return usage();
    }
    let limits = ParseLimits::default();
    let report = WorkerCommand::current_exe()
        .and_then(|worker| parse_report(&worker, Path::new(path), None, &limits, &CancellationToken::new()));
    match report.map(|report| serde_json::to_string(&report)) {
        Ok(Ok(report)) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Ok(Err(err)) => {
            eprintln!("could not write the report as JSON: {err}");
            ExitCode::FAILURE
        }
        Err(err) => {
            eprintln!("{err}; {}", err.hint());
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: zhiku-parse-worker parse FILE");
    ExitCode::from(2)
}
