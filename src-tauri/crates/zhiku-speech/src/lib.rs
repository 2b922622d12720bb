//! Speech to text by Whisper, in whisper.cpp's format, on the processor.
//!
//! A crate of its own and not a part of `zhiku-onnx`, because whisper.cpp is no ONNX model and takes minutes to compile:
//! whoever works on the other models does not wait for it. Start reading at [`WhisperRecognizer`].
//!
//! Deliberately absent: finding out where somebody speaks (`zhiku-onnx`), cutting long recordings (`zhiku-media`), and folding
//! Traditional into Simplified characters: text is kept as the model wrote it.

mod abort;
mod decode;
mod failure;
mod plausible;
mod whisper;
mod worker;

pub use whisper::{WhisperOptions, WhisperRecognizer};
