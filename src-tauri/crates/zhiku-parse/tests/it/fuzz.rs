//! Every format with changed, cut and spliced fixtures, for as long as `ZHIKU_FUZZ_SECONDS` says (some seconds by default).
//! The parsers run in the worker, as they do in the program: what is sought is a parent that panics, hangs or breaks a
//! promise. A failing input is left behind and named.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use zhiku_parse::worker::ParseLimits;

use crate::support::{fixtures, parse_with, worker};

const DEFAULT_SECONDS: u64 = 20;
/// Larger files make few runs; what a parser does with size is tested elsewhere.
const LARGEST_BYTES: u64 = 300_000;
/// More than any worker may take for such a file, and less than a person waits.
const LONGEST: Duration = Duration::from_secs(30);

/// A small generator: the same seed gives the same inputs.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }
}

fn seeds() -> Vec<PathBuf> {
    let mut seeds = Vec::new();
    for folder in std::fs::read_dir(fixtures()).expect("fixtures").flatten().filter(|e| e.path().is_dir()) {
        let files = std::fs::read_dir(folder.path()).expect("folder").flatten().map(|entry| entry.path());
        seeds.extend(files.filter(|path| {
            path.metadata().is_ok_and(|found| found.is_file() && found.len() <= LARGEST_BYTES)
        }));
    }
    seeds.sort();
    seeds
}

fn changed(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.next(8) {
        let length = bytes.len();
        let at = random.next(length);
        match random.next(6) {
            0 if length > 0 => bytes[at] = random.next(256) as u8,
            1 if length > 0 => bytes[at] ^= 1 << random.next(8),
            2 => bytes.truncate(length - random.next(length)),
            3 => drop(bytes.drain(at..(at + random.next(64)).min(length))),
            4 => {
                let from = random.next(other.len());
                let piece = other[from..(from + random.next(256)).min(other.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                let piece = bytes[at..(at + random.next(128)).min(length)].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

#[test]
fn changed_files_of_every_format_end_in_text_or_a_reason() {
    let seconds = std::env::var("ZHIKU_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(DEFAULT_SECONDS));
    let mut random = Random(std::env::var("ZHIKU_FUZZ_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(7));
    let seeds = seeds();
    let limits = ParseLimits {
        unit_time: Duration::from_secs(10),
        memory_bytes: 600 * 1024 * 1024,
        restarts: 1,
        ..ParseLimits::default()
    };
    let folder = tempfile::tempdir().expect("folder");
    let mut n_runs = 0;
    while Instant::now() < until {
        let seed = &seeds[random.next(seeds.len())];
        let other = &seeds[random.next(seeds.len())];
        let (bytes, other) = (std::fs::read(seed).expect("seed"), std::fs::read(other).expect("seed"));
        let path = folder.path().join(seed.file_name().expect("name"));
        std::fs::write(&path, changed(&bytes, &other, &mut random)).expect("writes");
        let started = Instant::now();
        let (summary, document) = parse_with(&worker(), &path, None, &limits);
        let sound = match &summary {
            Ok(_) => document.units.iter().all(|unit| unit.text.len() < 64 * 1024 * 1024),
            Err(error) => !error.reason().code.is_empty(),
        };
        if !sound || started.elapsed() > LONGEST {
            let kept = std::env::temp_dir()
                .join(format!("zhiku-fuzz-{}", path.file_name().expect("name").to_string_lossy()));
            std::fs::copy(&path, &kept).expect("keeps");
            panic!("{} took {:?}: {summary:?}", kept.display(), started.elapsed());
        }
        n_runs += 1;
        std::fs::remove_file(&path).expect("removes");
    }
    assert!(n_runs > 0);
}
