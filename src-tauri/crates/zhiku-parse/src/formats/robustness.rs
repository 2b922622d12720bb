//! Every fixture that needs no program library: each unit reads again as itself, and no damage makes a parser panic.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use zhiku_core::Process;

use crate::detect::detect;
use crate::parser::{ParsedDocument, Source};

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures");
    let mut folders = vec![root.join("stories/renovation"), root.join("stories/travel")];
    folders.extend(
        [
            "docx",
            "markdown",
            "html",
            "text",
            "csv",
            "pptx",
            "xlsx",
            "xls",
            "odt",
            "ods",
            "odp",
            "rtf",
            "epub",
            "json",
            "code",
            "subtitles",
            "email",
            "archive",
            "image",
        ]
        .map(|format| root.join("documents").join(format)),
    );
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| {
            std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("an entry").path())
        })
        // Each unit is read again: long files would take long.
        .filter(|path| path.file_stem().is_some_and(|stem| stem != "long"))
        // Opened by the worker before a parser sees them.
        .filter(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("password_")))
        .filter(|path| path.is_file() && path.extension().is_none_or(|extension| extension != "pdf"))
        .collect();
    paths.sort();
    assert!(paths.len() > 15);
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read(path).expect("bytes"))).collect()
}

/// Parses and reads every unit again.
fn parse(bytes: &[u8], name: &str) -> Option<ParsedDocument> {
    let source = Source::new(bytes, name);
    let parser = detect(bytes, name).ok()?;
    let mut document = ParsedDocument::default();
    parser.parse(&source, &mut document).ok()?;
    for unit in &document.units {
        assert_eq!(
            parser.read_at(&source, &unit.locator).as_ref(),
            Ok(&unit.text),
            "{name}: {:?}",
            unit.locator
        );
        assert!(unit.process == Process::Ocr || !unit.text.trim().is_empty());
    }
    Some(document)
}

#[test]
fn every_unit_of_every_fixture_reads_again_as_itself() {
    for (name, bytes) in fixtures() {
        let document = parse(&bytes, &name).unwrap_or_else(|| panic!("{name} is not read"));
        assert!(
            !document.units.is_empty()
                && document.warnings.iter().all(|warning| warning.code.ends_with("_hidden")),
            "{name}: {:?}",
            document.warnings
        );
    }
}

#[test]
fn truncated_files_and_wrong_extensions_are_refused_or_read() {
    for (name, bytes) in fixtures() {
        for eighth in 0..8 {
            parse(&bytes[..bytes.len() * eighth / 8], &name);
        }
        for extension in ["docx", "html", "md", "csv", "txt", "pdf", "xyz", ""] {
            parse(&bytes, &format!("renamed.{extension}"));
        }
        parse(&vec![0; bytes.len()], &name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_never_panic(
        pick in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..24),
    ) {
        let fixtures = fixtures();
        let (name, mut bytes) = fixtures[pick.index(fixtures.len())].clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        parse(&bytes, &name);
    }

    #[test]
    fn shuffled_markup_never_panics(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<p>", "</p>", "<table>", "</table>", "<tr>", "<td colspan=3>", "<th rowspan=4>", "</td>", "<ul>", "</ol>", "<ol start=-5>", "<li>",
            "<h2>", "</h2>", "<pre>", "</pre>", "<caption>", "<br>", "<nav>", "<dl><dt>", "&amp", "&#0;", "text ", "字", "\n", "\n\n",
            "# ", "- ", "1. ", "|", "| --- |\n", "```\n", "> ", "[^1]", "[^1]: ", "**", "---\n", "![", "](", "<!--", "\"", ";", "\t", ",",
            "    ", "第一章 ", "1.2 A", "\\",
        ]), 0..60),
    ) {
        let text = pieces.concat();
        for name in ["a.html", "a.md", "a.csv", "a.txt"] {
            parse(text.as_bytes(), name);
        }
    }
}
