//! Settings, models, providers. A key goes one way: in. What comes back is whether one is stored.

use serde::{Deserialize, Serialize};
use specta::Type;
use specta_typescript::Number;

use super::mirrored;

/// The language of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    #[default]
    System,
    Zh,
    En,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

/// How the window looks and what it asks by default. Persisted: `version` counts its shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct WindowSettings {
    pub version: u32,
    pub language: Language,
    pub theme: Theme,
    /// Per cent, 80 to 200.
    pub text_size: u32,
    /// The provider that writes answers, or nothing for answers made of quotations.
    pub provider: Option<String>,
    /// The first start was completed or skipped.
    pub started: bool,
}

impl Default for WindowSettings {
    fn default() -> Self {
        Self {
            version: 1,
            language: Language::System,
            theme: Theme::System,
            text_size: 100,
            provider: None,
            started: false,
        }
    }
}

impl WindowSettings {
    /// Reads stored settings. What an older version did not have takes its default, and so does everything when the whole is
    /// not understood: settings are no reason not to start.
    pub fn from_stored(stored: serde_json::Value) -> Self {
        let Ok(serde_json::Value::Object(mut settings)) = serde_json::to_value(Self::default()) else {
            return Self::default();
        };
        if let serde_json::Value::Object(stored) = stored {
            settings.extend(stored);
        }
        serde_json::from_value(serde_json::Value::Object(settings)).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    Installed,
    Missing,
    Damaged,
    Fetching,
}

/// One model of the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ModelRow {
    pub id: String,
    pub role: String,
    pub name: String,
    #[specta(type = Number)]
    pub size_bytes: f64,
    pub licence: String,
    pub state: ModelState,
    #[specta(type = Number)]
    pub done_bytes: f64,
}

mirrored!(
    /// How a provider is spoken to.
    ProviderKind = zhiku_engine::ProviderKind { #[serde(rename = "openai_compatible")] OpenAiCompatible, Anthropic }
);

impl From<ProviderKind> for zhiku_engine::ProviderKind {
    fn from(kind: ProviderKind) -> Self {
        match kind {
            ProviderKind::OpenAiCompatible => Self::OpenAiCompatible,
            ProviderKind::Anthropic => Self::Anthropic,
        }
    }
}

mirrored!(
    /// All that a window learns of a key.
    KeyState = zhiku_engine::KeyState { Stored, NotStored, Unavailable }
);

/// A chat model's endpoint as set up by the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ProviderRow {
    pub id: String,
    /// A preset's own name, else the id.
    pub name: String,
    pub kind: ProviderKind,
    pub base_url: String,
    pub model: String,
    pub key: KeyState,
}

/// A known endpoint to start from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ProviderPreset {
    pub id: String,
    pub name: String,
    pub kind: ProviderKind,
    pub base_url: String,
    pub model: String,
}

/// What the user typed about a provider. The key is set apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ProviderDraft {
    pub id: String,
    pub kind: ProviderKind,
    pub base_url: String,
    pub model: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ProviderTest {
    #[specta(type = Number)]
    pub took_ms: f64,
    pub model: String,
}

/// One line of what the vault takes up on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct StorageRow {
    /// `originals`, `database`, `index`, `vectors`, `models`.
    pub part: String,
    #[specta(type = Number)]
    pub size_bytes: f64,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stored_settings_of_another_shape_still_open() {
        let read = |value| WindowSettings::from_stored(value);
        let expected = WindowSettings { theme: Theme::Dark, started: true, ..WindowSettings::default() };
        assert_eq!(read(json!({"theme": "dark", "started": true, "from_later": 1})), expected);
        assert_eq!(read(json!({"theme": "sepia"})), WindowSettings::default());
        assert_eq!(read(json!(null)), WindowSettings::default());
    }
}
