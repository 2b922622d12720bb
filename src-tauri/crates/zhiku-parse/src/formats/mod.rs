//! One module and one line in the list per format. The order is the order of recognition: what carries a signature first,
//! what any text could be last.

mod archive;
mod blocks;
mod code;
mod container;
mod csv;
mod docx;
mod email;
mod epub;
mod html;
mod image;
mod json;
mod markdown;
mod names;
mod odf;
mod old_office;
mod ole;
mod ooxml;
mod pdf;
mod pictures;
mod pptx;
mod protected;
mod reading_order;
mod render;
#[cfg(test)]
mod robustness;
mod rtf;
mod sheet;
mod stretch;
mod subtitles;
mod table;
mod text;
mod whole;
mod xls;
mod xls_extent;
mod xlsx;
mod xml;

use std::path::Path;

use zhiku_core::DocumentKind;

use crate::error::ParseError;
use crate::parser::DocumentParser;

pub(crate) use names::safe_name;
pub(crate) use pdf::library::PDFIUM_VARIABLE;
pub(crate) use pdf::page_failed;
pub(crate) use protected::unlock;
pub use sheet::units::is_hidden_sheet;

/// All formats.
pub fn formats() -> &'static [&'static dyn DocumentParser] {
    &[
        &pdf::Pdf,
        &image::Image,
        &rtf::Rtf,
        &epub::Epub,
        &odf::Odt,
        &odf::Ods,
        &odf::Odp,
        &docx::Docx,
        &pptx::Pptx,
        &xlsx::Xlsx,
        &xls::Xls,
        &old_office::Doc,
        &old_office::Ppt,
        &email::Email,
        &archive::Archive,
        &subtitles::Subtitles,
        &json::Json,
        &html::Html,
        &markdown::Markdown,
        &csv::Csv,
        &code::Code,
        &text::Text,
    ]
}

/// Loads the program library that a format needs, before the worker gives up its access to files.
pub(crate) fn load_library(kind: DocumentKind, pdfium: Option<&Path>) -> Result<(), ParseError> {
    if kind == DocumentKind::Pdf {
        pdf::library::load(pdfium)?;
    }
    Ok(())
}
