//! Files as they come from broken disks, cut downloads and hasty renaming: each ends in its text or in a reason that a person
//! understands, whatever its format.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use zhiku_core::Process;
use zhiku_parse::ParsedDocument;
use zhiku_parse::worker::ParseLimits;

use crate::support::{fixtures, parse_with, worker};

/// Reasons that tell a person what is wrong with the file.
const CLEAR: &[&str] = &[
    "file_damaged",
    "file_empty",
    "format_unsupported",
    "password_required",
    "parse_limit_exceeded",
    "needs_libreoffice",
];

/// The smallest fixture of each extension.
fn one_of_each_kind() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(fixtures())
        .expect("fixtures")
        .flat_map(|folder| std::fs::read_dir(folder.expect("a folder").path()).expect("folder"))
        .map(|file| file.expect("a file").path())
        .filter(|path| !stem(path).starts_with("password_") && stem(path) != "damaged")
        .collect();
    paths.sort_by_key(|path| (path.metadata().expect("metadata").len(), path.clone()));
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.extension().expect("an extension").to_owned()));
    assert!(paths.len() >= 20, "{paths:?}");
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a stem").to_string_lossy().into_owned()
}

fn has_content(document: &ParsedDocument) -> bool {
    let has_text =
        |unit: &zhiku_core::ParsedUnit| !unit.text.trim().is_empty() || unit.process == Process::Ocr;
    document.units.iter().any(has_text) || !document.children.is_empty()
}

fn check(folder: &Path, name: &str, bytes: &[u8], what: &str) {
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("writes");
    let (summary, document) = parse_with(&worker(), &path, None, &ParseLimits::default());
    match summary {
        Ok(_) => assert!(
            has_content(&document)
                || document.warnings.iter().all(|warning| !warning.code.is_empty())
                    && !document.warnings.is_empty(),
            "{name} {what} is read as nothing and nobody is told"
        ),
        Err(err) => {
            let reason = err.reason();
            assert!(CLEAR.contains(&&*reason.code), "{name} {what}: {err}");
            assert!(!err.hint().is_empty());
        }
    }
    std::fs::remove_file(&path).expect("removes");
}

#[test]
fn a_cut_file_of_any_kind_ends_in_text_or_a_clear_reason() {
    let folder = tempfile::tempdir().expect("folder");
    for path in one_of_each_kind() {
        let (name, bytes) =
            (path.file_name().expect("name").to_string_lossy(), std::fs::read(&path).expect("reads"));
        for (part, keep) in
            [("a third", bytes.len() / 3), ("half", bytes.len() / 2), ("nine tenths", bytes.len() * 9 / 10)]
        {
            check(folder.path(), &name, &bytes[..keep], &format!("cut to {part}"));
        }
    }
}

#[test]
fn a_corrupted_file_of_any_kind_ends_in_text_or_a_clear_reason() {
    let folder = tempfile::tempdir().expect("folder");
    for path in one_of_each_kind() {
        let (name, bytes) =
            (path.file_name().expect("name").to_string_lossy(), std::fs::read(&path).expect("reads"));
        for start in [0, bytes.len() / 4, bytes.len() / 2] {
            let mut broken = bytes.clone();
            // A stretch of flipped bits behind the signature, as a bad sector leaves it.
            for byte in broken.iter_mut().skip(start.max(8)).step_by(5).take(400) {
                *byte ^= 0x5a;
            }
            check(folder.path(), &name, &broken, &format!("with flipped bits from {start} on"));
        }
    }
}

#[test]
fn an_empty_file_of_any_kind_says_that_it_is_empty() {
    let folder = tempfile::tempdir().expect("folder");
    for path in one_of_each_kind() {
        let empty = folder.path().join(path.file_name().expect("name"));
        std::fs::write(&empty, b"").expect("writes");
        let (summary, _) = parse_with(&worker(), &empty, None, &ParseLimits::default());
        assert_eq!(summary.expect_err("refused").reason().code, "file_empty", "{}", empty.display());
    }
}

/// What a signature tells is read as such under any name.
#[test]
fn a_file_under_a_wrong_extension_is_read_as_what_it_is() {
    const SIGNED: &[&str] = &[
        "pdf", "docx", "pptx", "xlsx", "xls", "odt", "ods", "odp", "rtf", "epub", "zip", "png", "tiff", "vtt",
    ];
    let folder = tempfile::tempdir().expect("folder");
    for path in one_of_each_kind() {
        let extension = path.extension().expect("an extension").to_string_lossy().into_owned();
        if !SIGNED.contains(&&*extension) {
            continue;
        }
        let (right, expect) = parse_with(&worker(), &path, None, &ParseLimits::default());
        for wrong in ["txt", "pdf", "docx", "xlsx", "csv", "jpg", "dat"] {
            let renamed = folder.path().join(format!("renamed.{wrong}"));
            std::fs::copy(&path, &renamed).expect("copies");
            let (summary, document) = parse_with(&worker(), &renamed, None, &ParseLimits::default());
            assert_eq!(summary, right, "{} as {wrong}", path.display());
            assert_eq!(document.units, expect.units, "{} as {wrong}", path.display());
        }
    }
}
