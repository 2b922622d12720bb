//! The parsers as programs use them: through the worker process.

mod fixtures;
mod hostile;
mod pdf;
mod support;
mod worker;
