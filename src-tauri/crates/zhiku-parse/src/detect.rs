//! Which format a file is of: its content decides, its extension only where content cannot.

use crate::error::ParseError;
use crate::formats::formats;
use crate::parser::DocumentParser;

/// How much of a file recognition looks at.
pub const HEAD_BYTES: usize = 256 * 1024;

/// The parser for a file that starts with `head`.
pub fn detect(head: &[u8], name: &str) -> Result<&'static dyn DocumentParser, ParseError> {
    if head.is_empty() {
        return Err(ParseError::Empty { name: name.to_owned() });
    }
    let head = &head[..head.len().min(HEAD_BYTES)];
    if let Some(parser) = formats().iter().find(|parser| parser.sniff(head, name)) {
        return Ok(*parser);
    }
    Err(ParseError::Unsupported { name: name.to_owned(), detail: describe(head, name) })
}

/// What an unsupported file seems to be, for the message.
fn describe(head: &[u8], name: &str) -> String {
    signature(head).map_or_else(|| extension(name).unwrap_or_else(|| "binary".to_owned()), str::to_owned)
}

/// The lower-case extension of a file name.
pub fn extension(name: &str) -> Option<String> {
    let (stem, extension) = name.rsplit_once('.')?;
    let plausible =
        !stem.is_empty() && (1..=12).contains(&extension.len()) && !extension.contains(['/', '\\', ' ']);
    plausible.then(|| extension.to_lowercase())
}

fn signature(head: &[u8]) -> Option<&'static str> {
    const SIGNATURES: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "PNG image"),
        (b"\xff\xd8\xff", "JPEG image"),
        (b"GIF8", "GIF image"),
        (b"II*\0", "TIFF image"),
        (b"MM\0*", "TIFF image"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office (before 2007)"),
        (b"Rar!", "RAR archive"),
        (b"7z\xbc\xaf\x27\x1c", "7z archive"),
        (b"\x1f\x8b", "gzip"),
        (b"\x7fELF", "program"),
        (b"MZ", "program"),
        (b"ID3", "MP3 audio"),
        (b"OggS", "Ogg media"),
        (b"fLaC", "FLAC audio"),
        (b"\x1aE\xdf\xa3", "Matroska video"),
        (b"SQLite format 3\0", "SQLite database"),
        (b"{\\rtf", "RTF"),
    ];
    if let Some((_, what)) = SIGNATURES.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(what);
    }
    if head.get(4..8) == Some(b"ftyp") {
        return Some("MP4 media");
    }
    if head.starts_with(b"RIFF") {
        return Some("RIFF media");
    }
    head.starts_with(b"PK").then(|| zip_content(head))
}

fn zip_content(head: &[u8]) -> &'static str {
    const CONTENTS: &[(&[u8], &str)] = &[
        (b"application/epub+zip", "EPUB"),
        (b"application/vnd.oasis.opendocument", "OpenDocument"),
        (b"xl/", "Excel"),
        (b"ppt/", "PowerPoint"),
    ];
    CONTENTS
        .iter()
        .find(|(mark, _)| head.windows(mark.len()).any(|window| window == *mark))
        .map_or("ZIP archive", |(_, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &[u8], name: &str, expect: &str) {
        let found =
            detect(head, name).map_or_else(|err| err.to_string(), |parser| parser.kind().as_str().to_owned());
        assert_eq!(found, expect);
    }

    #[test]
    fn unsupported_content_is_named() {
        check(b"", "a.pdf", "could not read a.pdf: the file is empty");
        check(b"Rar!\x1a\x07", "a.pdf", "could not read a.pdf: RAR archive files are not supported");
        check(
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0",
            "a.docx",
            "could not read a.docx: old Office (before 2007) files are not supported",
        );
    }

    #[test]
    fn content_counts_more_than_the_extension() {
        check(b"PK\x03\x04....xl/workbook.xml", "a.docx", "xlsx");
        check(b"PK\x03\x04....ppt/presentation.xml", "a.docx", "pptx");
        check(b"{\\rtf1 x}", "a.doc", "rtf");
        check(b"WEBVTT\n\n", "a.txt", "subtitles");
        check(b"%PDF-1.7", "a.json", "pdf");
        check(b"fn main() {}", "a.rs", "code");
    }

    #[test]
    fn extensions_are_the_part_behind_the_last_dot() {
        assert_eq!(extension("a.b.PDF").as_deref(), Some("pdf"));
        assert_eq!(extension("README"), None);
        assert_eq!(extension(".gitignore"), None);
        assert_eq!(extension("v2.1 final"), None);
    }
}
