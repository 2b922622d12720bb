//! The real program from outside: the release stories, crashes, and what an office has beside text.

mod common;
mod crash;
mod office;
mod queue;
mod story;
