//! `cargo xtask run`: the application, or where no window can open, the same job through the command line.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::process::{cargo, root, run as run_command};
use crate::setup;

pub(crate) fn run(args: &[&str]) -> Result<()> {
    setup::for_running()?;
    if has_display() {
        let mut words = vec!["run", "--package", "zhiku-desktop", "--"];
        words.extend_from_slice(args);
        return run_command(cargo(&words));
    }
    eprintln!(
        "\nThere is no display (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can open.\n\
         Showing the same job through the command line, on the sample documents."
    );
    demonstrate()
}

pub(crate) fn bindings() -> Result<()> {
    let mut command = cargo(&["test", "--package", "zhiku-desktop", "--lib", "bindings"]);
    command.env("ZHIKU_WRITE_BINDINGS", "1");
    run_command(command)
}

fn has_display() -> bool {
    cfg!(not(target_os = "linux"))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn demonstrate() -> Result<()> {
    let home: PathBuf = std::env::temp_dir().join(format!("zhiku-demo-{}", std::process::id()));
    let zhiku = |args: &[&str]| {
        let mut words = vec!["run", "--quiet", "--package", "zhiku-cli", "--bin", "zhiku", "--", "--home"];
        let home = home.to_string_lossy();
        words.push(&home);
        words.extend_from_slice(args);
        run_command(cargo(&words))
    };
    let stories = root().join("fixtures/stories");
    zhiku(&[
        "import",
        &stories.join("renovation").to_string_lossy(),
        &stories.join("travel").to_string_lossy(),
    ])?;
    zhiku(&["list"])?;
    zhiku(&["ask", "海棠 A 户型用了哪种防水材料？由谁供应？"])?;
    zhiku(&[
        "ask",
        "What is the hotel limit per night in Berlin, and how many days do I have to file the claim?",
    ])?;
    std::fs::remove_dir_all(&home).with_context(|| format!("could not remove {}", home.display()))
}
