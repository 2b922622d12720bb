//! The parsers as programs use them: through the worker process.

mod fixtures;
mod fuzz;
mod hostile;
mod pictures;
mod pdf;
mod support;
mod worker;
