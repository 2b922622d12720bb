//! One database file: a writer thread that takes closures, and connections for readers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use rusqlite::{Connection, Transaction};

use super::migrate::{Migration, migrate, schema_version};
use super::{Access, StorageKey, open_connection};
use crate::error::{Result, VaultError};

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

const MAX_IDLE_READERS: usize = 8;

pub(crate) struct Database {
    path: PathBuf,
    key: Option<StorageKey>,
    writer: Option<Writer>,
    readers: Mutex<Vec<Connection>>,
}

struct Writer {
    queue: Option<mpsc::Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

impl Database {
    /// Opens for writing; creates and migrates as needed.
    pub(crate) fn open(
        path: &Path,
        key: Option<StorageKey>,
        migrations: &[Migration],
        backups: &Path,
    ) -> Result<Self> {
        let mut connection = open_connection(path, Access::Write, key)?;
        migrate(&mut connection, migrations, path, backups)?;
        let writer = Writer::start(connection)?;
        Ok(Self { path: path.to_owned(), key, writer: Some(writer), readers: Mutex::default() })
    }

    /// Opens beside an owner. The schema must be the current one.
    pub(crate) fn open_read_only(
        path: &Path,
        key: Option<StorageKey>,
        migrations: &[Migration],
    ) -> Result<Self> {
        let connection = open_connection(path, Access::Read, key)?;
        let (found, supported) = (schema_version(&connection)?, migrations.len() as u32);
        if found > supported {
            return Err(VaultError::TooNew { found, supported });
        }
        if found < supported {
            return Err(VaultError::InvalidInput(format!(
                "the vault's schema {found} is older than {supported}: open it for writing once to bring it up to date"
            )));
        }
        Ok(Self { path: path.to_owned(), key, writer: None, readers: Mutex::new(vec![connection]) })
    }

    /// Runs `work` in one read transaction: all it sees is of one moment.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let pooled = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match pooled {
            Some(connection) => connection,
            None => open_connection(&self.path, Access::Read, self.key)?,
        };
        let transaction = connection.unchecked_transaction()?;
        let result = work(&transaction)?;
        transaction.finish()?;
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < MAX_IDLE_READERS {
            readers.push(connection);
        }
        Ok(result)
    }

    /// Runs `work` in one transaction on the writer thread and waits for it. An error or a panic rolls back.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.on_writer(move |connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        })
    }

    /// Moves the write-ahead log into the file and empties it, so that removed content is on disk no more.
    pub(crate) fn checkpoint(&self) -> Result<()> {
        self.on_writer(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(())
        })
    }

    fn on_writer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let queue =
            self.writer.as_ref().and_then(|writer| writer.queue.as_ref()).ok_or(VaultError::ReadOnly)?;
        let (reply, answer) = mpsc::sync_channel(1);
        let boxed: Work = Box::new(move |connection| {
            // A closed reply means the caller is gone; the work is done all the same.
            let _ = reply.send(work(connection));
        });
        queue.send(boxed).map_err(|_| VaultError::WriterStopped)?;
        answer.recv().map_err(|_| VaultError::WriterStopped)?
    }
}

impl Writer {
    fn start(mut connection: Connection) -> Result<Self> {
        let (queue, work) = mpsc::channel::<Work>();
        let thread = std::thread::Builder::new()
            .name("vault-writer".to_owned())
            .spawn(move || {
                for item in work {
                    // The transaction was rolled back when the panic dropped it, so the connection stays usable.
                    if catch_unwind(AssertUnwindSafe(|| item(&mut connection))).is_err() {
                        tracing::error!("a write panicked and was rolled back");
                    }
                }
            })
            .map_err(VaultError::io("writer thread"))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic inside was logged where it happened.
            let _ = thread.join();
        }
    }
}
