//! The process in which foreign files are parsed.
//!
//! The parent ([`parse`], [`ask`]) starts its own program again with [`WORKER_ARGUMENT`], hands the file over a pipe and reads
//! frames ([`life`], [`protocol`]). The child ([`child`]) limits itself, gives up the file system ([`sandbox`]) and parses. A crash, an overrun
//! or a silence costs the page that was being read; the parse goes on behind it in a new child.
//!
//! Every program that parses calls [`run_if_asked`] first thing in `main`.

mod ask;
mod child;
mod command;
mod convert;
mod life;
mod parse;
pub(crate) mod protocol;
mod sandbox;

pub use ask::{read_picture, read_pictures, read_unit};
pub use command::{ParseLimits, ParseRequest, WorkerCommand};
pub use parse::parse_file;

/// The first argument that turns a program into a worker.
pub const WORKER_ARGUMENT: &str = "__parse-worker";

/// Becomes a worker, and never returns, if the program was started as one.
pub fn run_if_asked() {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == WORKER_ARGUMENT) {
        std::process::exit(child::run());
    }
}
