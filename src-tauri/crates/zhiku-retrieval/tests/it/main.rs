//! Retrieval through its public face, over a real vault. The embedder is a double: each word has a vector of its own, so
//! texts are near when they share words.

mod retrieve;
mod search;
mod support;
