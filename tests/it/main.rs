//! The whole: what no single crate can check about itself.

mod boundaries;
