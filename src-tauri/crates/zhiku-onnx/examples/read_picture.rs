//! Reads pictures: `cargo run --release -p zhiku-onnx --example read_picture PICTURE…`, PNG or JPEG.
//!
//! Prints each line with its confidence, turns and place, and the time it took.
#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

use std::time::Instant;

use zhiku_core::RunContext;
use zhiku_core::locator::BBox;
use zhiku_core::model::Priority;
use zhiku_core::recognition::{Picture, TextRecognizer};
use zhiku_models::{ModelStore, Role};
use zhiku_onnx::{OcrFiles, OcrRecognizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = ModelStore::open_default()?;
    let (runtime, models) = (store.require(Role::OnnxRuntime)?, store.require(Role::Ocr)?);
    let files = OcrFiles::named(runtime.main(), |name| models.file(name));
    let started = Instant::now();
    let recognizer = OcrRecognizer::open(&files, std::thread::available_parallelism()?)?;
    println!("loaded in {} ms, {} MB", started.elapsed().as_millis(), memory_mb("VmRSS:"));
    for path in std::env::args_os().skip(1) {
        let decoded = image::open(&path)?.into_rgb8();
        let picture = Picture { width: decoded.width(), height: decoded.height(), rgb: decoded.into_raw() };
        let started = Instant::now();
        let lines = recognizer.recognize(&picture, Priority::Background, &RunContext::background())?;
        let took = started.elapsed();
        println!("{} {picture:?}: {} lines in {} ms", path.display(), lines.len(), took.as_millis());
        for line in &lines {
            let BBox([left, top, right, bottom]) = line.bbox;
            println!(
                "{:.2} {} [{left:.0} {top:.0} {right:.0} {bottom:.0}] {}",
                line.confidence, line.quarter_turns, line.text
            );
        }
    }
    println!("{} MB, at most {} MB", memory_mb("VmRSS:"), memory_mb("VmHWM:"));
    Ok(())
}

/// Memory of this process by the key of its status; 0 where the system does not say.
fn memory_mb(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
