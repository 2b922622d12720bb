//! The desktop program. Started as a parser's worker it does that and nothing else.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() -> anyhow::Result<()> {
    zhiku_engine::run_worker_if_asked();
    zhiku_desktop::run()
}
