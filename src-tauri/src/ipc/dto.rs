//! Everything that crosses the bridge to the web view, and nothing else does. Ids travel as text, times as milliseconds,
//! sizes as plain numbers. A path, an object key or a secret has no field here.
//!
//! Field and variant names are those of the product's vocabulary, so Rust, SQL and TypeScript read alike.

mod answer;
mod convert;
mod library;
mod locator;
mod settings;
mod sheet;
mod source;

pub use answer::*;
pub use convert::{Withdrawn, answer_event};
pub use library::*;
pub use locator::*;
pub use settings::*;
pub use sheet::*;
pub use source::*;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use specta::Type;

/// Makes an enum of the bridge out of one of the core, variant by variant.
macro_rules! mirrored {
    ($(#[$doc:meta])* $name:ident = $source:path { $($(#[$attribute:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, specta::Type)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$attribute])* $variant),+ }

        impl From<$source> for $name {
            fn from(value: $source) -> Self {
                use $source as Source;
                match value { $(Source::$variant => Self::$variant),+ }
            }
        }
    };
}
pub(crate) use mirrored;

/// A reason as a code and its arguments; the user interface renders it in the reader's language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Reason {
    pub code: String,
    pub args: BTreeMap<String, String>,
}

impl From<zhiku_core::Reason> for Reason {
    fn from(reason: zhiku_core::Reason) -> Self {
        Self { code: reason.code, args: reason.args }
    }
}

/// What the whole window needs before it can show anything.
#[derive(Clone, Debug, Serialize, Deserialize, Type)]
pub struct AppInfo {
    pub version: String,
    pub vault_name: String,
    pub profile_name: String,
    pub settings: WindowSettings,
    /// What works less well than it could (`model_missing` …).
    pub degraded: Vec<Reason>,
}

/// Which parts of the window read stale data now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Tag {
    Library,
    Work,
    Conversations,
    Models,
    Providers,
    Settings,
    Folders,
}

/// Something changed; whoever shows one of `tags` reads again.
#[derive(Clone, Debug, Serialize, Deserialize, Type, tauri_specta::Event)]
pub struct Invalidated {
    pub tags: Vec<Tag>,
}

/// Files are being dragged over the window. Their paths stay on this side.
#[derive(Clone, Debug, Serialize, Deserialize, Type, tauri_specta::Event)]
pub struct DropHover {
    pub active: bool,
}

/// Files that were dropped have been taken in.
#[derive(Clone, Debug, Serialize, Deserialize, Type, tauri_specta::Event)]
pub struct Imported {
    pub receipt: ImportReceipt,
}
