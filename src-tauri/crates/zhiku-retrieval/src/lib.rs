//! From a question to the evidence that may be cited.
//!
//! Start at [`Retriever`]: [`Retriever::search`] is one ranked list, [`Retriever::retrieve`] the bounded state machine
//! `plan → recall → fuse → rerank → assess → done | rewrite → recall …`. Its edges are pure ([`machine`]), its I/O sits in
//! one driver (`run.rs`).
//!
//! | step | what | file |
//! |---|---|---|
//! | plan | intent and sub-queries, by rules | `plan/` |
//! | recall | words, vectors, vectors without their language | `recall.rs` |
//! | fuse | reciprocal ranks | `fuse.rs` |
//! | rerank | late interaction and coverage | `rerank.rs` |
//! | assess | is it enough, per sub-query | `assess.rs` |
//! | evidence | numbered, contiguous, without repetition | `evidence.rs` |
//!
//! Deliberately absent: answers, chat models, anything that knows which embedding model is in use, any way to name or widen
//! a scope.

mod amount;
mod assess;
mod evidence;
mod fuse;
mod language;
pub mod machine;
mod naming;
mod outcome;
mod plan;
mod recall;
mod rerank;
mod retriever;
mod run;
mod search;
mod words;

pub use assess::{Sufficiency, Thresholds};
pub use fuse::fuse_ranks;
pub use language::{Language, LanguageMeans, MeanVectors, language_of};
pub use outcome::{EvidenceResult, EvidenceStatus, PartResult, RetrievalError};
pub use plan::{Intent, Plan, plan};
pub use rerank::Relevance;
pub use retriever::{Question, RetrievalConfig, Retriever};
