//! Models in ONNX format, run by ONNX Runtime on the processor.
//!
//! Each model has one named OS thread ([`SessionThread`]) with a bounded queue, so that the caller decides how urgent work
//! is and nothing else of the program ever waits inside ONNX Runtime. Start reading at [`E5Embedder`]; [`OcrRecognizer`] has
//! three of them.
//!
//! Deliberately absent: where files come from and whether they are whole (`zhiku-models`), and any choice between models
//! (`zhiku-engine`).

mod batches;
mod embedder;
mod failure;
mod ocr;
mod pace;
mod runtime;
mod session_thread;
mod tokenizer;
mod voice_activity;

pub use embedder::{E5Embedder, EmbedderFiles, EmbedderOptions};
pub use ocr::{OcrFiles, OcrRecognizer};
pub use runtime::load_runtime;
pub use session_thread::{Pending, SessionThread};
pub use voice_activity::{SileroDetector, VoiceActivityFiles, VoiceRules};
