//! The models of this machine: what is there, fetching, and loading each when it is first needed.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use tokio_util::sync::CancellationToken;
use zhiku_core::model::{EmbedSide, Embedder, ModelError};
use zhiku_core::recognition::TextRecognizer;
use zhiku_ingest::{Hearing, ModelSources};
use zhiku_models::{FetchOptions, ModelStore, ModelsError, Role, State};
use zhiku_onnx::{
    E5Embedder, EmbedderFiles, EmbedderOptions, OcrFiles, OcrRecognizer, SileroDetector, VoiceActivityFiles,
    VoiceRules,
};
use zhiku_retrieval::{Language, LanguageMeans, MeanVectors, RetrievalConfig, Retriever};
use zhiku_speech::{WhisperOptions, WhisperRecognizer};
use zhiku_vault::Vault;

use crate::engine::lock;
use crate::error::{EngineError, Result};

/// The state of one entry of the manifest.
pub type ModelState = State;

/// One entry of the manifest, for people.
#[derive(Clone, Debug)]
pub struct ModelEntry {
    pub id: String,
    pub role: &'static str,
    pub title: String,
    pub licence: String,
    pub bytes: u64,
    pub state: ModelState,
    /// Part of the program: never missing, never fetched.
    pub bundled: bool,
}

/// Cheap to open; loads lazily and keeps what it loaded.
pub struct Models {
    store: ModelStore,
    threads: Mutex<NonZeroUsize>,
    embedder: Mutex<Option<Arc<dyn Embedder>>>,
    reader: Mutex<Option<Arc<dyn TextRecognizer>>>,
    hearing: Mutex<Option<Arc<Hearing>>>,
    means: OnceLock<Arc<LanguageMeans>>,
}

impl From<ModelsError> for EngineError {
    fn from(error: ModelsError) -> Self {
        ModelError::from(error).into()
    }
}

impl Models {
    pub(crate) fn open(dir: Option<&Path>, threads: NonZeroUsize) -> Result<Self> {
        let store = match dir {
            Some(dir) => ModelStore::open(dir)?,
            None => ModelStore::open_default()?,
        };
        Ok(Self {
            store,
            threads: Mutex::new(threads),
            embedder: Mutex::default(),
            reader: Mutex::default(),
            hearing: Mutex::default(),
            means: OnceLock::new(),
        })
    }

    pub fn dir(&self) -> &Path {
        self.store.root()
    }

