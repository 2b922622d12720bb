//! The vault through its public face.

mod access;
mod children;
mod crash;
mod fixtures;
mod lexical_quality;
mod lexical_search;
mod lifecycle;
mod model;
mod places;
mod queue;
mod removal;
mod runs;
mod support;
