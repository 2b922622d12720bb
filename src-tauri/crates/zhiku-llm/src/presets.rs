//! Providers a person can choose by name. Facts only: each can be changed in the settings.

use serde::Serialize;

use crate::providers::ProviderKind;

/// Whether a preset works without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyNeed {
    Required,
    NotNeeded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Preset {
    /// Also the id under which the key is stored.
    pub id: &'static str,
    /// As the provider writes it; not translated.
    pub label: &'static str,
    pub kind: ProviderKind,
    pub base_url: &'static str,
    /// A model to start with; empty where only the person knows what is installed.
    pub model: &'static str,
    pub key: KeyNeed,
}

pub const PRESETS: &[Preset] = &[
    cloud("openai", "OpenAI", ProviderKind::OpenAiCompatible, "https://api.openai.com/v1", "gpt-4.1-mini"),
    cloud(
        "anthropic",
        "Anthropic",
        ProviderKind::Anthropic,
        "https://api.anthropic.com",
        "claude-sonnet-4-5",
    ),
    cloud(
        "deepseek",
        "DeepSeek",
        ProviderKind::OpenAiCompatible,
        "https://api.deepseek.com/v1",
        "deepseek-chat",
    ),
    cloud(
        "dashscope",
        "通义千问 (DashScope)",
        ProviderKind::OpenAiCompatible,
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "qwen-plus",
    ),
    local("ollama", "Ollama", "http://127.0.0.1:11434/v1"),
    local("llama-cpp", "llama.cpp", "http://127.0.0.1:8080/v1"),
];

const fn cloud(
    id: &'static str,
    label: &'static str,
    kind: ProviderKind,
    base_url: &'static str,
    model: &'static str,
) -> Preset {
    Preset { id, label, kind, base_url, model, key: KeyNeed::Required }
}

const fn local(id: &'static str, label: &'static str, base_url: &'static str) -> Preset {
    Preset { id, label, kind: ProviderKind::OpenAiCompatible, base_url, model: "", key: KeyNeed::NotNeeded }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::keychain::is_provider_id;
    use crate::providers::{ProviderConfig, build};
    use crate::secret::Secret;

    #[test]
    fn every_preset_builds_and_has_its_own_id() {
        for preset in PRESETS {
            let config = ProviderConfig::new(preset.id, preset.kind, preset.base_url, "some-model");
            let secret = (preset.key == KeyNeed::Required).then(|| Secret::new("sk-test-0000000000"));
            assert!(build(&config, secret).is_ok(), "{}", preset.id);
            assert!(is_provider_id(preset.id), "{}", preset.id);
        }
        assert_eq!(PRESETS.iter().map(|preset| preset.id).collect::<BTreeSet<_>>().len(), PRESETS.len());
    }
}
