//! `cargo xtask bench`: figures in release, as ratios where a peer or a bare limit can run beside.

use anyhow::{Context, Result, bail};

use crate::process::{built_example, command, root, run};
use crate::python::{cache_dir, environment};
use crate::setup;

pub(crate) fn bench(args: &[&str]) -> Result<()> {
    setup::for_running(&[])?;
    match args {
        ["formats"] => formats(),
        ["formats", ..] => bail!("cargo xtask bench formats takes no arguments"),
        _ => run(command(&built_example("bench")?.to_string_lossy(), args)),
    }
}

/// The reading of each format beside a Python pipeline, on files that are made for it.
fn formats() -> Result<()> {
    let peers = root().join("src-tauri/xtask/peers");
    let python = environment(&peers.join("requirements.txt"))?.to_string_lossy().into_owned();
    let folder = cache_dir()?.join("bench-formats");
    let script = |name: &str| peers.join(name).to_string_lossy().into_owned();
    let place = folder.to_string_lossy().into_owned();
    let scans = root().join("fixtures/scans");
    let recordings = setup::recordings();
    let mut make = command(&python, &[&script("make_files.py"), &place, &scans.to_string_lossy()]);
    make.args(recordings.map(|recordings| recordings.join("talk.wav")));
    run(make)?;
    let program = built_example("formats")?;
    let out = root().join("docs/bench-formats.md");
    std::fs::create_dir_all(root().join("docs")).context("could not make the folder docs")?;
    let args = ["beside", &python, &script("read_files.py"), &place, &out.to_string_lossy()];
    run(command(&program.to_string_lossy(), &args))
}
