//! The import through its public face, with models that count instead of thinking.

mod folders;
mod lanes;
mod queue;
mod refusals;
mod support;
mod versions;
