//! PDF through PDFium: one unit per page, with the place of every character.
//!
//! The text is built from the characters' places ([`spans`] → [`columns`] → [`lines`] → [`blocks`] → [`compose`]), not from the
//! order in which the file draws them. A page that shows something but has no text to trust (a scan, an invisible layer, a
//! font that does not tell its characters) is an empty unit that awaits recognition, which looks at [`picture`]; of a page of
//! text the pictures come out as files of their own ([`embedded`]).

mod blocks;
mod columns;
mod compose;
mod embedded;
mod glyphs;
mod hidden;
pub(crate) mod library;
mod lines;
mod outline;
mod picture;
mod spans;

use pdfium_render::prelude::{
    PdfDocument, PdfPage, PdfPageObjectType, PdfPageObjectsCommon, PdfiumError, PdfiumInternalError,
};
use zhiku_core::{BBox, DocumentKind, Locator, ParseWarning, ParsedUnit, Process, Trust, UnitKind};

use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};
use crate::picture::SourcePicture;
use embedded::PagePictures;
use outline::Outline;

pub(super) struct Pdf;

/// From this share of characters without a meaning on, a page deserves a warning.
const UNMAPPED_SHARE: f32 = 0.05;
/// From this share on, its text is no text.
const GARBLED_SHARE: f32 = 0.5;

impl DocumentParser for Pdf {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Pdf
    }

    fn sniff(&self, head: &[u8], _name: &str) -> bool {
        // Some producers put bytes before the signature; readers look for it in the first kilobyte.
        head[..head.len().min(1024)].windows(5).any(|window| window == b"%PDF-")
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let document = open(source)?;
        let n_pages = u32::try_from(document.pages().len()).unwrap_or(0);
        if n_pages == 0 {
            return Err(ParseError::Empty { name: source.name.to_owned() });
        }
        sink.page_count(n_pages)?;
        let outline = Outline::of(&document);
        let mut pictures = PagePictures::default();
        for index in source.start_unit..n_pages {
            sink.unit_started(index)?;
            match read_page(&document, index, Some(&outline)) {
                Ok(page) => {
                    for warning in page.warnings {
                        sink.warning(warning)?;
                    }
                    let text = page.unit.layout.clone().filter(|_| !page.unit.text.is_empty());
                    sink.unit(page.unit)?;
                    if let Some(layout) = text
                        && let Ok(page) = page_at(&document, index)
                    {
                        pictures.send(&page, index, &layout.lines, sink)?;
                    }
                }
                Err(err) => {
                    let (unit, warning) = page_failed(index, &err.to_string());
                    sink.warning(warning)?;
                    sink.unit(unit)?;
                }
            }
        }
        pictures.finish(sink)?;
        Ok(ParsedSummary { kind: DocumentKind::Pdf, page_count: Some(n_pages) })
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        let no_such =
            || ParseError::NoSuchPlace { name: source.name.to_owned(), place: format!("{locator:?}") };
        let Locator::Page { page_index, .. } = locator else { return Err(no_such()) };
        let document = open(source)?;
        read_page(&document, *page_index, None).map(|page| page.unit.text).map_err(|_| no_such())
    }

    fn picture(&self, source: &Source<'_>, place: &Locator) -> Result<SourcePicture, ParseError> {
        let no_such =
            || ParseError::NoSuchPlace { name: source.name.to_owned(), place: format!("{place:?}") };
        let Locator::Page { page_index, .. } = place else { return Err(no_such()) };
        let document = open(source)?;
        let page = page_at(&document, *page_index).map_err(|_| no_such())?;
        picture::draw(&page, picture::FOR_RECOGNITION).map_err(|err| {
            ParseError::damaged(source.name, format!("page {} cannot be drawn: {err}", page_index + 1))
        })
    }
}

/// What stands in for a page that could not be read; also used by the worker's parent when the page took the worker down.
pub(crate) fn page_failed(page_index: u32, detail: &str) -> (ParsedUnit, ParseWarning) {
    let locator = Locator::Page { page_index, page_label: (page_index + 1).to_string(), boxes: Vec::new() };
    let warning = ParseWarning {
        locator: Some(locator.clone()),
        message: format!("could not read page {}: {detail}", page_index + 1),
        code: "page_failed".to_owned(),
    };
    let unit = ParsedUnit {
        kind: UnitKind::Page,
        locator,
        text: String::new(),
        process: Process::Text,
        trust: Trust::Normal,
        heading_path: Vec::new(),
        layout: None,
        confidence: None,
        timing: Vec::new(),
    };
    (unit, warning)
}

