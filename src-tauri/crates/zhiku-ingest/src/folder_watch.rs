//! The watch: looks at the watched folders when something happens in them, and now and then in any case, since disks on a
//! network tell nothing. What a look does is in `folder_look.rs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use zhiku_vault::{Scope, Vault, VaultError, WatchedFolder};

use crate::folder_look::{Refused, look};
use crate::pipeline::Waker;

/// After the first sign of a change, further ones are gathered for this long.
const GATHER: Duration = Duration::from_millis(500);
/// While files are being written.
const UNSETTLED: Duration = Duration::from_secs(2);
/// Without any sign.
const NOW_AND_THEN: Duration = Duration::from_mins(5);
/// Where the system gives no signs.
const WITHOUT_SIGNS: Duration = Duration::from_secs(30);

/// Makes the scope anew for each look: rights are those of now.
pub type ScopeSource = Arc<dyn Fn() -> Result<Scope, VaultError> + Send + Sync>;

enum Sign {
    Changed,
    /// The list of folders is another one now.
    Folders,
    Stop,
}

/// Watches a principal's folders until dropped.
pub struct FolderWatch {
    signs: Sender<Sign>,
    thread: Option<JoinHandle<()>>,
}

impl FolderWatch {
    pub fn start(vault: Vault, scope: ScopeSource, waker: Waker) -> std::io::Result<Self> {
        let (signs, heard) = channel();
        let watcher = {
            let (signs, own) = (signs.clone(), vault.dir().to_owned());
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                // An error may have hidden a change.
                if event.as_ref().map_or(true, |event| is_change(event, &own)) {
                    let _ = signs.send(Sign::Changed);
                }
            })
        };
        let watcher = watcher
            .inspect_err(|error| tracing::warn!(%error, "folders are looked at every half minute instead"))
            .ok();
        let watch = Watch { vault, scope, waker, watcher, watched: Vec::new(), refused: Refused::new() };
        let thread = std::thread::Builder::new()
            .name("zhiku-folder-watch".to_owned())
            .spawn(move || watch.run(&heard))?;
        Ok(Self { signs, thread: Some(thread) })
    }

    /// Call when a folder was added, removed, or given other patterns.
    pub fn folders_changed(&self) {
        let _ = self.signs.send(Sign::Folders);
    }
}

impl Drop for FolderWatch {
    fn drop(&mut self) {
        let _ = self.signs.send(Sign::Stop);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the folder watch panicked");
        }
    }
}

struct Watch {
    vault: Vault,
    scope: ScopeSource,
    waker: Waker,
    watcher: Option<RecommendedWatcher>,
    watched: Vec<PathBuf>,
    refused: Refused,
}

impl Watch {
    fn run(mut self, heard: &Receiver<Sign>) {
        loop {
            let pause = self.look_at_all();
            match heard.recv_timeout(pause) {
                Ok(Sign::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Sign::Folders) => self.refused.clear(),
                Ok(Sign::Changed) => {
                    if gathered(heard).is_break() {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Looks at each folder; returns how long to wait for a sign before the next look.
    fn look_at_all(&mut self) -> Duration {
        let folders = (self.scope)().and_then(|scope| Ok((self.vault.watched_folders(&scope)?, scope)));
        let (folders, scope) = match folders {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "watched folders could not be read");
                return WITHOUT_SIGNS;
            }
        };
        self.follow(&folders);
        let (mut pause, mut queued) = (NOW_AND_THEN, 0);
        if self.watched.len() < folders.len() {
            pause = WITHOUT_SIGNS;
        }
        for folder in &folders {
            match look(&self.vault, &scope, folder, now_ms(), &mut self.refused) {
                Ok(look) => {
                    queued += look.n_queued;
                    if look.n_unsettled > 0 {
                        pause = UNSETTLED;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "a look at a watched folder did not end");
                    pause = pause.min(WITHOUT_SIGNS);
                }
            }
        }
        if queued > 0 {
            self.waker.wake();
        }
        pause
    }

    /// Has the system tell of changes in just these folders. One that is not there now is tried again at the next look.
    fn follow(&mut self, folders: &[WatchedFolder]) {
        let Some(watcher) = &mut self.watcher else { return };
        let wanted: Vec<&PathBuf> = folders.iter().map(|folder| &folder.path).collect();
        self.watched.retain(|path| {
            let stays = wanted.contains(&path) && path.is_dir();
            if !stays {
                // A folder that is gone is not watched any more in any case.
                let _ = watcher.unwatch(path);
            }
            stays
        });
        for path in wanted {
            if self.watched.contains(path) {
                continue;
            }
            match watcher.watch(path, RecursiveMode::Recursive) {
                Ok(()) => self.watched.push(path.clone()),
                Err(error) => tracing::warn!(%error, "a folder gives no signs of changes"),
            }
        }
    }
}

/// Reading changes nothing, and what the vault writes is its own doing.
fn is_change(event: &notify::Event, vault_dir: &Path) -> bool {
    !event.kind.is_access() && event.paths.iter().any(|path| !path.starts_with(vault_dir))
}

/// Takes in the signs that follow the first one.
fn gathered(heard: &Receiver<Sign>) -> std::ops::ControlFlow<()> {
    let until = Instant::now() + GATHER;
    loop {
        match heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Sign::Stop) | Err(RecvTimeoutError::Disconnected) => return std::ops::ControlFlow::Break(()),
            Ok(Sign::Changed | Sign::Folders) => {}
            Err(RecvTimeoutError::Timeout) => return std::ops::ControlFlow::Continue(()),
        }
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
