//! The real program from outside: the release stories, crashes, and what an office has beside text.

mod common;
mod crash;
mod office;
mod scanned_copy;
mod scanner;
mod story;
mod talk;
