//! What the machine does now: this process's memory, the processors that others use, the room on the vault's disk.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use crate::pipeline::MachineSource;

/// A reading is good for this long: less says little about the load and costs more than a short step.
const FRESH: Duration = Duration::from_secs(1);

/// One look at the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineReading {
    /// Bytes of this process in memory.
    pub own_memory: u64,
    pub memory_total: u64,
    /// The share of all processors that other programs use, 0 to 1.
    pub others_busy: f32,
    /// On the disk of the vault; `None` where it cannot be told.
    pub disk_free: Option<u64>,
}

/// Looks at the machine, at most once a second.
pub struct Machine {
    vault_dir: PathBuf,
    state: Mutex<State>,
}

struct State {
    /// `None` where the system tells nothing: then nothing but the disk holds work up.
    system: Option<System>,
    last: Option<(Instant, MachineReading)>,
}

impl Machine {
    /// `vault_dir` is on the disk whose room counts.
    pub fn new(vault_dir: &Path) -> Self {
        let system = System::new()
            .inspect_err(|error| tracing::warn!(%error, "the load of this machine is not known"))
            .ok();
        let state = State { system, last: None };
        Self { vault_dir: vault_dir.to_owned(), state: Mutex::new(state) }
    }

    /// For the lanes.
    pub fn source(vault_dir: &Path) -> MachineSource {
        let machine = Self::new(vault_dir);
        Arc::new(move || machine.read())
    }

    pub fn read(&self) -> MachineReading {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.last {
            Some((at, reading)) if at.elapsed() < FRESH => reading,
            _ => {
                let reading = state.look(&self.vault_dir);
                state.last = Some((Instant::now(), reading));
                reading
            }
        }
    }
}

impl State {
    fn look(&mut self, vault_dir: &Path) -> MachineReading {
        let disk_free = free_at(vault_dir);
        let is_first = self.last.is_none();
        let Some(system) = &mut self.system else {
            return MachineReading { own_memory: 0, memory_total: u64::MAX, others_busy: 0.0, disk_free };
        };
        let own = Pid::from_u32(std::process::id());
        system.refresh_memory();
        system.refresh_cpu_usage();
        let what = ProcessRefreshKind::nothing().with_memory().with_cpu();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), false, what);
        let n_processors = system.cpus().len().max(1) as f32;
        // Both are of the time since the look before; the first one has none, and nobody is busy in it.
        let all = system.global_cpu_usage() / 100.0;
        let process = system.process(own);
        let mine = process.map_or(0.0, |process| process.cpu_usage() / 100.0 / n_processors);
        MachineReading {
            own_memory: process.map_or(0, sysinfo::Process::memory),
            memory_total: system.total_memory(),
            others_busy: if is_first { 0.0 } else { (all - mine).clamp(0.0, 1.0) },
            disk_free,
        }
    }
}

/// The room on the disk that holds `path`.
#[cfg(unix)]
fn free_at(path: &Path) -> Option<u64> {
    let room = rustix::fs::statvfs(path).ok()?;
    Some(room.f_bavail.saturating_mul(room.f_frsize))
}

/// The room on the disk that holds `path`: the one mounted nearest above it.
#[cfg(not(unix))]
fn free_at(path: &Path) -> Option<u64> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let disks = sysinfo::Disks::new_with_refreshed_list();
    let above = disks.iter().filter(|disk| path.starts_with(disk.mount_point()));
    let nearest = above.max_by_key(|disk| disk.mount_point().components().count())?;
    Some(nearest.available_space())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_so_has_the_machine() {
        let dir = tempfile::tempdir().expect("temp dir");
        let reading = Machine::new(dir.path()).read();
        assert!(reading.disk_free.is_some_and(|free| free > 0), "{reading:?}");
        assert!(reading.own_memory > 0 && reading.own_memory < reading.memory_total, "{reading:?}");
        assert!((0.0..=1.0).contains(&reading.others_busy), "{reading:?}");
    }
}
