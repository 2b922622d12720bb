//! Who may use whom, read from `cargo metadata` and from the sources.
//!
//! The table of crates in `ARCHITECTURE.md` is the rule for edges between our own crates; the foreign crates that only some of
//! them may know are listed here. Dependencies of tests are left out, but for the test doubles, which nothing ships.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

const SHELL: &str = "zhiku-desktop";
const TESTKIT: &str = "zhiku-testkit";

/// What stands outside the table: the shell, and the project's own commands.
const OUTSIDE_THE_TABLE: &[(&str, &[&str])] = &[
    (SHELL, &["zhiku-core", "zhiku-engine"]),
    ("xtask", &["zhiku-core", "zhiku-engine", "zhiku-eval", "zhiku-models"]),
];

/// Foreign crates by the beginning of their names, and the only ones of ours that may depend on them directly.
const FOREIGN: &[(&str, &[&str])] = &[
    ("tauri", &[SHELL]),
    ("wry", &[SHELL]),
    ("specta", &[SHELL]),
    ("rusqlite", &["zhiku-vault"]),
    ("sqlite-vec", &["zhiku-vault"]),
    ("tantivy", &["zhiku-vault"]),
    ("ort", &["zhiku-onnx"]),
    ("reqwest", &["zhiku-llm", "zhiku-models"]),
    ("keyring", &["zhiku-llm"]),
    ("pdfium-render", &["zhiku-parse"]),
    ("tokio", &["zhiku-llm", "zhiku-agent", "zhiku-engine", SHELL]),
];

/// Begins like a name above without being meant by it: the cancellation token needs no runtime.
const FOREIGN_EXCEPTIONS: &[&str] = &["tokio-util"];

/// All that the vocabulary may build on; none of it does I/O.
const CORE_MAY_USE: &[&str] = &[
    "async-trait",
    "futures",
    "serde",
    "serde_json",
    "thiserror",
    "tokio-util",
    "unicode-normalization",
    "uuid",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Declared dependencies only: nothing is resolved, so nothing is fetched.
static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
    MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec().expect("cargo metadata")
});

/// Direct dependencies of what is shipped, on every platform.
fn shipped_dependencies(package: &Package) -> BTreeSet<&str> {
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind != DependencyKind::Development)
        .map(|dependency| dependency.name.as_str())
        .collect()
}

/// Our crates and what each may use, from the table in `ARCHITECTURE.md`.
fn allowed_edges() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, _, may_use, _] = cells.as_slice() else { continue };
        let Some(name) = name.strip_prefix("`zhiku-").and_then(|rest| rest.strip_suffix('`')) else {
            continue;
        };
        let used: BTreeSet<String> = match *may_use {
            "–" => BTreeSet::new(),
            "all of the above" => edges.keys().cloned().collect(),
            list => list.split(',').map(|short| format!("zhiku-{}", short.trim())).collect(),
        };
        edges.insert(format!("zhiku-{name}"), used);
    }
    for (name, used) in OUTSIDE_THE_TABLE {
        edges.insert((*name).to_owned(), used.iter().map(|used| (*used).to_owned()).collect());
    }
    edges
}

