//! Which files a dropped folder brings.

use std::path::{Path, PathBuf};

/// The files at or below `path`, in name order. Hidden files, office lock files and links are left out: nobody means them.
pub fn files_below(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut pending = vec![path.to_owned()];
    while let Some(dir) = pending.pop() {
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if dir == path => return Err(error),
            // A folder without permission is told like a file; what is beside it is not affected.
            Err(_) => {
                files.push(dir);
                continue;
            }
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || name.starts_with("~$") || kind.is_symlink() {
                continue;
            }
            if kind.is_dir() {
                pending.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_brings_its_files_without_hidden_and_lock_files() {
        let dir = tempfile::tempdir().expect("temp dir");
        for name in ["b.txt", "a/报告.v2.final.pdf", "a/.hidden", "a/~$draft.docx", "📄.md"] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().expect("parent")).expect("create");
            std::fs::write(path, "x").expect("write");
        }
        let files = files_below(dir.path()).expect("walk");
        let names: Vec<_> =
            files.iter().filter_map(|file| file.strip_prefix(dir.path()).ok()?.to_str()).collect();
        assert_eq!(names, ["a/报告.v2.final.pdf", "b.txt", "📄.md"]);
    }
}
