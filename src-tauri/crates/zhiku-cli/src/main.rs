//! The command line `zhiku`: the same engine without a window. Thin on purpose: arguments in, one engine call, JSON or text
//! out. Start reading at [`args`] and [`commands`].

mod args;
mod commands;
mod output;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::args::Cli;
use crate::output::Output;

fn main() -> ExitCode {
    zhiku_engine::run_worker_if_asked();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A broken pipe while printing help is nobody's concern.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    log_to_stderr(cli.global.verbose);
    let output = Output::new(cli.global.json);
    match commands::run(cli, &output) {
        Ok(code) => code,
        Err(error) => {
            output.error(&error);
            ExitCode::from(if error.code == zhiku_core::ErrorCode::Cancelled { 130 } else { 1 })
        }
    }
}

fn log_to_stderr(verbose: u8) {
    let level = match verbose {
        0 => "error",
        1 => "info",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_env("ZHIKU_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false).init();
}
