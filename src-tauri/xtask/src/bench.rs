//! `cargo xtask bench`: figures in release, as ratios where a peer or a bare limit can run beside.

use anyhow::Result;

use crate::process::{built_example, command, run};
use crate::setup;

pub(crate) fn bench(args: &[&str]) -> Result<()> {
    setup::for_running(&[])?;
    let program = built_example("bench")?;
    run(command(&program.to_string_lossy(), args))
}
