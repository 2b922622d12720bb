//! Originals, stored once by the sha256 of their bytes: `objects/ab/cdef…`. What is larger than [`COPY_LIMIT_BYTES`] stays
//! where it is and is known by path and hash.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, named_params, params};
use sha2::{Digest, Sha256 as Hasher};
use zhiku_core::{DocumentId, VersionNumber};

use crate::error::{Result, VaultError};
use crate::failpoint::failpoint;
use crate::principal::Scope;
use crate::records::{ObjectState, Sha256, StoredObject, VersionRef};
use crate::vault::{AccessMode, Vault};
use crate::visibility::VISIBLE;

/// Originals up to this size are copied into the vault.
const COPY_LIMIT_BYTES: u64 = 200 * 1024 * 1024;
const BUFFER_BYTES: usize = 256 * 1024;

/// An original, open for reading.
#[derive(Debug)]
pub struct ObjectFile {
    pub file: File,
    pub bytes: u64,
    pub hash: Sha256,
}

pub(crate) struct ObjectStore {
    dir: PathBuf,
    /// Objects that were written and have no version yet, with the number of imports that hold each: nobody may clean
    /// them away.
    held: Mutex<HashMap<Sha256, u32>>,
}

impl ObjectStore {
    pub(crate) fn open(dir: &Path, mode: AccessMode) -> Result<Self> {
        if mode == AccessMode::Owner {
            std::fs::create_dir_all(dir).map_err(VaultError::io(dir))?;
        }
        Ok(Self { dir: dir.to_owned(), held: Mutex::default() })
    }

    fn path(&self, hash: &Sha256) -> PathBuf {
        let name = hex(hash);
        self.dir.join(&name[..2]).join(&name[2..])
    }

    /// Hashes and copies in one pass; a file that is there already is not written again.
    fn put(&self, source: &Path, copy_limit: u64) -> Result<StoredObject> {
        let mut input = File::open(source).map_err(VaultError::io(source))?;
        let expected = input.metadata().map_err(VaultError::io(source))?.len();
        if expected > copy_limit {
            let (hash, bytes) = copy(&mut input, &mut std::io::sink()).map_err(VaultError::io(source))?;
            let path = std::path::absolute(source).map_err(VaultError::io(source))?;
            return Ok(StoredObject { hash, bytes, referenced_path: Some(path) });
        }
        let mut temporary = tempfile::Builder::new()
            .prefix("incoming-")
            .tempfile_in(&self.dir)
            .map_err(VaultError::io(&self.dir))?;
        let (hash, bytes) = copy(&mut input, temporary.as_file_mut()).map_err(VaultError::io(source))?;
        self.hold(hash);
        let target = self.path(&hash);
        if !target.is_file() {
            temporary.as_file().sync_all().map_err(VaultError::io(&target))?;
            failpoint("object_written");
            let folder = target.parent().unwrap_or(&self.dir);
            std::fs::create_dir_all(folder).map_err(VaultError::io(folder))?;
            temporary
                .persist(&target)
                .map_err(|error| VaultError::Io { path: target.clone(), source: error.error })?;
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(VaultError::io(folder))?;
            failpoint("object_renamed");
        }
        Ok(StoredObject { hash, bytes, referenced_path: None })
    }

