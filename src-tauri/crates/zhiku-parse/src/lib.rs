//! From the bytes of a foreign file to located text, and from located text to chunks.
//!
//! Parsers run in a process of their own with limits on memory, time and files ([`worker`]): a malicious or broken file
//! costs a page or the file, never the application. Deliberately absent: databases, models, the network, OCR. Start
//! reading at [`parser`] (what a format implements) and [`formats()`] (the list of them).

pub mod chunker;
pub mod detect;
mod encoding;
pub mod error;
mod formats;
pub mod parser;
pub mod picture;
pub mod report;
pub mod worker;

pub use chunker::{CHUNKER_VERSION, ChunkDraft, ChunkInput, ChunkOptions, chunk};
pub use detect::detect;
pub use error::{Library, ParseError};
pub use formats::{formats, is_hidden_sheet};
pub use parser::{ChildFile, DocumentParser, ParsedDocument, ParsedSummary, Source, UnitSink};
pub use picture::{PictureFrame, SourcePicture};
