//! Broken and hostile files never take the parent down: they end in units, warnings or an error that says what is wrong.

use std::time::Duration;

use proptest::prelude::*;
use zhiku_parse::worker::ParseLimits;

use crate::support::{fixture, parse_with, small_pdf, worker};

fn survives(bytes: &[u8], name: &str) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("writes");
    let limits = ParseLimits {
        unit_time: Duration::from_secs(10),
        memory_bytes: 600 * 1024 * 1024,
        restarts: 2,
        ..ParseLimits::default()
    };
    let (summary, document) = parse_with(&worker(), &path, None, &limits);
    match summary {
        Ok(summary) => prop_assert!(summary.page_count.is_none_or(|n| n as usize == document.units.len())),
        Err(err) => prop_assert!(!err.reason().code.is_empty() && !err.hint().is_empty()),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_pdf_never_takes_the_parent_down(changes in proptest::collection::vec((0usize..4096, any::<u8>()), 1..40), cut in 0usize..4096) {
        let mut bytes = small_pdf(2);
        for (at, byte) in changes {
            let n = bytes.len();
            bytes[at % n] = byte;
        }
        bytes.truncate(bytes.len() - cut % (bytes.len() / 2));
        survives(&bytes, "changed.pdf")?;
    }

    #[test]
    fn a_truncated_fixture_never_takes_the_parent_down(keep in 1usize..4000, which in 0usize..3) {
        let name = ["pdf/page_labels.pdf", "pdf/two_columns.pdf", "pdf/rotated.pdf"][which];
        let bytes = std::fs::read(fixture(name)).expect("fixture");
        survives(&bytes[..keep.min(bytes.len())], "cut.pdf")?;
    }
}

#[test]
fn outlines_and_page_trees_that_run_in_circles_end() {
    let text = String::from_utf8(small_pdf(1)).expect("ascii");
    let outline = text.replace(
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Catalog /Pages 2 0 R /Outlines << /First << /Title (x) /Next 1 0 R /First 1 0 R >> >> >>",
    );
    survives(outline.as_bytes(), "outline.pdf").expect("survives");
    let tree = text.replace("/Kids [4 0 R]", "/Kids [2 0 R 2 0 R]");
    survives(tree.as_bytes(), "tree.pdf").expect("survives");
}