#[test]
fn our_crates_use_only_what_the_table_allows() {
    let allowed = allowed_edges();
    let ours: BTreeSet<&str> =
        METADATA.workspace_packages().iter().map(|package| package.name.as_str()).collect();
    let known: BTreeSet<&str> = allowed.keys().map(String::as_str).collect();
    assert_eq!(ours, known, "every crate stands in the table of ARCHITECTURE.md, and nothing else does");
    for used in allowed.values().flatten() {
        assert!(ours.contains(used.as_str()), "the table names {used}, which does not exist");
    }
    let forbidden: Vec<String> = METADATA
        .workspace_packages()
        .iter()
        .flat_map(|package| {
            let may_use = &allowed[package.name.as_str()];
            let used = shipped_dependencies(package).into_iter().filter(|name| ours.contains(name));
            used.filter(|name| !may_use.contains(*name))
                .map(|name| format!("{} → {name}", package.name))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(forbidden.is_empty(), "edges that the table does not allow: {forbidden:?}");
}

#[test]
fn test_doubles_are_never_shipped() {
    let shipped: Vec<&str> = METADATA
        .workspace_packages()
        .iter()
        .filter(|package| shipped_dependencies(package).contains(TESTKIT))
        .map(|package| package.name.as_str())
        .collect();
    assert!(shipped.is_empty(), "{shipped:?} ship {TESTKIT}");
}

#[test]
fn foreign_crates_stay_behind_the_crate_that_wraps_them() {
    let mut leaks = Vec::new();
    for package in METADATA.workspace_packages() {
        for name in shipped_dependencies(package) {
            let rule =
                FOREIGN.iter().find(|(prefix, _)| name == *prefix || name.starts_with(&format!("{prefix}-")));
            let leaks_out = rule.is_some_and(|(_, owners)| !owners.contains(&package.name.as_str()));
            if leaks_out && !FOREIGN_EXCEPTIONS.contains(&name) {
                leaks.push(format!("{} → {name}", package.name));
            }
        }
    }
    assert!(leaks.is_empty(), "{leaks:?}");
}

#[test]
fn the_command_line_builds_without_a_web_view() {
    let tree = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args([
            "tree",
            "--package",
            "zhiku-cli",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .args(["--locked", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo tree");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8_lossy(&tree.stdout);
    let reached: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(reached.contains("zhiku-engine"), "{reached:?}");
    let windows = ["tauri", "wry", "tao", "gtk", "gtk3", "webkit2gtk", "javascriptcore"];
    let is_window =
        |name: &&str| windows.iter().any(|window| name == window || name.starts_with(&format!("{window}-")));
    let found: Vec<&str> = reached.into_iter().filter(is_window).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_vocabulary_does_no_io() {
    let core =
        METADATA.workspace_packages().into_iter().find(|package| package.name.as_str() == "zhiku-core");
    let used = shipped_dependencies(core.expect("zhiku-core"));
    let extra: Vec<&&str> = used.iter().filter(|name| !CORE_MAY_USE.contains(name)).collect();
    assert!(extra.is_empty(), "{extra:?}");
    let io = ["std::fs", "std::net", "std::process", "std::env", "std::io", "println!"];
    let hits = lines_with("src-tauri/crates/zhiku-core/src", &["rs"], |line| {
        io.iter().any(|word| line.contains(word))
    });
    assert!(hits.is_empty(), "{hits:?}");
}

#[test]
fn a_scope_has_one_maker() {
    let literal = |line: &str| {
        let elsewhere = ["struct ", "impl ", "for ", "-> ", "-> &"];
        line.match_indices("Scope {").any(|(at, _)| {
            let before = &line[..at];
            let starts_a_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            starts_a_word && !elsewhere.iter().any(|word| before.ends_with(word))
        })
    };
    let literals = lines_with("src-tauri", &["rs"], literal);
    assert!(literals.is_empty(), "a scope is made by `Vault::scope` alone: {literals:?}");
    let makers = lines_with("src-tauri", &["rs"], |line| {
        line.match_indices("Scope::new(").any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric()))
    });
    assert_eq!(makers.len(), 1, "{makers:?}");
    assert!(makers[0].starts_with("src-tauri/crates/zhiku-vault/src/"), "{makers:?}");
}

#[test]
fn only_the_ipc_folder_calls_the_shell() {
    let calls =
        |line: &str| line.contains("@tauri-apps/") || line.contains("__TAURI") || line.contains("invoke(");
    let hits: Vec<String> = lines_with("ui/src", &["ts", "svelte", "js"], calls)
        .into_iter()
        .filter(|hit| !hit.starts_with("ui/src/lib/ipc/"))
        .collect();
    assert!(hits.is_empty(), "{hits:?}");
}

/// `path:line: text` of every line below `folder` that `matches`, comments left out; paths are relative to the root.
fn lines_with(folder: &str, endings: &[&str], matches: impl Fn(&str) -> bool) -> Vec<String> {
    let mut hits = Vec::new();
    let mut n_files = 0;
    for file in files_below(&root().join(folder), endings) {
        let text = std::fs::read_to_string(&file).expect("readable source");
        let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string().replace('\\', "/");
        n_files += 1;
        for (number, line) in text.lines().enumerate() {
            if !line.trim_start().starts_with("//") && matches(line) {
                hits.push(format!("{shown}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(n_files > 0, "{folder} holds no {endings:?}");
    hits
}

fn files_below(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("readable folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                if !path.ends_with("node_modules") && !path.ends_with("target") {
                    folders.push(path);
                }
            } else if path
                .extension()
                .and_then(|ending| ending.to_str())
                .is_some_and(|ending| endings.contains(&ending))
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
