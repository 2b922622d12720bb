//! What a page that takes the worker down costs: that page.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use zhiku_core::{ErrorCode, ParseWarning, ParsedUnit};
use zhiku_parse::worker::{ParseLimits, ParseRequest, WorkerCommand, parse_file};
use zhiku_parse::{ParseError, ParsedDocument, UnitSink};

use crate::support::{fixture, parse_with, small_pdf, worker};

fn pdf_file(n_pages: usize) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".pdf").tempfile().expect("temporary file");
    std::fs::write(file.path(), small_pdf(n_pages)).expect("writes");
    file
}

/// The texts of the pages and the codes of the warnings with their pages.
fn check(fault: &str, limits: &ParseLimits, expect_texts: &[&str], expect_warnings: &[&str]) {
    let file = pdf_file(4);
    let (summary, document) = parse_with(&worker().with_fault(fault), file.path(), None, limits);
    assert_eq!(summary.map(|summary| summary.page_count), Ok(Some(4)));
    let texts: Vec<&str> = document.units.iter().map(|unit| unit.text.as_str()).collect();
    assert_eq!(texts, expect_texts);
    let warnings: Vec<&str> = document.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(warnings.len(), expect_warnings.len(), "{warnings:?}");
    for (warning, start) in warnings.iter().zip(expect_warnings) {
        assert!(warning.starts_with(start), "{warning}");
    }
}

const PAGES: [&str; 4] =
    ["This is page number 1.", "This is page number 2.", "This is page number 3.", "This is page number 4."];

#[test]
fn a_page_that_crashes_the_worker_costs_that_page() {
    let limits = ParseLimits::default();
    check(
        "abort:1",
        &limits,
        &[PAGES[0], "", PAGES[2], PAGES[3]],
        &["could not read page 2: it ended with signal: 6"],
    );
    check(
        "abort:0,abort:3",
        &limits,
        &["", PAGES[1], PAGES[2], ""],
        &["could not read page 1:", "could not read page 4:"],
    );
}

#[test]
fn a_page_that_eats_memory_costs_that_page() {
    let limits = ParseLimits { memory_bytes: 400 * 1024 * 1024, ..ParseLimits::default() };
    check(
        "eat:2",
        &limits,
        &[PAGES[0], PAGES[1], "", PAGES[3]],
        &["could not read page 3: it needs more memory than allowed"],
    );
}

#[test]
fn a_page_that_never_ends_costs_that_page() {
    let limits = ParseLimits { unit_time: Duration::from_millis(1500), ..ParseLimits::default() };
    check(
        "spin:2",
        &limits,
        &[PAGES[0], PAGES[1], "", PAGES[3]],
        &["could not read page 3: it takes more time than allowed"],
    );
}

#[test]
fn a_file_that_crashes_the_worker_again_and_again_is_given_up() {
    let file = pdf_file(4);
    let limits = ParseLimits { restarts: 1, ..ParseLimits::default() };
    let (summary, _) =
        parse_with(&worker().with_fault("abort:0,abort:1,abort:2"), file.path(), None, &limits);
    assert!(matches!(summary, Err(ParseError::LimitExceeded { what, .. }) if what == "restarts"));
}

/// Cancels when the second page has begun.
struct CancelAtSecond<'a> {
    cancel: &'a CancellationToken,
    cancelled_at: Option<Instant>,
}

impl UnitSink for CancelAtSecond<'_> {
    fn page_count(&mut self, _n_pages: u32) -> Result<(), ParseError> {
        Ok(())
    }

    fn unit_started(&mut self, index: u32) -> Result<(), ParseError> {
        if index == 1 {
            self.cancel.cancel();
            self.cancelled_at = Some(Instant::now());
        }
        Ok(())
    }

    fn unit(&mut self, _unit: ParsedUnit) -> Result<(), ParseError> {
        Ok(())
    }

    fn warning(&mut self, _warning: ParseWarning) -> Result<(), ParseError> {
        Ok(())
    }
}

#[test]
fn cancelling_ends_a_parse_that_never_ends() {
    let file = pdf_file(3);
    let cancel = CancellationToken::new();
    let mut sink = CancelAtSecond { cancel: &cancel, cancelled_at: None };
    let request = ParseRequest { name: "a.pdf", password: None, start_unit: 0 };
    let worker = worker().with_fault("spin:1");
    let outcome = parse_file(&worker, file.path(), &request, &ParseLimits::default(), &cancel, &mut sink);
    assert_eq!(outcome, Err(ParseError::Cancelled { name: "a.pdf".to_owned() }));
    let took = sink.cancelled_at.expect("was reached").elapsed();
    assert!(took < Duration::from_millis(500), "{took:?}");
}

#[test]
fn an_interrupted_parse_goes_on_at_any_unit() {
    let file = pdf_file(4);
    let mut document = ParsedDocument::default();
    let request = ParseRequest { name: "a.pdf", password: None, start_unit: 2 };
    parse_file(
        &worker(),
        file.path(),
        &request,
        &ParseLimits::default(),
        &CancellationToken::new(),
        &mut document,
    )
    .expect("parses");
    assert_eq!(document.units.iter().map(|unit| unit.text.as_str()).collect::<Vec<_>>(), PAGES[2..]);
}

fn check_error(
    path: &Path,
    worker: &WorkerCommand,
    limits: &ParseLimits,
    password: Option<&str>,
    code: ErrorCode,
    reason: &str,
) {
    let (summary, _) = parse_with(worker, path, password, limits);
    let err = summary.expect_err("fails");
    assert_eq!((err.code(), err.reason().code.as_str()), (code, reason), "{err}");
}

#[test]
fn failures_say_what_is_wrong() {
    let limits = ParseLimits::default();
    let locked = fixture("pdf/password_sesame.pdf");
    check_error(&locked, &worker(), &limits, None, ErrorCode::PasswordRequired, "password_required");
    check_error(&locked, &worker(), &limits, Some("open"), ErrorCode::PasswordRequired, "wrong_password");
    check_error(
        &fixture("pdf/damaged.pdf"),
        &worker(),
        &limits,
        None,
        ErrorCode::DamagedFile,
        "file_damaged",
    );
    let empty = tempfile::NamedTempFile::new().expect("temporary file");
    check_error(empty.path(), &worker(), &limits, None, ErrorCode::DamagedFile, "file_empty");
    let small = ParseLimits { file_bytes: 100, ..limits };
    check_error(&locked, &worker(), &small, None, ErrorCode::InvalidInput, "file_too_large");
    let no_library = worker().with_pdfium("/nonexistent/libpdfium.so");
    check_error(
        &fixture("pdf/price_table.pdf"),
        &no_library,
        &limits,
        None,
        ErrorCode::ModelMissing,
        "library_missing",
    );
    let no_program = WorkerCommand::new("/nonexistent/zhiku");
    check_error(
        &fixture("pdf/price_table.pdf"),
        &no_program,
        &limits,
        None,
        ErrorCode::Internal,
        "io_failed",
    );
}

#[test]
fn content_counts_more_than_the_extension() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, small_pdf(1)).expect("writes");
    let (summary, document) = parse_with(&worker(), &path, None, &ParseLimits::default());
    assert_eq!(summary.map(|summary| summary.kind), Ok(zhiku_core::DocumentKind::Pdf));
    assert_eq!(document.units[0].text, PAGES[0]);
}
