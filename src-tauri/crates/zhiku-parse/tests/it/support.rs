//! What the tests share: the worker program, PDFium, the fixtures.

use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;
use zhiku_parse::worker::{ParseLimits, ParseRequest, WorkerCommand, parse_file};
use zhiku_parse::{ParseError, ParsedDocument, ParsedSummary};

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/documents")
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    fixtures().join(name)
}

pub(crate) fn worker() -> WorkerCommand {
    WorkerCommand::new(env!("CARGO_BIN_EXE_zhiku-parse-worker")).with_pdfium(pdfium())
}

/// Where set-up puts PDFium, unless `ZHIKU_PDFIUM` or `ZHIKU_MODELS` say otherwise.
fn pdfium() -> PathBuf {
    if let Some(path) = std::env::var_os("ZHIKU_PDFIUM") {
        return path.into();
    }
    let models = std::env::var_os("ZHIKU_MODELS").map(PathBuf::from).or_else(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        cache
            .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
            .map(|dir| dir.join("zhiku/models"))
    });
    let found = models.and_then(|models| {
        let folders = std::fs::read_dir(models).ok()?;
        folders.flatten().map(|folder| folder.path().join("libpdfium.so")).find(|path| path.is_file())
    });
    found.expect("PDFium is not there: run `cargo xtask setup`, or point ZHIKU_PDFIUM to libpdfium.so")
}

pub(crate) fn parse_with(
    worker: &WorkerCommand,
    path: &Path,
    password: Option<&str>,
    limits: &ParseLimits,
) -> (Result<ParsedSummary, ParseError>, ParsedDocument) {
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let request = ParseRequest { name: &name, password, start_unit: 0 };
    let mut document = ParsedDocument::default();
    let summary = parse_file(worker, path, &request, limits, &CancellationToken::new(), &mut document);
    (summary, document)
}

pub(crate) fn parse(path: &Path) -> ParsedDocument {
    let (summary, document) = parse_with(&worker(), path, None, &ParseLimits::default());
    summary.expect("parses");
    document
}

/// A PDF with one short line on each page, made by hand.
pub(crate) fn small_pdf(n_pages: usize) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!(
            "<< /Type /Pages /Count {n_pages} /Kids [{}] >>",
            (0..n_pages).map(|n| format!("{} 0 R", 4 + 2 * n)).collect::<Vec<_>>().join(" ")
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for page in 0..n_pages {
        let content = format!("BT /F1 12 Tf 72 700 Td (This is page number {}.) Tj ET", page + 1);
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * page
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        out.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", n + 1).as_bytes());
    }
    let xref = out.len();
    out.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for offset in offsets {
        out.extend_from_slice(format!("{offset:010} 00000 n \n").as_bytes());
    }
    let trailer =
        format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n", objects.len() + 1);
    out.extend_from_slice(trailer.as_bytes());
    out
}
