//! The real program from outside: the release stories and crashes.

mod common;
mod crash;
mod story;
