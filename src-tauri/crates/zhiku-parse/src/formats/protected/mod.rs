//! Office documents that are protected by a password, after [MS-OFFCRYPTO]: [`agile`] encryption (Office 2010 and later) and
//! [`standard`] encryption (Office 2007). Both put the encrypted package into a compound file beside a description of how
//! the key is made from the password.
//!
//! Deliberately absent: old binary files (RC4), rights management, and the check of the package's authentication code: the
//! package is a ZIP file, which has checksums of its own.

mod agile;
mod cipher;
mod standard;

use std::io::{Cursor, Read};

use super::ole;
use crate::error::ParseError;

const PACKAGE: &str = "/EncryptedPackage";
const INFO: &str = "/EncryptionInfo";
/// A description is some hundred bytes.
const MAX_INFO_BYTES: u64 = 1024 * 1024;

/// Why a package does not open.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    WrongPassword,
    /// How it is encrypted.
    Unknown(String),
    Damaged(&'static str),
}

/// The document within, where `bytes` are a protected one; all other files as they are.
pub(crate) fn unlock(bytes: Vec<u8>, name: &str, password: Option<&str>) -> Result<Vec<u8>, ParseError> {
    if !ole::is_ole(&bytes) {
        return Ok(bytes);
    }
    // What is no sound compound file is told by the parser of its format.
    let Ok(mut file) = cfb::CompoundFile::open(Cursor::new(bytes.as_slice())) else { return Ok(bytes) };
    if !file.is_stream(PACKAGE) {
        return Ok(bytes);
    }
    let Some(password) = password else {
        return Err(ParseError::PasswordRequired { name: name.to_owned() });
    };
    let opened = stream(&mut file, INFO, MAX_INFO_BYTES).and_then(|info| {
        let package = stream(&mut file, PACKAGE, bytes.len() as u64)?;
        open(&info, package, password)
    });
    opened.map_err(|refusal| match refusal {
        Refusal::WrongPassword => ParseError::WrongPassword { name: name.to_owned() },
        Refusal::Unknown(how) => {
            ParseError::Unsupported { name: name.to_owned(), detail: format!("Office ({how} encryption)") }
        }
        Refusal::Damaged(detail) => ParseError::damaged(name, detail),
    })
}

fn stream(file: &mut cfb::CompoundFile<Cursor<&[u8]>>, path: &str, most: u64) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let read = file.open_stream(path).and_then(|stream| stream.take(most).read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|_| Refusal::Damaged("its encrypted content cannot be read"))
}

fn open(info: &[u8], package: Vec<u8>, password: &str) -> Result<Vec<u8>, Refusal> {
    let (version, description) =
        info.split_first_chunk::<8>().ok_or(Refusal::Damaged("its encryption is not described"))?;
    let [major, minor] = [[version[0], version[1]], [version[2], version[3]]].map(u16::from_le_bytes);
    let password: Vec<u8> = password.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (size, mut package) = sized(package)?;
    match (major, minor) {
        (4, 4) => agile::decrypt(description, &mut package, &password)?,
        (2..=4, 2) => standard::decrypt(description, &mut package, &password)?,
        _ => return Err(Refusal::Unknown(format!("version {major}.{minor}"))),
    }
    package.truncate(size);
    Ok(package)
}

/// The size that the package says it has, and the whole blocks behind it.
fn sized(mut package: Vec<u8>) -> Result<(usize, Vec<u8>), Refusal> {
    let cut = Refusal::Damaged("its encrypted content is cut off");
    let Some(size) = package.first_chunk::<8>().copied().map(u64::from_le_bytes) else { return Err(cut) };
    package.drain(..8);
    package.truncate(package.len() / cipher::BLOCK * cipher::BLOCK);
    match usize::try_from(size) {
        Ok(size) if size <= package.len() => Ok((size, package)),
        _ => Err(cut),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn fixture(path: &str) -> Vec<u8> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/documents");
        std::fs::read(root.join(path)).expect("fixture")
    }

    fn check(path: &str, password: &str) {
        let bytes = fixture(path);
        let name = || "a".to_owned();
        let needed = unlock(bytes.clone(), "a", None);
        assert_eq!(needed, Err(ParseError::PasswordRequired { name: name() }));
        for wrong in ["", "Sesame", "sesame ", "芝麻开门"] {
            let refused = unlock(bytes.clone(), "a", Some(wrong));
            assert_eq!(refused, Err(ParseError::WrongPassword { name: name() }), "{path} with {wrong:?}");
        }
        let opened = unlock(bytes, "a", Some(password)).expect("opens");
        // The checksums of the ZIP file prove every byte of it.
        let mut archive = zip::ZipArchive::new(Cursor::new(opened)).expect("a package");
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).expect("an entry");
            std::io::copy(&mut entry, &mut std::io::sink()).expect("its bytes");
        }
    }

    #[test]
    fn the_right_password_opens_a_document_and_no_other_does() {
        check("docx/password_芝麻.docx", "芝麻");
        check("xlsx/password_sesame.xlsx", "sesame");
        check("pptx/password_sesame.pptx", "sesame");
    }

    #[test]
    fn what_is_not_protected_stays_as_it_is() {
        for bytes in [fixture("xls/prices.xls"), fixture("docx/nested_list.docx"), Vec::new()] {
            assert_eq!(unlock(bytes.clone(), "a", Some("sesame")).expect("unchanged"), bytes);
        }
    }

    #[test]
    fn a_cut_or_changed_description_is_a_reason() {
        let mut file =
            cfb::CompoundFile::open(Cursor::new(fixture("docx/password_芝麻.docx"))).expect("opens");
        let mut info = Vec::new();
        file.open_stream(INFO).expect("a stream").read_to_end(&mut info).expect("its bytes");
        for keep in [0, 7, 8, 40, info.len() / 2] {
            assert!(open(&info[..keep], vec![0; 64], "芝麻").is_err());
        }
        let text = String::from_utf8_lossy(&info[8..]).into_owned();
        let changed = |from: &str, to: &str| {
            let text = text.replace(from, to);
            assert!(text.contains(to), "{text}");
            open(&[&info[..8], text.as_bytes()].concat(), vec![0; 64], "芝麻").expect_err("refused")
        };
        assert_eq!(changed("SHA512", "MD4"), Refusal::Unknown("MD4".to_owned()));
        assert_eq!(
            changed("ChainingModeCBC", "ChainingModeCFB"),
            Refusal::Unknown("ChainingModeCFB".to_owned())
        );
        assert!(matches!(changed("spinCount=\"100000\"", "spinCount=\"4000000000\""), Refusal::Damaged(_)));
        assert!(matches!(changed("keyBits=\"256\"", "keyBits=\"77\""), Refusal::Damaged(_)));
    }
}
