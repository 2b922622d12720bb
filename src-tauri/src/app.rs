//! What lives as long as the program: the engine and its session, references handed to the viewer, fetches under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tauri::{AppHandle, Manager};
use tauri_specta::Event;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use zhiku_core::{DocumentId, VersionNumber};
use zhiku_engine::{AccessMode, Engine, EngineConfig, ImportProgress, Session};

use crate::arguments::Arguments;
use crate::ipc::dto::{Invalidated, Tag};
use crate::ipc::error::IpcError;
use crate::media::MediaServer;
use crate::meter::Meter;
use crate::opened;

/// News of the import queue is passed on at most this often.
const NEWS_EVERY: Duration = Duration::from_millis(200);

/// Bytes done of each model that is being fetched, and how to stop it.
type Fetching = Arc<Mutex<HashMap<String, (u64, CancellationToken)>>>;

/// The program's state. The session opens with the first command, so that the window is there to say what went wrong.
pub(crate) struct App {
    arguments: Arguments,
    session: Mutex<Option<Session>>,
    media: Mutex<HashMap<(DocumentId, VersionNumber), String>>,
    fetching: Fetching,
    meter: Mutex<Meter>,
    server: Mutex<Option<MediaServer>>,
}

impl App {
    pub(crate) fn new(arguments: Arguments) -> Self {
        Self {
            arguments,
            session: Mutex::default(),
            media: Mutex::default(),
            fetching: Arc::default(),
            meter: Mutex::default(),
            server: Mutex::default(),
        }
    }

    /// The signed-in session; opens engine and vault when they are not open yet. An error leaves them closed: the next call
    /// tries again.
    pub(crate) fn session(&self, app: &AppHandle) -> Result<Session, IpcError> {
        let mut open = lock(&self.session);
        if let Some(session) = open.as_ref() {
            return Ok(session.clone());
        }
        let session = self.open()?;
        opened::clear(&session);
        watch_imports(app.clone(), &session)?;
        session.start_watching()?;
        *open = Some(session.clone());
        Ok(session)
    }

    fn open(&self) -> Result<Session, IpcError> {
        let engine = Engine::open(EngineConfig::new(EngineConfig::default_home()?, "Zhiku")?)?;
        let principal = engine.sign_in(self.arguments.profile.as_deref())?;
        Ok(engine.open_vault(&principal, self.arguments.vault.as_deref(), AccessMode::Owner)?)
    }

    /// An opaque name for a version's bytes. It grants nothing: every request under it is checked again.
    pub(crate) fn media_ref(&self, document: DocumentId, version: VersionNumber) -> String {
        lock(&self.media)
            .entry((document, version))
            .or_insert_with(|| Uuid::now_v7().simple().to_string())
            .clone()
    }

    pub(crate) fn media(&self, media_ref: &str) -> Option<(DocumentId, VersionNumber)> {
        lock(&self.media).iter().find(|(_, known)| known.as_str() == media_ref).map(|(version, _)| *version)
    }

    /// Where the player finds a recording; the server starts with the first one.
    pub(crate) fn media_url(&self, app: &AppHandle, media_ref: &str) -> Result<String, IpcError> {
        let mut server = lock(&self.server);
        let running = match server.as_ref() {
            Some(running) => running.clone(),
            None => server.insert(MediaServer::start(app)?).clone(),
        };
        Ok(running.url(media_ref))
    }

    pub(crate) fn meter(&self) -> MutexGuard<'_, Meter> {
        lock(&self.meter)
    }

    /// Bytes done of each model that is being fetched.
    pub(crate) fn fetching(&self) -> HashMap<String, u64> {
        lock(&self.fetching).iter().map(|(model, (done, _))| (model.clone(), *done)).collect()
    }

    /// Stops a fetch; what came so far stays and the next fetch goes on from there.
    pub(crate) fn cancel_fetch(&self, model: &str) {
        if let Some((_, cancel)) = lock(&self.fetching).get(model) {
            cancel.cancel();
        }
    }

    /// Notes that a model is being fetched; nothing when it already is.
    pub(crate) fn begin_fetch(&self, model: &str) -> Option<Fetch> {
        let mut fetching = lock(&self.fetching);
        if fetching.contains_key(model) {
            return None;
        }
        let cancel = CancellationToken::new();
        fetching.insert(model.to_owned(), (0, cancel.clone()));
        Some(Fetch { model: model.to_owned(), fetching: Arc::clone(&self.fetching), cancel })
    }
}

/// A fetch under way; dropping it ends the note of it.
pub(crate) struct Fetch {
    model: String,
    fetching: Fetching,
    cancel: CancellationToken,
}

impl Fetch {
    pub(crate) fn progress(&self, done: u64) {
        if let Some(noted) = lock(&self.fetching).get_mut(&self.model) {
            noted.0 = done;
        }
    }

    pub(crate) fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}

impl Drop for Fetch {
    fn drop(&mut self) {
        lock(&self.fetching).remove(&self.model);
    }
}

/// Tells the window which parts of it are out of date.
pub(crate) fn invalidate(app: &AppHandle, tags: &[Tag]) {
    if let Err(error) = (Invalidated { tags: tags.to_vec() }).emit(app) {
        tracing::warn!(%error, "the window could not be told of a change");
    }
}

/// Passes news of the import queue on, gathered into a few messages a second.
fn watch_imports(app: AppHandle, session: &Session) -> Result<(), IpcError> {
    let news = session.watch_imports()?;
    let watch = move || {
        while let Ok(first) = news.recv() {
            let until = Instant::now() + NEWS_EVERY;
            record(&app, &first);
            while let Ok(next) = news.recv_timeout(until.saturating_duration_since(Instant::now())) {
                record(&app, &next);
            }
            invalidate(&app, &[Tag::Library, Tag::Work]);
        }
    };
    std::thread::Builder::new()
        .name("zhiku-import-news".to_owned())
        .spawn(watch)
        .map(|_| ())
        .map_err(|error| IpcError::environment("watch the import queue", &error))
}

fn record(app: &AppHandle, news: &ImportProgress) {
    app.state::<App>().meter().record((news.version.document, news.stage), news.done, Instant::now());
}

/// A poisoned lock still guards whole values here: each update is one assignment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
