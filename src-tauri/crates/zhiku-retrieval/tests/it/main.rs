//! Retrieval through its public face, over a real vault. But for the calibration the embedder is a double: each word has a
//! vector of its own, so texts are near when they share words.

mod calibration;
mod retrieve;
mod search;
mod support;
