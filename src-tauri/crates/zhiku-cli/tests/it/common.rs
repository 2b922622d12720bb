//! Running the real program in a home of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Zhiku {
    home: TempDir,
    profile: Option<String>,
}

impl Zhiku {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().expect("temp dir"), profile: None }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Who acts from now on.
    pub(crate) fn act_as(&mut self, profile: &str) {
        self.profile = Some(profile.to_owned());
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zhiku"));
        command.arg("--json").arg("--home").arg(self.home.path());
        if let Some(profile) = &self.profile {
            command.args(["--as", profile]);
        }
        command.args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program starts")
    }

    /// Says what the program printed when it does not succeed.
    pub(crate) fn succeeds(&self, args: &[&str]) {
        let output = self.run(args);
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{args:?}: {}{}", said(&output.stdout), said(&output.stderr));
    }

    /// The one JSON object that a successful command prints.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"))
    }

    /// The JSON object that a failing command prints.
    pub(crate) fn json_error(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?}");
        serde_json::from_slice(&output.stdout).expect("an error is JSON")
    }

    /// The JSON lines that a command prints whose standard input is `input`.
    pub(crate) fn lines_with(&self, args: &[&str], input: &str) -> (Vec<Value>, Option<i32>) {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it listens");
        let output = child.wait_with_output().expect("the program ends");
        json_lines(&output)
    }

    /// The JSON lines that a command prints, whatever its exit code.
    pub(crate) fn lines(&self, args: &[&str]) -> (Vec<Value>, Option<i32>) {
        json_lines(&self.run(args))
    }
}

fn json_lines(output: &Output) -> (Vec<Value>, Option<i32>) {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    (lines, output.status.code())
}

/// A place below the checkout's root.
pub(crate) fn in_root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("checkout").join(path)
}

/// Whether the models are on this machine; says so when a test must be skipped.
pub(crate) fn have_models(test: &str) -> bool {
    let zhiku = Zhiku::new();
    let there = zhiku.run(&["models", "list"]).status.success();
    if !there {
        eprintln!("skipped: {test} (models are missing; run `zhiku models fetch`)");
    }
    there
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
