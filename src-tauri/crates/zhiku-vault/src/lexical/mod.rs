//! The lexical index: one analyser for texts and queries, an index of chunks, BM25 with field boosts.
//!
//! The index is derived from SQLite and can be thrown away. It stores no text, and it does not decide what may be found:
//! each search is given the versions that the principal sees, and the filter runs inside the search.

mod analyzer;
mod codes;
mod index;
mod query;

pub use analyzer::analyze;
pub(crate) use index::{IndexedChunk, LexicalChange, LexicalIndex};
