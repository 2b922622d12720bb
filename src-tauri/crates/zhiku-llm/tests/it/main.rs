//! The providers against scripted and recorded servers.

mod conformance;
mod providers;
mod support;
mod tls;
