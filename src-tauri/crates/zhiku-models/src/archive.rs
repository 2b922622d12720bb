//! Single files out of wheels (zip) and npm packages (tar, gzip).

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;

/// Writes the member with this path in `package` to `target`.
pub(crate) fn unpack(package: &Path, member: &str, target: &Path) -> io::Result<()> {
    let archive = BufReader::new(File::open(package)?);
    if package.extension().is_some_and(|extension| extension == "tgz") {
        return unpack_tar(archive, member, target);
    }
    let mut archive = zip::ZipArchive::new(archive)?;
    let mut packed = archive.by_name(member)?;
    io::copy(&mut packed, &mut File::create(target)?)?;
    Ok(())
}

fn unpack_tar(archive: impl io::Read, member: &str, target: &Path) -> io::Result<()> {
    for packed in tar::Archive::new(GzDecoder::new(archive)).entries()? {
        let mut packed = packed?;
        if packed.path()? == Path::new(member) && packed.header().entry_type().is_file() {
            io::copy(&mut packed, &mut File::create(target)?)?;
            return Ok(());
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("{member} is not in it")))
}

/// Moves `part` to the end of `target`, which may not exist yet.
pub(crate) fn append(part: &Path, target: &Path) -> io::Result<()> {
    if !target.exists() {
        return fs::rename(part, target);
    }
    io::copy(&mut File::open(part)?, &mut OpenOptions::new().append(true).open(target)?)?;
    fs::remove_file(part)
}
