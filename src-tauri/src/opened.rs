//! Originals opened in other programs: a read-only copy under its own name, in a folder of the application that is emptied at
//! every start and whenever a document is removed, so that no copy outlives its document for long.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;
use zhiku_core::{DocumentId, DocumentKind, VersionNumber};
use zhiku_engine::Session;

use crate::ipc::error::IpcError;

fn folder(session: &Session) -> PathBuf {
    session.engine().home_dir().join("opened")
}

/// Copies a version's original out and opens it in the system's program for it.
pub(crate) fn open(session: &Session, document: DocumentId, version: VersionNumber) -> Result<(), IpcError> {
    let mut original = session.original(document, version)?;
    let view = session.source(document, version)?;
    let path = copy_out(&folder(session), &file_name(&view.title, view.kind), &mut original.file)
        .map_err(|error| IpcError::environment("copy the original", &error))?;
    open::that_detached(path).map_err(|error| IpcError::environment("open the original", &error))
}

/// Removes all copies; what another program still holds goes at the next start.
pub(crate) fn clear(session: &Session) {
    if let Err(error) = fs::remove_dir_all(folder(session))
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "copies of opened originals could not be removed");
    }
}

fn copy_out(folder: &Path, name: &str, original: &mut File) -> io::Result<PathBuf> {
    let dir = folder.join(Uuid::now_v7().simple().to_string());
    fs::create_dir_all(&dir)?;
    let path = dir.join(name);
    io::copy(original, &mut File::create(&path)?)?;
    let mut permissions = fs::metadata(&path)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions)?;
    Ok(path)
}

/// The title as a file name with the extension that other programs expect.
fn file_name(title: &str, kind: DocumentKind) -> String {
    let extensions = kind.extensions();
    let safe: String = title
        .chars()
        .map(
            |character| {
                if character.is_control() || "/\\:*?\"<>|".contains(character) { '_' } else { character }
            },
        )
        .take(120)
        .collect();
    let safe = safe.trim_matches([' ', '.']);
    let lower = safe.to_lowercase();
    if extensions.iter().any(|extension| lower.ends_with(&format!(".{extension}"))) {
        return safe.to_owned();
    }
    let safe = if safe.is_empty() { "document" } else { safe };
    extensions.first().map_or_else(|| safe.to_owned(), |extension| format!("{safe}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_becomes_a_file_name_that_stays_in_its_folder() {
        let cases = [
            ("售后服务规定", DocumentKind::Pdf, "售后服务规定.pdf"),
            ("Policy.PDF", DocumentKind::Pdf, "Policy.PDF"),
            ("../../etc/passwd", DocumentKind::Text, "_.._etc_passwd.txt"),
            ("", DocumentKind::Markdown, "document.md"),
        ];
        for (title, kind, expected) in cases {
            assert_eq!(file_name(title, kind), expected);
        }
    }
}