    pub fn list(&self) -> Vec<ModelEntry> {
        let entry = |status: zhiku_models::EntryStatus<'_>| ModelEntry {
            id: status.entry.id.clone(),
            role: status.entry.role.as_str(),
            title: status.entry.title.clone(),
            licence: status.entry.licence.clone(),
            bytes: status.entry.bytes(),
            state: status.state,
            bundled: status.entry.is_bundled(),
        };
        self.store.list().into_iter().map(entry).collect()
    }

    /// Hashes every file of every entry.
    pub fn verify(&self, cancel: &CancellationToken) -> Result<Vec<ModelEntry>> {
        let mut entries = self.list();
        for entry in &mut entries {
            let known = self.store.manifest().by_name(&entry.id)?;
            entry.state = self.store.verify(known, cancel)?;
        }
        Ok(entries)
    }

    /// Fetches one entry; nothing happens when it is there and whole. `on_bytes` gets done and total.
    pub fn fetch(
        &self,
        id: &str,
        on_bytes: &mut dyn FnMut(u64, u64),
        cancel: &CancellationToken,
    ) -> Result<()> {
        let entry = self.store.manifest().by_name(id)?;
        let options = FetchOptions::from_env();
        self.store.fetch(entry, &options, &mut |progress| on_bytes(progress.done, progress.total), cancel)?;
        Ok(())
    }

    /// Where PDFium is, if it is there and whole.
    pub fn pdfium(&self) -> Option<PathBuf> {
        self.store.require(Role::Pdfium).ok().map(|files| files.main())
    }

    /// The embedding model, loaded at the first call. Blocks for about a second then.
    pub fn embedder(&self) -> Result<Arc<dyn Embedder>, ModelError> {
        let mut loaded = lock(&self.embedder);
        if let Some(embedder) = loaded.as_ref() {
            return Ok(Arc::clone(embedder));
        }
        let model = self.store.require(Role::Embedding)?;
        let runtime = self.store.require(Role::OnnxRuntime)?;
        let files = EmbedderFiles {
            runtime: runtime.main(),
            model: model.main(),
            tokenizer: model.file("tokenizer.json"),
        };
        let mut options = EmbedderOptions::new(&model.id);
        options.intra_threads = self.threads();
        let embedder: Arc<dyn Embedder> = Arc::new(E5Embedder::open(&files, options)?);
        *loaded = Some(Arc::clone(&embedder));
        Ok(embedder)
    }

    /// What reads words in pictures, loaded at the first call.
    pub fn reader(&self) -> Result<Arc<dyn TextRecognizer>, ModelError> {
        let mut loaded = lock(&self.reader);
        if let Some(reader) = loaded.as_ref() {
            return Ok(Arc::clone(reader));
        }
        let runtime = self.store.require(Role::OnnxRuntime)?;
        let ocr = self.store.require(Role::Ocr)?;
        let files = OcrFiles::named(runtime.main(), |name| ocr.file(name));
        let reader: Arc<dyn TextRecognizer> = Arc::new(OcrRecognizer::open(&files, self.threads())?);
        *loaded = Some(Arc::clone(&reader));
        Ok(reader)
    }

    /// What hears: voice activity and speech, loaded at the first call.
    pub fn hearing(&self) -> Result<Arc<Hearing>, ModelError> {
        let mut loaded = lock(&self.hearing);
        if let Some(hearing) = loaded.as_ref() {
            return Ok(Arc::clone(hearing));
        }
        let runtime = self.store.require(Role::OnnxRuntime)?;
        let voices = self.store.require(Role::VoiceActivity)?;
        let speech = self.store.require(Role::SpeechRecognition)?;
        let voice_files = VoiceActivityFiles { runtime: runtime.main(), model: voices.main() };
        let mut options = WhisperOptions::new(speech.main());
        options.n_threads = self.threads();
        let hearing = Arc::new(Hearing {
            voices: Arc::new(SileroDetector::open(&voice_files, VoiceRules::default())?),
            speech: Arc::new(WhisperRecognizer::open(&options)?),
        });
        *loaded = Some(Arc::clone(&hearing));
        Ok(hearing)
    }

    fn threads(&self) -> NonZeroUsize {
        *lock(&self.threads)
    }

    /// Threads of each inference from now on: what is loaded is given up, and loaded anew when it is next needed.
    pub(crate) fn set_threads(&self, threads: NonZeroUsize) {
        if std::mem::replace(&mut *lock(&self.threads), threads) != threads {
            *lock(&self.embedder) = None;
            *lock(&self.reader) = None;
            *lock(&self.hearing) = None;
        }
    }

    /// What an import uses, each loaded when it is first needed.
    pub(crate) fn sources(self: &Arc<Self>) -> ModelSources {
        let [models, for_reading, for_hearing] = [self, self, self].map(Arc::clone);
        ModelSources {
            embedder: Arc::new(move || models.embedder()),
            reader: Arc::new(move || for_reading.reader()),
            hearing: Arc::new(move || for_hearing.hearing()),
        }
    }

    /// Ranking over a vault with whatever models there are.
    pub(crate) fn retriever(&self, vault: &Vault) -> Retriever {
        self.retriever_with(vault, self.embedder().ok())
    }

    /// Ranking by words alone.
    pub(crate) fn word_retriever(&self, vault: &Vault) -> Retriever {
        self.retriever_with(vault, None)
    }

    fn retriever_with(&self, vault: &Vault, embedder: Option<Arc<dyn Embedder>>) -> Retriever {
        let means = Arc::clone(self.means.get_or_init(|| Arc::new(language_means())));
        Retriever::new(vault.clone(), embedder, means, RetrievalConfig::default())
    }
}

/// The built-in means, in retrieval's own shape: retrieval does not know where they come from.
fn language_means() -> LanguageMeans {
    let built_in = match zhiku_models::LanguageMeans::built_in() {
        Ok(means) => means,
        Err(error) => {
            tracing::error!(%error, "the built-in language means cannot be read; questions in another language find less");
            return LanguageMeans::default();
        }
    };
    let languages = [
        (Language::Chinese, zhiku_models::Language::Chinese),
        (Language::English, zhiku_models::Language::English),
    ];
    let mut means = LanguageMeans::default();
    for (language, stored) in languages {
        for side in [EmbedSide::Query, EmbedSide::Passage] {
            let vectors = MeanVectors {
                sentence: built_in.sentence(stored, side).to_vec(),
                token: built_in.tokens(stored, side).to_vec(),
            };
            means = means.with(language, side, vectors);
        }
    }
    means
}
