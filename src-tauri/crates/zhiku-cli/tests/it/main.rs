//! The real program from outside: the release stories, crashes, and what an office has beside text.

mod chat;
mod common;
mod crash;
mod office;
mod story;
mod story_video;
