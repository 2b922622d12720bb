//! One file per table or small group of tables: what is written into it and read out of it.

pub(crate) mod chunks;
pub(crate) mod documents;
pub(crate) mod jobs;
pub(crate) mod library;
pub(crate) mod members;
pub(crate) mod queue;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod units;
pub(crate) mod versions;
