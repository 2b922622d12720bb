//! For tests only: a chat model that follows a script, and evidence made from a few words.
//!
//! Deliberately absent: anything that ships, and a stand-in for models that run locally; those are tested as they are.

pub mod evidence;
pub mod scripted_model;

pub use evidence::{evidence, evidence_set, page_evidence};
pub use scripted_model::{ScriptStep, ScriptedModel};