    fn hold(&self, hash: Sha256) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner).entry(hash).or_default() += 1;
    }

    /// The version exists now, or the import was given up.
    pub(crate) fn release(&self, hash: &Sha256) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = held.get_mut(hash) {
            *count -= 1;
            if *count == 0 {
                held.remove(hash);
            }
        }
    }

    /// The objects on disk that no version names and no import holds.
    pub(crate) fn orphans(&self, db: &Connection) -> Result<Vec<PathBuf>> {
        let mut statement = db.prepare("SELECT DISTINCT hash FROM versions WHERE referenced_path IS NULL")?;
        let mut known: HashSet<Sha256> =
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        known.extend(self.held.lock().unwrap_or_else(PoisonError::into_inner).keys());
        let known: HashSet<PathBuf> = known.iter().map(|hash| self.path(hash)).collect();
        let mut orphans = Vec::new();
        for folder in entries(&self.dir)?.into_iter().filter(|path| path.is_dir()) {
            orphans.extend(entries(&folder)?.into_iter().filter(|path| !known.contains(path)));
        }
        Ok(orphans)
    }

    /// Half-written files of a process that was killed. Only before the first import of this process.
    pub(crate) fn remove_incoming(&self) -> Result<()> {
        for path in entries(&self.dir)?.into_iter().filter(|path| path.is_file()) {
            std::fs::remove_file(&path).map_err(VaultError::io(&path))?;
        }
        Ok(())
    }

    /// Deletes an object unless an import holds it; says whether it did.
    pub(crate) fn remove(&self, path: &Path) -> Result<bool> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.keys().any(|hash| self.path(hash) == path) {
            return Ok(false);
        }
        match std::fs::remove_file(path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(VaultError::Io { path: path.to_owned(), source }),
        }
    }

    pub(crate) fn path_of(&self, hash: &Sha256) -> PathBuf {
        self.path(hash)
    }
}

impl Vault {
    /// Takes a file's bytes into the vault, or their hash when they are too many to copy. Follow with
    /// [`Vault::register_source`]; what never gets a version is cleaned away at the next opening.
    pub fn put_object(&self, source: &Path) -> Result<StoredObject> {
        if self.mode() == AccessMode::ReadOnly {
            return Err(VaultError::ReadOnly);
        }
        self.objects().put(source, COPY_LIMIT_BYTES)
    }

    /// [`Vault::put_object`] for bytes that are no file; they are always copied.
    pub fn put_bytes(&self, bytes: &[u8]) -> Result<StoredObject> {
        if self.mode() == AccessMode::ReadOnly {
            return Err(VaultError::ReadOnly);
        }
        let dir = self.dir();
        let mut file = tempfile::NamedTempFile::new_in(dir).map_err(VaultError::io(dir))?;
        file.write_all(bytes).map_err(VaultError::io(dir))?;
        self.objects().put(file.path(), u64::MAX)
    }

    /// Gives up what [`Vault::put_object`] took in: its bytes go, unless a version or another import has them.
    pub fn drop_object(&self, object: &StoredObject) -> Result<()> {
        if object.referenced_path.is_some() {
            return Ok(());
        }
        self.objects().release(&object.hash);
        let is_used = self.database().read(|db| {
            let sql = "SELECT 1 FROM versions WHERE hash = ?1 AND referenced_path IS NULL";
            Ok(db.prepare_cached(sql)?.exists([object.hash])?)
        })?;
        if !is_used {
            self.objects().remove(&self.objects().path_of(&object.hash))?;
        }
        Ok(())
    }

