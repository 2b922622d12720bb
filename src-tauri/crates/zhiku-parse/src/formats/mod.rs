//! One module and one line in the list per format. The order is the order of recognition: what carries a signature first,
//! what any text could be last.

mod blocks;
mod csv;
mod docx;
mod html;
mod markdown;
mod pdf;
#[cfg(test)]
mod robustness;
mod table;
mod text;
mod whole;

use std::path::Path;

use zhiku_core::DocumentKind;

use crate::error::ParseError;
use crate::parser::DocumentParser;

pub(crate) use pdf::library::PDFIUM_VARIABLE;
pub(crate) use pdf::page_failed;

/// All formats.
pub fn formats() -> &'static [&'static dyn DocumentParser] {
    &[&pdf::Pdf, &docx::Docx, &html::Html, &markdown::Markdown, &csv::Csv, &text::Text]
}

/// Loads the program library that a format needs, before the worker gives up its access to files.
pub(crate) fn load_library(kind: DocumentKind, pdfium: Option<&Path>) -> Result<(), ParseError> {
    if kind == DocumentKind::Pdf {
        pdf::library::load(pdfium)?;
    }
    Ok(())
}