fn open<'a>(source: &Source<'a>) -> Result<PdfDocument<'a>, ParseError> {
    let pdfium = library::load(None)?;
    pdfium.load_pdf_from_byte_slice(source.bytes, source.password).map_err(|err| {
        let name = source.name.to_owned();
        match err {
            PdfiumError::PdfiumLibraryInternalError(PdfiumInternalError::PasswordError)
                if source.password.is_some() =>
            {
                ParseError::WrongPassword { name }
            }
            PdfiumError::PdfiumLibraryInternalError(PdfiumInternalError::PasswordError) => {
                ParseError::PasswordRequired { name }
            }
            PdfiumError::PdfiumLibraryInternalError(PdfiumInternalError::SecurityError) => {
                ParseError::Unsupported { name, detail: "PDF with an unknown encryption".to_owned() }
            }
            PdfiumError::PdfiumLibraryInternalError(PdfiumInternalError::FormatError) => {
                ParseError::damaged(source.name, "its structure cannot be read")
            }
            other => ParseError::damaged(source.name, other),
        }
    })
}

fn page_at<'a>(document: &PdfDocument<'a>, index: u32) -> Result<PdfPage<'a>, PdfiumError> {
    document.pages().get(i32::try_from(index).map_err(|_| PdfiumError::PageIndexOutOfBounds)?)
}

/// Whether anything but text is drawn on the page.
fn shows_something(page: &PdfPage<'_>) -> bool {
    page.objects().iter().any(|object| {
        matches!(
            object.object_type(),
            PdfPageObjectType::Image
                | PdfPageObjectType::Path
                | PdfPageObjectType::Shading
                | PdfPageObjectType::XObjectForm
        )
    })
}

struct ReadPage {
    unit: ParsedUnit,
    warnings: Vec<ParseWarning>,
}

fn read_page(
    document: &PdfDocument<'_>,
    index: u32,
    outline: Option<&Outline>,
) -> Result<ReadPage, PdfiumError> {
    let page = page_at(document, index)?;
    let text = page.text()?;
    let found = glyphs::read_glyphs(&page, &text);
    let (n_all, n_unmapped) = (found.glyphs.len(), found.n_unmapped);
    let seen = hidden::separate(&page, found.glyphs, found.page_size);
    let is_garbled = n_unmapped as f32 > GARBLED_SHARE * n_all as f32;
    let is_unread = seen.glyphs.is_empty() || seen.trust == Trust::HiddenText;
    let awaits_recognition = is_garbled || (is_unread && shows_something(&page));
    let glyphs = if awaits_recognition { &[][..] } else { &seen.glyphs[..] };
    let composed = compose::compose(glyphs, found.page_size);
    let label = page.label().map(str::trim).filter(|label| !label.is_empty());
    let page_label = label.map_or_else(|| (index + 1).to_string(), str::to_owned);
    let area = composed.layout.lines.iter().map(|line| line.bbox).reduce(BBox::union);
    let locator = Locator::Page { page_index: index, page_label, boxes: area.into_iter().collect() };
    let mut warnings = Vec::new();
    let mut warn = |code: &str, message: String| {
        warnings.push(ParseWarning { locator: Some(locator.clone()), message, code: code.to_owned() });
    };
    if composed.text.is_empty() && !awaits_recognition {
        warn("no_text", format!("page {} has no text", index + 1));
    }
    if n_unmapped as f32 > UNMAPPED_SHARE * n_all as f32 {
        warn(
            "bad_characters",
            format!(
                "the font of page {} does not tell which characters {n_unmapped} of {n_all} are",
                index + 1
            ),
        );
    }
    if seen.n_left_out > 0 {
        warn(
            "hidden_text",
            format!(
                "page {} holds {} characters that it does not show; they were left out",
                index + 1,
                seen.n_left_out
            ),
        );
    }
    if seen.trust == Trust::HiddenText {
        warn("hidden_text", format!("page {} does not show its text", index + 1));
    }
    if found.truncated {
        warn("page_truncated", format!("page {} has more characters than are read", index + 1));
    }
    let unit = ParsedUnit {
        kind: UnitKind::Page,
        text: composed.text,
        process: if awaits_recognition { Process::Ocr } else { Process::Text },
        // What is recognised is what a reader sees.
        trust: if awaits_recognition { Trust::Normal } else { seen.trust },
        heading_path: outline.map(|outline| outline.path_at(index, found.page_size[1])).unwrap_or_default(),
        layout: Some(composed.layout),
        confidence: None,
        timing: Vec::new(),
        locator,
    };
    Ok(ReadPage { unit, warnings })
}
