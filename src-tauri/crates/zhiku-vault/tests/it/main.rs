//! The vault through its public face.

mod access;
mod crash;
mod fixtures;
mod lexical_quality;
mod lifecycle;
mod model;
mod removal;
mod runs;
mod support;
