//! `cargo xtask run`: the application, or where no window can open, the same job through the command line.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::process::{built, cargo, command, root, run as run_command};
use crate::setup;

pub(crate) fn run(args: &[&str]) -> Result<()> {
    setup::for_running(&[])?;
    if has_display() {
        let window = built("zhiku-desktop", &[])?;
        return run_command(command(&window.to_string_lossy(), args));
    }
    eprintln!(
        "\nThere is no display (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can open.\n\
         Showing the same job through the command line, on the sample documents."
    );
    demonstrate()
}

pub(crate) fn bindings() -> Result<()> {
    let mut test = cargo(&["test", "--package", "zhiku-desktop", "--lib", "bindings"]);
    test.env("ZHIKU_WRITE_BINDINGS", "1");
    run_command(test)
}

fn has_display() -> bool {
    cfg!(not(target_os = "linux"))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn demonstrate() -> Result<()> {
    let program = built("zhiku", &[])?;
    let home: PathBuf = std::env::temp_dir().join(format!("zhiku-demo-{}", std::process::id()));
    let zhiku = |args: &[&str]| {
        let mut shown = command(&program.to_string_lossy(), &["--home", &home.to_string_lossy()]);
        shown.args(args);
        run_command(shown)
    };
    let stories = root().join("fixtures/stories");
    let files = [
        "travel/Travel Policy.pdf",
        "travel/Expense Handbook.md",
        "renovation/案例-海棠A户型.docx",
        "renovation/售后服务规定.pdf",
        "renovation/材料与供应商表.csv",
    ];
    let paths: Vec<String> =
        files.iter().map(|file| stories.join(file).to_string_lossy().into_owned()).collect();
    let import: Vec<&str> = std::iter::once("import").chain(paths.iter().map(String::as_str)).collect();
    zhiku(&import)?;
    zhiku(&["list"])?;
    zhiku(&["ask", "海棠A户型的卫生间用了什么防水材料？由谁供应？"])?;
    zhiku(&[
        "ask",
        "What is the hotel limit per night in Berlin, and how many days do I have to file the claim?",
    ])?;
    std::fs::remove_dir_all(&home).with_context(|| format!("could not remove {}", home.display()))
}
