//! Chat models over the network: streaming providers behind `zhiku_core::model::ChatModel`, and their keys in the
//! system keychain.
//!
//! Deliberately absent: a tool loop (it lives in the agent), prompts, a cache of answers, and any way to keep a key in a
//! file. Start at [`providers`]; [`sse`] reads the stream, [`retry`] says when a second try is safe.

mod endpoint;
mod failure;
pub mod keychain;
mod meter;
pub mod presets;
pub mod providers;
pub mod redact;
mod reply;
pub mod retry;
mod secret;
pub mod sse;
mod surroundings;
mod transport;

pub use presets::{PRESETS, Preset};
pub use providers::{
    ConnectionReport, ProviderConfig, ProviderKind, TEST_WALL_TIME, Timeouts, TransportRule, build,
    build_with, test_connection,
};
pub use secret::Secret;
pub use surroundings::{ProxyVariables, Surroundings};
