//! One vault: people and scopes, SQLite, the object store, vectors, token vectors, the lexical index, publishing, runs,
//! removal.
//!
//! Start at [`Home`] (profiles, known vaults) and [`Vault`] (open, [`Vault::scope`]). Every read takes a [`Scope`]; SQLite is
//! the truth, all other stores are derived from it or checked against it.
//!
//! | subject | functions of [`Vault`] | file |
//! |---|---|---|
//! | people | `members add_member set_role remove_member departments add_department set_departments` | `tables/members.rs` |
//! | rules | `access set_visibility set_rule clear_rule` | `tables/rules.rs` |
//! | documents | `list_documents document_page work_summary digest show version documents_visible` | `tables/documents.rs`, `tables/library.rs`, `digest.rs` |
//! | units, chunks | `unit units chunks neighbours` | `tables/units.rs`, `tables/chunks.rs` |
//! | search | `search_lexical search_dense token_vectors term_weights` | `search.rs` |
//! | originals | `put_object drop_object open_object object_state source_path` | `objects.rs` |
//! | sources | `register_source register_child` | `sources.rs` |
//! | files outside | `watch_folder unwatch_folder watched_folders sources_below stamp_source move_source source_gone remove_source` | `watched.rs` |
//! | difference | `record_change change` | `changes.rs` |
//! | import | `stage_units store_recognized staged_units stage_chunks pending_chunks vectors_by_hash reuse_vectors store_vectors fail_version` | `ingest.rs`, `vectors.rs` |
//! | stages | `set_state stage_finished finish_stage set_embedding_space set_chunker_version` | `ingest.rs`, `embedding_space.rs` |
//! | publish | `publish_lexical publish_hybrid` | `publish.rs` |
//! | jobs | `enqueue_job claim_jobs pass_jobs move_lane job_progress finish_job fail_job requeue_job jobs` | `tables/jobs.rs` |
//! | queue | `imports_paused set_imports_paused cancel_imports retry_version retry_failed prioritize open_jobs` | `tables/queue.rs` |
//! | runs | `create_conversation conversations create_run append_event events_after run runs` | `tables/runs.rs` |
//! | removal | `remove verify_removed` | `erase.rs` |
//!
//! Deliberately absent: parsing, embedding, ranking across routes, anything asynchronous.

mod changes;
mod clock;
mod digest;
mod embedding_space;
mod erase;
mod error;
mod failpoint;
mod home;
mod ingest;
pub mod lexical;
mod lock;
mod meta;
mod objects;
mod principal;
mod publish;
mod records;
mod recover;
mod scan;
mod search;
mod sources;
mod storage;
mod tables;
mod token_vectors;
mod vault;
mod vectors;
mod visibility;
mod watched;

pub use embedding_space::SpaceChange;
pub use erase::Erase;
pub use error::{Result, VaultError};
pub use failpoint::KILL_POINTS;
pub use home::{Home, Profile, Setting, VaultEntry};
pub use lock::LockOwner;
pub use objects::ObjectFile;
pub use principal::{Function, Principal, Scope};
pub use records::*;
pub use storage::StorageKey;
pub use tables::queue::Urgency;
pub use vault::{AccessMode, OpenOptions, Vault};
