//! Watched folders, one look after the other: nothing is read that did not change, moved files keep their documents, gone ones
//! are marked, and what is written to meanwhile is taken in when it is whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use zhiku_ingest::{FolderLook, FolderWatch, Imported, import_path, look_at_folder};
use zhiku_vault::{DocumentFilter, Urgency, WatchedFolder};

use crate::support::{World, idle_machine, missing};

const HOUR: Duration = Duration::from_hours(1);

struct Watched {
    world: World,
    folder: WatchedFolder,
}

impl Watched {
    fn new(ignore: &[&str]) -> Self {
        let world = World::new();
        let path = world.dir.path().join("papers");
        std::fs::create_dir(&path).expect("create");
        let ignore: Vec<String> = ignore.iter().map(|pattern| (*pattern).to_owned()).collect();
        world.vault.watch_folder(&world.scope, &path, &ignore).expect("watched");
        let folder = world.vault.watched_folders(&world.scope).expect("folders").remove(0);
        Self { world, folder }
    }

    /// A file that was written an hour ago.
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.world.file(&format!("papers/{name}"), text);
        set_age(&path, HOUR);
        path
    }

    fn look(&self) -> FolderLook {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time after 1970");
        look_at_folder(&self.world.vault, &self.world.scope, &self.folder, now.as_millis() as i64)
            .expect("look")
    }

    /// Title, version, whether the file is gone.
    fn documents(&self) -> Vec<(String, u32, bool)> {
        let filter = DocumentFilter::default();
        let listed = self.world.vault.list_documents(&self.world.scope, &filter).expect("list");
        let mut rows: Vec<_> =
            listed.into_iter().map(|row| (row.title, row.newest.0, row.source_missing)).collect();
        rows.sort();
        rows
    }
}

fn set_age(path: &Path, age: Duration) {
    let file = std::fs::File::options().write(true).open(path).expect("open");
    file.set_modified(SystemTime::now() - age).expect("set time");
}

fn named(rows: &[(&str, u32, bool)]) -> Vec<(String, u32, bool)> {
    rows.iter().map(|(title, version, gone)| ((*title).to_owned(), *version, *gone)).collect()
}

#[test]
fn a_look_takes_in_what_is_new_and_the_next_one_finds_nothing_to_do() {
    let watched = Watched::new(&["*.log", "/drafts/"]);
    for name in ["a.txt", "deep/b.md", "c.log", "drafts/d.txt", "~$e.docx", ".hidden.txt", "f.txt.part"] {
        watched.file(name, name);
    }
    assert_eq!(watched.look(), FolderLook { n_queued: 2, ..FolderLook::default() });
    assert_eq!(watched.documents(), named(&[("a", 1, false), ("b", 1, false)]));
    assert_eq!(watched.look(), FolderLook::default());
}

#[test]
fn a_changed_file_becomes_a_version_when_it_is_left_alone() {
    let watched = Watched::new(&[]);
    let path = watched.file("a.txt", "one");
    watched.look();
    std::fs::write(&path, "half of tw").expect("write");
    assert_eq!(watched.look(), FolderLook { n_unsettled: 1, ..FolderLook::default() });
    std::fs::write(&path, "half of two, and the other half").expect("write");
    set_age(&path, HOUR / 2);
    assert_eq!(watched.look().n_queued, 1);
    assert_eq!(watched.documents(), named(&[("a", 2, false)]));
}

#[test]
fn moved_and_renamed_files_keep_their_documents() {
    let watched = Watched::new(&[]);
    let (a, b) = (watched.file("a.txt", "one"), watched.file("b.txt", "two"));
    watched.look();
    std::fs::create_dir(watched.folder.path.join("deep")).expect("create");
    std::fs::rename(&a, watched.folder.path.join("deep/a2.txt")).expect("move");
    // A move to where the file system gives it another identity: known by its bytes.
    std::fs::copy(&b, watched.folder.path.join("b2.txt")).expect("copy");
    set_age(&watched.folder.path.join("b2.txt"), HOUR);
    std::fs::remove_file(&b).expect("remove");
    watched.look();
    assert_eq!(watched.documents(), named(&[("a", 1, false), ("b", 1, false)]));
    assert_eq!(watched.look(), FolderLook::default());
    std::fs::write(watched.folder.path.join("deep/a2.txt"), "one, amended").expect("write");
    set_age(&watched.folder.path.join("deep/a2.txt"), HOUR / 2);
    watched.look();
    assert_eq!(watched.documents(), named(&[("a", 2, false), ("b", 1, false)]));
}

#[test]
fn a_gone_file_marks_its_document_and_a_gone_folder_none() {
    let watched = Watched::new(&[]);
    let path = watched.file("a.txt", "one");
    watched.file("b.txt", "two");
    watched.look();
    std::fs::remove_file(&path).expect("remove");
    assert_eq!(watched.look(), FolderLook { n_gone: 1, ..FolderLook::default() });
    assert_eq!(watched.documents(), named(&[("a", 1, true), ("b", 1, false)]));
    watched.file("a.txt", "one");
    watched.look();
    assert_eq!(watched.documents(), named(&[("a", 1, false), ("b", 1, false)]));
    std::fs::rename(&watched.folder.path, watched.world.dir.path().join("unplugged")).expect("move");
    assert_eq!(watched.look(), FolderLook { is_missing: true, ..FolderLook::default() });
    assert_eq!(watched.documents(), named(&[("a", 1, false), ("b", 1, false)]));
}

#[test]
fn the_watch_takes_in_what_appears_without_being_asked() {
    let watched = Watched::new(&[]);
    let (world, folder) = (&watched.world, &watched.folder.path);
    let pipeline = world.start(Arc::new(|| Err(missing("embedding"))), Arc::new(idle_machine));
    pipeline.pause().expect("paused");
    let scope = world.scope.clone();
    let watch =
        FolderWatch::start(world.vault.clone(), Arc::new(move || Ok(scope.clone())), pipeline.waker());
    let watch = watch.expect("watch");
    // Written elsewhere and moved in, so that it appears whole.
    let path = world.file("a.txt", "words");
    set_age(&path, HOUR);
    std::fs::rename(&path, folder.join("a.txt")).expect("move");
    while watched.documents().is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(watched.documents(), named(&[("a", 1, false)]));
    drop(watch);
    let queued = world.vault.open_jobs(&world.scope, 10).expect("jobs");
    assert_eq!(queued.iter().map(|job| job.priority).collect::<Vec<_>>(), [10], "watched files come last");
}

#[test]
fn a_file_that_goes_away_during_its_import_leaves_nothing() {
    let world = World::new();
    let refused = import_path(&world.vault, &world.scope, &world.dir.path().join("gone.txt"), Urgency::First);
    assert!(matches!(refused, Ok(Imported::Refused(reason)) if reason.code == "file_unreadable"));
    // Taken into the store and given up again, as when the file is found gone after it was read.
    let path = world.file("here.txt", "words");
    let object = world.vault.put_object(&path).expect("put");
    world.vault.drop_object(&object).expect("dropped");
    let objects = world.vault.dir().join("objects");
    let files = std::fs::read_dir(objects).expect("list").flatten();
    let left: usize = files.map(|folder| std::fs::read_dir(folder.path()).map_or(1, Iterator::count)).sum();
    assert_eq!(left, 0);
    assert!(world.vault.list_documents(&world.scope, &DocumentFilter::default()).expect("list").is_empty());
}
