//! Every file in `fixtures/documents/<format>/`, as it is parsed. A new file needs nothing but its snapshot.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;
use zhiku_core::Locator;
use zhiku_parse::ParsedDocument;
use zhiku_parse::worker::{ParseLimits, ParseRequest, read_unit};

use crate::support::{fixtures, parse_with, worker};

/// All fixtures with the name of their format's folder.
fn files() -> Vec<(String, PathBuf)> {
    let sorted = |folder: &Path| {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("entry").path()).collect();
        paths.sort();
        paths
    };
    let mut files = Vec::new();
    for folder in sorted(&fixtures()).into_iter().filter(|path| path.is_dir()) {
        let format = folder.file_name().expect("name").to_string_lossy().into_owned();
        files.extend(
            sorted(&folder).into_iter().filter(|path| path.is_file()).map(|path| (format.clone(), path)),
        );
    }
    assert!(!files.is_empty());
    files
}

/// A fixture named `password_X.ext` opens with `X`.
fn password(path: &Path) -> Option<String> {
    path.file_stem()?.to_str()?.strip_prefix("password_").map(str::to_owned)
}

fn render(document: &ParsedDocument) -> String {
    let mut out = String::new();
    let json = |value: &zhiku_core::Locator| serde_json::to_string(value).expect("json");
    writeln!(out, "pages: {:?}", document.page_count).expect("writes");
    for warning in &document.warnings {
        writeln!(out, "warning {}: {}", warning.code, warning.message).expect("writes");
    }
    for unit in &document.units {
        let path = unit.heading_path.join(" > ");
        writeln!(out, "--- {} {} [{path}] {:?}", unit.kind.as_str(), json(&unit.locator), unit.trust)
            .expect("writes");
        writeln!(out, "{}", unit.text).expect("writes");
    }
    out
}

#[test]
fn each_fixture_is_parsed_as_recorded() {
    for (format, path) in files() {
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let (plain, mut document) = parse_with(&worker(), &path, None, &ParseLimits::default());
        let mut text = String::new();
        if let Err(err) = plain {
            writeln!(text, "error {}: {err} ({})", err.code().as_str(), err.hint()).expect("writes");
            if let Some(password) = password(&path) {
                let (opened, content) =
                    parse_with(&worker(), &path, Some(&password), &ParseLimits::default());
                opened.expect("the password opens it");
                document = content;
            }
        }
        text.push_str(&render(&document));
        insta::with_settings!({ snapshot_suffix => format!("{format}/{name}").replace('/', "__"), omit_expression => true }, {
            insta::assert_snapshot!("fixture", text);
        });
    }
}

#[test]
fn reading_again_at_a_locator_gives_the_units_text() {
    let cancel = CancellationToken::new();
    for (_, path) in files() {
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let password = password(&path);
        let (_, document) = parse_with(&worker(), &path, password.as_deref(), &ParseLimits::default());
        let request = ParseRequest { name: &name, password: password.as_deref(), start_unit: 0 };
        for unit in &document.units {
            let again =
                read_unit(&worker(), &path, &request, &unit.locator, &ParseLimits::default(), &cancel);
            assert_eq!(again.as_deref(), Ok(unit.text.as_str()), "{name} at {:?}", unit.locator);
        }
    }
}

#[test]
fn every_line_of_a_layout_is_a_line_of_the_text() {
    for (_, path) in files() {
        let password = password(&path);
        let (_, document) = parse_with(&worker(), &path, password.as_deref(), &ParseLimits::default());
        for unit in &document.units {
            let Some(layout) = &unit.layout else { continue };
            let from_layout: Vec<String> = layout
                .lines
                .iter()
                .map(|line| {
                    unit.text
                        .chars()
                        .skip(line.char_start as usize)
                        .take((line.char_end - line.char_start) as usize)
                        .collect()
                })
                .collect();
            if matches!(unit.locator, Locator::Cells { .. }) {
                // Rows are lines here and cells have places; a repeated header has none.
                let whole = |text: &String| unit.text.lines().any(|line| line == text);
                let in_row = |text: &String| unit.text.contains(&format!("| {text} |"));
                let placed = from_layout.iter().filter(|text| !text.is_empty());
                assert!(placed.clone().count() > 0, "{}", path.display());
                assert!(placed.clone().all(|text| whole(text) || in_row(text)), "{from_layout:?}");
                continue;
            }
            let lines: Vec<&str> = unit.text.lines().filter(|line| !line.is_empty()).collect();
            assert_eq!(from_layout, lines, "{}", path.display());
        }
    }
}
