//! One look at a watched folder: what is new, changed, moved or gone since the one before. Compared by size and time, so that
//! files that are what they were are not read.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use zhiku_vault::{FileStamp, Scope, SourceFile, Urgency, Vault, VaultError, WatchedFolder};

use crate::import::{Imported, import_path};
use crate::walk::{IgnoreRules, files_below};

/// A file is taken in when it has been left alone for this long: a program may still be writing.
const SETTLED: Duration = Duration::from_secs(2);

/// Files that were not taken in, as they were then: not tried again until they change.
pub(crate) type Refused = HashMap<PathBuf, FileStamp>;

/// What a look brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderLook {
    /// The folder is not there, as when its disk is away: nothing of it counts as gone.
    pub is_missing: bool,
    pub n_queued: usize,
    pub n_moved: usize,
    pub n_gone: usize,
    pub n_refused: usize,
    /// Files that are still being written: look again soon.
    pub n_unsettled: usize,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Changes {
    moved: Vec<(PathBuf, PathBuf)>,
    /// New or changed.
    fresh: Vec<PathBuf>,
    unsettled: usize,
    gone: Vec<PathBuf>,
}

/// Looks at a folder once and takes in what changed. `now_ms` is the time of the file system's clock.
pub fn look_at_folder(
    vault: &Vault,
    scope: &Scope,
    folder: &WatchedFolder,
    now_ms: i64,
) -> Result<FolderLook, VaultError> {
    look(vault, scope, folder, now_ms, &mut Refused::new())
}

pub(crate) fn look(
    vault: &Vault,
    scope: &Scope,
    folder: &WatchedFolder,
    now_ms: i64,
    refused: &mut Refused,
) -> Result<FolderLook, VaultError> {
    let Some(mut found) = files_in(folder) else {
        return Ok(FolderLook { is_missing: true, ..FolderLook::default() });
    };
    // A vault inside the folder is no source of its own documents.
    found.retain(|path, stamp| refused.get(path) != Some(stamp) && !path.starts_with(vault.dir()));
    let known = vault.sources_below(scope, &folder.path)?;
    let changes = compare(&found, &known, now_ms, &|path| path.exists());
    let mut look = FolderLook { n_unsettled: changes.unsettled, ..FolderLook::default() };
    for (from, to) in &changes.moved {
        vault.move_source(scope, from, to)?;
        look.n_moved += 1;
    }
    for path in &changes.fresh {
        match import_path(vault, scope, path, Urgency::Behind)? {
            Imported::Queued(_) => look.n_queued += 1,
            Imported::Unchanged(_) => {}
            Imported::Refused(reason) => {
                tracing::info!(code = reason.code, "a file of a watched folder was not taken in");
                look.n_refused += 1;
                refused.extend(found.get(path).map(|stamp| (path.clone(), stamp.clone())));
            }
        }
    }
    // After what came in: a file with the same bytes elsewhere is then known to be the same document.
    for path in &changes.gone {
        vault.source_gone(scope, path)?;
        look.n_gone += 1;
    }
    Ok(look)
}

/// `None` when the folder is not there or its patterns cannot be understood.
fn files_in(folder: &WatchedFolder) -> Option<BTreeMap<PathBuf, FileStamp>> {
    if !folder.path.is_dir() {
        return None;
    }
    let rules = IgnoreRules::with_patterns(&folder.path, &folder.ignore)
        .inspect_err(|error| tracing::error!(%error, "a watched folder is not looked at"))
        .ok()?;
    let files = files_below(&folder.path, &rules)
        .inspect_err(|error| tracing::warn!(%error, "a watched folder could not be read"))
        .ok()?;
    let stamped = |path: PathBuf| {
        let metadata = std::fs::metadata(&path).ok()?;
        Some((path, FileStamp::of(&metadata)))
    };
    Some(files.into_iter().filter_map(stamped).collect())
}

