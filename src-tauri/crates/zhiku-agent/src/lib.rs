//! From evidence to an answer: the extractive answerer, the writing by a chat model, citations, the checking of claims, and
//! the stream of events by which all of it reaches a reader.
//!
//! Start at [`answer::answer_question`]. Deliberately absent: SQLite, ONNX, providers; the agent's loop and its tools.

pub mod answer;
mod citations;
pub mod claims;
pub mod extractive;
mod facts;
mod text;

pub use answer::{
    AnswerDeps, AnswerQuestion, Cited, Ending, EventLog, LogError, PROMPT_VERSION, Retrieved, SourceError,
    Sources, Turn, Writer, answer_question, is_complete, replay,
};
pub use extractive::{Extract, ExtractInput, SubQuery, extract};
pub use text::terms::{TermWeights, question_terms};
pub use text::{Language, language_of};
