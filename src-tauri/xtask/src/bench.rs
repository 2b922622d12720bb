//! `cargo xtask bench`: figures in release, as ratios where a peer or a bare limit can run beside.

use anyhow::Result;

use crate::process::{cargo, run};
use crate::setup;

pub(crate) fn bench(args: &[&str]) -> Result<()> {
    setup::for_running(&[])?;
    let mut words = vec!["run", "--release", "--package", "zhiku-engine", "--example", "bench", "--"];
    words.extend_from_slice(args);
    run(cargo(&words))
}
