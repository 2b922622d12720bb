//! The parsers as programs use them: through the worker process.

mod damaged;
mod fixtures;
mod fuzz;
mod hostile;
mod large;
mod pdf;
mod pictures;
mod support;
mod worker;
