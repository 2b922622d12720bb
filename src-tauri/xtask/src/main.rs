//! The project's own commands: `cargo xtask run`, `test`, `bench`, `quotes`, `setup`, `bindings`.
//!
//! Light on purpose: it has to compile before any system package or model is there. Start reading at [`setup`].

mod bench;
mod process;
mod python;
mod quotes;
mod run;
mod setup;
mod test;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <command>

  run        set up what is missing, then open Zhiku (without a display: the same job through the command line)
  test       set up what is missing, then every check and test
  bench      measure in release and write docs/bench.md; `bench formats` holds the reading of each format against a
             Python pipeline on the same files and writes docs/bench-formats.md
  quotes     hold the quotes of extractive answers against the pages as pdftotext reads them
             (--pdf DIR, --questions FILE, --home DIR, --program FILE; without any, the sample stories)
  setup      only the set-up: system packages, UI packages, models
  bindings   write ui/src/lib/ipc/bindings.ts anew from the Rust types";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["run", rest @ ..] => run::run(rest),
        ["test", rest @ ..] => test::test(rest),
        ["bench", rest @ ..] => bench::bench(rest),
        ["quotes", rest @ ..] => {
            quotes::Options::from_args(rest).and_then(|options| quotes::quotes(&options))
        }
        ["setup"] => setup::for_tests(&[]),
        ["bindings"] => run::bindings(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
