//! `cargo xtask test`: every check and test, in the order in which a failure is cheapest to find.

use anyhow::{Result, bail};

use crate::process::{built, cargo, command, root, run, succeeds};
use crate::quotes;
use crate::setup::{self, in_dir};

/// Crash and fault hooks are compiled in for tests only.
pub(crate) const TEST_FEATURES: [&str; 3] =
    ["zhiku-vault/fault-injection", "zhiku-parse/fault-injection", "zhiku-cli/fault-injection"];

pub(crate) fn test(args: &[&str]) -> Result<()> {
    if !args.is_empty() {
        bail!("cargo xtask test takes no arguments; use cargo test for a part");
    }
    let features = TEST_FEATURES.join(",");
    setup::for_tests(&TEST_FEATURES)?;
    run(cargo(&["fmt", "--all", "--check"]))?;
    licences()?;
    ui_checks()?;
    run(cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--features",
        &features,
        "--",
        "--deny",
        "warnings",
    ]))?;
    // A failure of one crate does not hide those of others.
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast", "--features", &features]);
    // Hearing ten minutes takes minutes, so those tests run where they are told the folder.
    tests.envs(setup::recordings().map(|folder| ("ZHIKU_RECORDINGS", folder)));
    run(tests)?;
    quotes::quotes(&quotes::Options::stories())?;
    window()
}

fn licences() -> Result<()> {
    run(cargo(&["deny", "check", "licenses", "bans", "sources"]))?;
    if succeeds(cargo(&["deny", "check", "advisories"])) {
        eprintln!("advisories: none");
    } else if succeeds(cargo(&["deny", "fetch", "db"])) {
        bail!("cargo deny found an advisory; run `cargo deny check advisories`");
    } else {
        eprintln!("skipped: advisories (the advisory database cannot be reached from here)");
    }
    Ok(())
}

fn ui_checks() -> Result<()> {
    let ui = root().join("ui");
    run(in_dir(&ui, "npm", &["run", "--silent", "check"]))?;
    run(in_dir(&ui, "npm", &["run", "--silent", "test"]))
}

/// The real window through WebDriver, on a display of its own.
fn window() -> Result<()> {
    if !["xvfb-run", "dbus-run-session", "WebKitWebDriver"]
        .iter()
        .all(|tool| succeeds(command("which", &[tool])))
    {
        eprintln!("skipped: the window under test (needs xvfb-run, dbus-run-session and WebKitWebDriver)");
        return Ok(());
    }
    built("zhiku-desktop", &TEST_FEATURES)?;
    built("zhiku", &TEST_FEATURES)?;
    run(in_dir(&root().join("tests/e2e"), "npm", &["test", "--silent"]))
}
