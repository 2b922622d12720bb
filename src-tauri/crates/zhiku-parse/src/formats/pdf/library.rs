//! The PDFium library, bound once per process.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use pdfium_render::prelude::Pdfium;

use crate::error::{Library, ParseError};

static LIBRARY: OnceLock<Pdfium> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// The environment variable that names the PDFium library when nobody else does.
pub(crate) const PDFIUM_VARIABLE: &str = "ZHIKU_PDFIUM";

/// Loads PDFium from `path`, or from where [`PDFIUM_VARIABLE`] points, unless it is loaded already.
pub(crate) fn load(path: Option<&Path>) -> Result<&'static Pdfium, ParseError> {
    if let Some(pdfium) = LIBRARY.get() {
        return Ok(pdfium);
    }
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pdfium) = LIBRARY.get() {
        return Ok(pdfium);
    }
    let missing = |detail: String| ParseError::LibraryMissing { library: Library::Pdfium, detail };
    let path = path
        .map(Path::to_owned)
        .or_else(|| std::env::var_os(PDFIUM_VARIABLE).map(PathBuf::from))
        .ok_or_else(|| missing(format!("no path was given and {PDFIUM_VARIABLE} is not set")))?;
    if !path.is_file() {
        return Err(missing(format!("there is no file {}", path.display())));
    }
    let bindings =
        Pdfium::bind_to_library(&path).map_err(|err| missing(format!("{}: {err}", path.display())))?;
    Ok(LIBRARY.get_or_init(|| Pdfium::new(bindings)))
}
