//! Chat providers: what is set is in the home's settings, keys are in the system's keychain and nowhere else.

use std::sync::Arc;

use serde_json::json;
use zhiku_core::model::ChatModel;
use zhiku_core::{BudgetLimits, ErrorCode, Fault, RunContext};
use zhiku_llm::keychain::{KeyStatus, Keychain, KeychainError};
use zhiku_llm::{ConnectionReport, ProviderConfig, Secret};
use zhiku_vault::Setting;

use crate::engine::Engine;
use crate::error::{EngineError, Result};

const SETTING: &str = "providers";
const SETTING_VERSION: u32 = 1;

/// What a window may know of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    Stored,
    NotStored,
    /// The system has no keychain service, or it is locked.
    Unavailable,
}

#[derive(Clone, Debug)]
pub struct ProviderStatus {
    pub config: ProviderConfig,
    pub key: KeyState,
}

impl From<KeychainError> for EngineError {
    fn from(error: KeychainError) -> Self {
        Self {
            code: error.code(),
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
            fault: error.fault(),
            retryable: error.code() == ErrorCode::KeychainUnavailable,
        }
    }
}

impl Engine {
    pub fn providers(&self) -> Result<Vec<ProviderStatus>> {
        let keychain = Keychain::open().ok();
        let status = |id: &str| match keychain.as_ref().map(|keychain| keychain.status(id)) {
            Some(Ok(KeyStatus::Stored)) => KeyState::Stored,
            Some(Ok(KeyStatus::Missing)) => KeyState::NotStored,
            Some(Err(_)) | None => KeyState::Unavailable,
        };
        Ok(self
            .provider_configs()?
            .into_iter()
            .map(|config| ProviderStatus { key: status(&config.id), config })
            .collect())
    }

    /// Stores an endpoint; a key given with it goes to the keychain first, so that no half is stored when that fails.
    pub fn set_provider(&self, config: ProviderConfig, key: Option<Secret>) -> Result<()> {
        if let Some(key) = key.filter(|key| !key.is_empty()) {
            Keychain::open()?.set(&config.id, &key)?;
        }
        let mut configs = self.provider_configs()?;
        configs.retain(|other| other.id != config.id);
        configs.push(config);
        self.store_providers(&configs)
    }

    /// Removes an endpoint and its key.
    pub fn remove_provider(&self, id: &str) -> Result<()> {
        match Keychain::open() {
            Ok(keychain) => {
                keychain.delete(id)?;
            }
            Err(error) => tracing::warn!(%error, "no keychain to delete a key from"),
        }
        let mut configs = self.provider_configs()?;
        configs.retain(|config| config.id != id);
        self.store_providers(&configs)
    }

    pub fn delete_key(&self, id: &str) -> Result<()> {
        Keychain::open()?.delete(id)?;
        Ok(())
    }

    /// Asks the endpoint for a word.
    pub fn test_provider(&self, id: &str) -> Result<ConnectionReport> {
        let config = self.provider_config(id)?;
        let secret = key_of(&config)?;
        let ctx = RunContext::new(BudgetLimits::default());
        Ok(self.runtime.block_on(zhiku_llm::test_connection(&config, secret, &ctx))?)
    }

    pub(crate) fn chat_model(&self, id: &str) -> Result<Arc<dyn ChatModel>> {
        let config = self.provider_config(id)?;
        let secret = key_of(&config)?;
        Ok(zhiku_llm::build(&config, secret)?)
    }

    fn provider_config(&self, id: &str) -> Result<ProviderConfig> {
        let found = self.provider_configs()?.into_iter().find(|config| config.id == id);
        found.ok_or_else(|| EngineError {
            code: ErrorCode::NotFound,
            message: format!("no provider named {id} is set up"),
            hint: Some("set it up in the settings, or with `zhiku provider set`".to_owned()),
            fault: Fault::User,
            retryable: false,
        })
    }

    fn provider_configs(&self) -> Result<Vec<ProviderConfig>> {
        let Some(setting) = self.home.setting(SETTING)? else { return Ok(Vec::new()) };
        serde_json::from_value(setting.value)
            .map_err(|error| EngineError::bug(format!("could not read the provider settings: {error}")))
    }

    fn store_providers(&self, configs: &[ProviderConfig]) -> Result<()> {
        Ok(self.home.set_setting(SETTING, &Setting { value: json!(configs), version: SETTING_VERSION })?)
    }

    /// A setting of the window (language, theme, sizes); never a secret.
    pub fn ui_setting(&self) -> Result<Option<serde_json::Value>> {
        Ok(self.home.setting("ui")?.map(|setting| setting.value))
    }

    pub fn set_ui_setting(&self, value: serde_json::Value) -> Result<()> {
        Ok(self.home.set_setting("ui", &Setting { value, version: 1 })?)
    }
}

/// A local server needs no key; one that does will say so.
fn key_of(config: &ProviderConfig) -> Result<Option<Secret>> {
    match Keychain::open().and_then(|keychain| keychain.get(&config.id)) {
        Ok(secret) => Ok(secret),
        Err(error)
            if config.base_url.contains("://127.0.0.1") || config.base_url.contains("://localhost") =>
        {
            tracing::info!(%error, "asking a local server without a key");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
