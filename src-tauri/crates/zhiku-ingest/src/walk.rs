//! Which files a folder brings: not what is hidden, temporary, locked or a link, and not what a person leaves out.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Folders of programs, in which nothing is written for people.
const TOOL_FOLDERS: &[&str] = &["node_modules", "__pycache__", "$RECYCLE.BIN", "System Volume Information"];
/// Files that systems leave everywhere.
const SYSTEM_FILES: &[&str] = &["thumbs.db", "desktop.ini", "ehthumbs.db"];
/// Half a download, half a save, a lock.
const UNFINISHED: &[&str] =
    &["tmp", "temp", "part", "partial", "crdownload", "download", "lock", "lck", "swp", "swo", "bak~"];

/// What is left out of a folder.
#[derive(Clone, Debug)]
pub struct IgnoreRules {
    own: Gitignore,
}

/// A pattern that cannot be understood.
#[derive(Clone, Debug, thiserror::Error)]
#[error("could not understand the pattern {pattern}: {detail}")]
pub struct IgnoreError {
    pub pattern: String,
    pub detail: String,
}

impl IgnoreRules {
    /// What every folder leaves out.
    pub fn standard() -> Self {
        Self { own: Gitignore::empty() }
    }

    /// That, and what `patterns` say: as in `.gitignore`, from `folder` on.
    pub fn with_patterns(folder: &Path, patterns: &[String]) -> Result<Self, IgnoreError> {
        let mut builder = GitignoreBuilder::new(folder);
        let wrong = |pattern: &str, error: &ignore::Error| IgnoreError {
            pattern: pattern.to_owned(),
            detail: error.to_string(),
        };
        for pattern in patterns {
            builder.add_line(None, pattern).map_err(|error| wrong(pattern, &error))?;
        }
        Ok(Self { own: builder.build().map_err(|error| wrong(&patterns.join(" "), &error))? })
    }

    /// Whether an entry below the folder is left out, and all below it.
    pub fn leaves_out(&self, path: &Path, is_dir: bool) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        is_of_no_use(&name, is_dir) || self.own.matched(path, is_dir).is_ignore()
    }
}

fn is_of_no_use(name: &str, is_dir: bool) -> bool {
    if name.starts_with('.') {
        return true;
    }
    if is_dir {
        return TOOL_FOLDERS.contains(&name);
    }
    let lower = name.to_lowercase();
    let extension = lower.rsplit_once('.').map(|(_, extension)| extension);
    // `~$` and `.~lock.` are the locks of office programs, a last `~` the copy that editors leave.
    name.starts_with("~$")
        || name.ends_with('~')
        || SYSTEM_FILES.contains(&lower.as_str())
        || extension.is_some_and(|extension| UNFINISHED.contains(&extension))
}

/// The files at or below `path`, in name order. A file that is named itself is never left out.
pub fn files_below(path: &Path, rules: &IgnoreRules) -> std::io::Result<Vec<PathBuf>> {
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
            if kind.is_symlink() || rules.leaves_out(&entry.path(), kind.is_dir()) {
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

    fn below(names: &[&str], patterns: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().expect("temp dir");
        for name in names {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().expect("parent")).expect("create");
            std::fs::write(path, "x").expect("write");
        }
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let rules = IgnoreRules::with_patterns(dir.path(), &patterns).expect("rules");
        let files = files_below(dir.path(), &rules).expect("walk");
        files
            .iter()
            .filter_map(|file| Some(file.strip_prefix(dir.path()).ok()?.to_str()?.to_owned()))
            .collect()
    }

    #[test]
    fn a_folder_brings_its_files_without_hidden_locked_and_unfinished_ones() {
        let names = [
            "b.txt",
            "a/报告.v2.final.pdf",
            "a/.hidden",
            "a/~$draft.docx",
            "📄.md",
            ".git/config",
            "web/node_modules/x/readme.md",
            "film.mp4.part",
            "notes.txt~",
            "Thumbs.db",
            "save.TMP",
        ];
        assert_eq!(below(&names, &[]), ["a/报告.v2.final.pdf", "b.txt", "📄.md"]);
    }

    #[test]
    fn patterns_leave_out_as_in_gitignore() {
        let names = ["a/x.log", "a/keep.log", "archive/old.pdf", "b/archive/old.pdf", "b/new.pdf"];
        let left = below(&names, &["*.log", "!keep.log", "/archive/"]);
        assert_eq!(left, ["a/keep.log", "b/archive/old.pdf", "b/new.pdf"]);
    }
}
