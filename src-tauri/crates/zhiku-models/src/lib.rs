//! Which model files and native libraries there are, where they come from, and whether those on this machine are whole.
//!
//! `models/manifest.toml` is the list ([`Manifest`]); [`ModelStore`] is the folder they live in. Everything that needs a
//! model asks [`ModelStore::require`], which hands out paths of verified files only. Everything here blocks; call it off
//! the async threads.
//!
//! Deliberately absent: loading a model (`zhiku-onnx`), choosing one (`zhiku-engine`).

mod archive;
mod error;
mod fetch;
mod hub;
mod language_means;
mod lock;
mod manifest;
mod package;
mod stamp;
mod store;

pub use error::ModelsError;
pub use fetch::{FetchOptions, FetchStep, Fetched, Progress, SourceChoice};
pub use language_means::{Language, LanguageMeans};
pub use manifest::{Entry, FileSpec, Manifest, Member, PackageSource, Registry, Role, Source};
pub use store::{EntryStatus, ModelFiles, ModelStore, State};
