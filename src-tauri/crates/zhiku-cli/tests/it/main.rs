//! The real program from outside: the release stories, crashes, and what an office has beside text.

mod bad_input;
mod chat;
mod common;
mod crash;
mod office;
mod passwords;
mod pictures;
mod queue;
mod scanned_copy;
mod scanner;
mod story;
mod story_video;
mod talk;