    /// Opens a version's original. [`VaultError::NotFound`] also when a referenced file is gone: see
    /// [`Vault::object_state`].
    pub fn open_object(
        &self,
        scope: &Scope,
        document: DocumentId,
        version: VersionNumber,
    ) -> Result<ObjectFile> {
        let stored = self.stored_object(scope, document, version)?;
        let path = self.object_path(&stored);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(VaultError::NotFound { what: "the original file" });
            }
            Err(source) => return Err(VaultError::Io { path, source }),
        };
        Ok(ObjectFile { file, bytes: stored.bytes, hash: stored.hash })
    }

    /// Whether a version's original is there and still the same.
    pub fn object_state(
        &self,
        scope: &Scope,
        document: DocumentId,
        version: VersionNumber,
    ) -> Result<ObjectState> {
        let stored = self.stored_object(scope, document, version)?;
        let found = std::fs::metadata(self.object_path(&stored)).ok().map(|metadata| metadata.len());
        Ok(match (found, &stored.referenced_path) {
            (None, _) => ObjectState::Missing,
            (Some(bytes), _) if bytes != stored.bytes => ObjectState::Changed,
            (Some(_), Some(_)) => ObjectState::Referenced,
            (Some(_), None) => ObjectState::Stored,
        })
    }

    /// Where the import finds a version's bytes. For the import alone: paths go neither to a model nor to a window.
    pub fn source_path(&self, version: VersionRef) -> Result<PathBuf> {
        let stored = self.database().read(|db| {
            let found = db.query_row(
                "SELECT v.hash, v.bytes, v.referenced_path FROM versions v JOIN documents d ON d.key = v.document_key
                 WHERE d.document_id = ?1 AND v.number = ?2 AND d.deleted_ms IS NULL",
                params![version.document.0.as_bytes(), version.version.0],
                stored_object,
            );
            found.optional()?.ok_or(VaultError::NotFound { what: "version" })
        })?;
        Ok(self.object_path(&stored))
    }

    fn object_path(&self, stored: &StoredObject) -> PathBuf {
        stored.referenced_path.clone().unwrap_or_else(|| self.objects().path(&stored.hash))
    }

    fn stored_object(
        &self,
        scope: &Scope,
        document: DocumentId,
        version: VersionNumber,
    ) -> Result<StoredObject> {
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE} SELECT v.hash, v.bytes, v.referenced_path
                 FROM visible JOIN documents d ON d.key = visible.document_key JOIN versions v ON v.document_key = d.key
                 WHERE d.document_id = :document AND v.number = :number"
            ))?;
            let bound = named_params! {
                ":profile": scope.profile(), ":document": document.0.as_bytes(), ":number": version.0,
            };
            let found = statement.query_row(bound, stored_object);
            found.optional()?.ok_or(VaultError::NotFound { what: "version" })
        })
    }
}

fn stored_object(row: &rusqlite::Row<'_>) -> rusqlite::Result<StoredObject> {
    Ok(StoredObject {
        hash: row.get(0)?,
        bytes: row.get::<_, i64>(1)? as u64,
        referenced_path: row.get::<_, Option<String>>(2)?.map(PathBuf::from),
    })
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    let listing = match std::fs::read_dir(dir) {
        Ok(listing) => listing,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(VaultError::Io { path: dir.to_owned(), source }),
    };
    listing
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()
        .map_err(VaultError::io(dir))
}

fn copy(input: &mut impl Read, output: &mut impl Write) -> std::io::Result<(Sha256, u64)> {
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut total = 0;
    loop {
        let read = input.read(&mut buffer)?;
        if read == 0 {
            return Ok((hasher.finalize().into(), total));
        }
        hasher.update(&buffer[..read]);
        output.write_all(&buffer[..read])?;
        total += read as u64;
    }
}

fn hex(hash: &Sha256) -> String {
    use std::fmt::Write as _;
    hash.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_are_stored_once() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = ObjectStore::open(&dir.path().join("objects"), AccessMode::Owner).expect("store");
        let source = dir.path().join("a.txt");
        std::fs::write(&source, "防水规则").expect("write");
        let (first, second) = (store.put(&source, 100).expect("put"), store.put(&source, 100).expect("put"));
        assert_eq!(first, second);
        assert_eq!(std::fs::read(store.path(&first.hash)).expect("read"), "防水规则".as_bytes());
        store.remove_incoming().expect("clean");
        assert_eq!(entries(&store.dir).expect("list").len(), 1, "one folder and no temporary file");
    }

    #[test]
    fn large_originals_are_referenced() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = ObjectStore::open(&dir.path().join("objects"), AccessMode::Owner).expect("store");
        let source = dir.path().join("film.mp4");
        std::fs::write(&source, [7; 101]).expect("write");
        let stored = store.put(&source, 100).expect("put");
        assert_eq!(stored.referenced_path.as_deref(), Some(source.as_path()));
        assert!(!store.path(&stored.hash).exists());
    }
}
