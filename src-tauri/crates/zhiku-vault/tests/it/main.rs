//! The vault through its public face.

mod access;
mod crash;
mod lexical_quality;
mod lifecycle;
mod removal;
mod runs;
mod support;