/// `exists` tells a file that is left out now from one that is gone: its document stays as it is.
fn compare(
    found: &BTreeMap<PathBuf, FileStamp>,
    known: &[SourceFile],
    now_ms: i64,
    exists: &dyn Fn(&Path) -> bool,
) -> Changes {
    let at: HashMap<&Path, &SourceFile> =
        known.iter().map(|source| (source.path.as_path(), source)).collect();
    let away = |source: &&SourceFile| !found.contains_key(&source.path) && !exists(&source.path);
    let mut moved_from: HashMap<&str, &SourceFile> = HashMap::new();
    for source in known.iter().filter(away) {
        if let Some(identity) = source.stamp.as_ref().and_then(|stamp| stamp.identity.as_deref()) {
            moved_from.insert(identity, source);
        }
    }
    let mut changes = Changes::default();
    for (path, stamp) in found {
        let here = at.get(path.as_path()).copied();
        let pair = if here.is_some() {
            None
        } else {
            stamp.identity.as_deref().and_then(|id| moved_from.remove(id))
        };
        if let Some(source) = pair {
            changes.moved.push((source.path.clone(), path.clone()));
        }
        let is_as_it_was = match (here, pair) {
            (Some(source), _) => source.stamp.as_ref() == Some(stamp) && !source.is_missing,
            (None, Some(source)) => source.stamp.as_ref() == Some(stamp),
            (None, None) => false,
        };
        if is_as_it_was {
            continue;
        }
        if is_settled(stamp, now_ms) {
            changes.fresh.push(path.clone());
        } else {
            changes.unsettled += 1;
        }
    }
    let was_moved = |path: &PathBuf| changes.moved.iter().any(|(from, _)| from == path);
    let gone = known.iter().filter(|source| !source.is_missing).filter(away);
    changes.gone = gone.map(|source| source.path.clone()).filter(|path| !was_moved(path)).collect();
    changes
}

/// A time in the future is of a clock that was wrong, not of a program that writes.
fn is_settled(stamp: &FileStamp, now_ms: i64) -> bool {
    (now_ms - stamp.modified_ms).unsigned_abs() >= SETTLED.as_millis() as u64
}

#[cfg(test)]
mod tests {
    use zhiku_core::DocumentId;

    use super::*;

    const NOW: i64 = 1_000_000;

    fn stamp(modified_ms: i64, identity: &str) -> FileStamp {
        FileStamp { bytes: 10, modified_ms, identity: (!identity.is_empty()).then(|| identity.to_owned()) }
    }

    fn source(path: &str, stamp: FileStamp) -> SourceFile {
        SourceFile { document: DocumentId::new(), path: path.into(), stamp: Some(stamp), is_missing: false }
    }

    fn check(found: &[(&str, FileStamp)], known: &[SourceFile]) -> Changes {
        let found = found.iter().map(|(path, stamp)| (PathBuf::from(path), stamp.clone())).collect();
        compare(&found, known, NOW, &|_| false)
    }

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn what_is_as_it_was_is_left_alone() {
        let known = [source("/w/a", stamp(1, "1")), source("/w/b", stamp(1, ""))];
        assert_eq!(check(&[("/w/a", stamp(1, "1")), ("/w/b", stamp(1, ""))], &known), Changes::default());
    }

    #[test]
    fn new_and_changed_files_are_taken_in_once_nobody_writes_them() {
        let known = [source("/w/a", stamp(1, "1"))];
        let found = [
            ("/w/a", stamp(5, "1")),
            ("/w/b", stamp(2, "2")),
            ("/w/half", stamp(NOW - 1_000, "3")),
            ("/w/clock", stamp(NOW + 99_999, "4")),
        ];
        let changes = check(&found, &known);
        assert_eq!((changes.fresh, changes.unsettled), (paths(&["/w/a", "/w/b", "/w/clock"]), 1));
    }

    #[test]
    fn a_moved_file_keeps_its_document_also_when_it_was_changed() {
        let known = [source("/w/a", stamp(1, "1")), source("/w/b", stamp(1, "2"))];
        let changes = check(&[("/w/x/a2", stamp(1, "1")), ("/w/b2", stamp(7, "2"))], &known);
        let expected = vec![("/w/b".into(), "/w/b2".into()), ("/w/a".into(), "/w/x/a2".into())];
        assert_eq!(changes.moved, expected);
        assert_eq!((changes.fresh, changes.gone), (paths(&["/w/b2"]), Vec::new()));
    }

    #[test]
    fn what_is_gone_is_gone_once_and_comes_back_when_it_is_there_again() {
        let known = [source("/w/a", stamp(1, "1"))];
        assert_eq!(check(&[], &known).gone, paths(&["/w/a"]));
        let away = [SourceFile { is_missing: true, ..known[0].clone() }];
        assert_eq!(check(&[], &away), Changes::default());
        assert_eq!(check(&[("/w/a", stamp(1, "1"))], &away).fresh, paths(&["/w/a"]));
    }

    #[test]
    fn a_file_that_is_left_out_now_is_not_gone() {
        let known = [source("/w/a", stamp(1, "1"))];
        assert_eq!(compare(&BTreeMap::new(), &known, NOW, &|_| true), Changes::default());
    }
}
