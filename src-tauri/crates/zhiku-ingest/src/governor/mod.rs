//! How much of the machine an import takes: pure decisions. What the machine is doing is read in [`machine`].
//!
//! Three things can hold work up, and none of them fails a document: other programs that need the processor, memory, and a
//! disk that is almost full. The lanes ask between their steps, and wait or put their work back as the answer says. Files in
//! flight are few by construction: one per lane, and a group of short ones in the vector lane.

mod machine;

use std::num::NonZeroUsize;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zhiku_core::Reason;

pub use machine::{Machine, MachineReading};

/// Threads beyond these gain little at the size of the models that are used.
const MOST_THREADS: usize = 4;
/// Of all processors, what other programs may use before an import gives way.
const OTHERS_BUSY: f32 = 0.6;
/// The longest that one step waits for other programs: an import that never ends helps nobody.
const LONGEST_YIELD: Duration = Duration::from_secs(2);
const MIB: u64 = 1024 * 1024;
/// What is left free for the system and for what the database and the index write before it is seen on the disk.
const DISK_RESERVE: u64 = 512 * MIB;

/// What a person may set. Persisted: changes need a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GovernorSettings {
    /// Threads for one inference; `None` leaves it to the machine's size and to `keep_usable`.
    pub threads: Option<NonZeroUsize>,
    /// Fewer threads, and way for other programs.
    pub keep_usable: bool,
    /// Bytes of this process above which only one lane at a time works; `None` leaves it to the machine's size.
    pub memory_ceiling: Option<u64>,
    /// Bytes of free disk below which imports wait.
    pub disk_reserve: u64,
}

impl Default for GovernorSettings {
    fn default() -> Self {
        Self { threads: None, keep_usable: true, memory_ceiling: None, disk_reserve: DISK_RESERVE }
    }
}

impl GovernorSettings {
    /// Threads for one inference, on a machine of so many processors.
    pub fn threads(&self, n_processors: NonZeroUsize) -> NonZeroUsize {
        if let Some(wanted) = self.threads {
            return wanted.min(n_processors);
        }
        let all = n_processors.get().min(MOST_THREADS);
        let used = if self.keep_usable { (n_processors.get() / 2).clamp(1, MOST_THREADS) } else { all };
        NonZeroUsize::new(used).unwrap_or(NonZeroUsize::MIN)
    }

    /// Bytes of this process above which lanes work one at a time.
    pub fn ceiling(&self, memory_total: u64) -> u64 {
        // A quarter of the machine, but never less than the models and the index need to work at all.
        self.memory_ceiling.unwrap_or((memory_total / 4).clamp(1536 * MIB, 8 * 1024 * MIB))
    }
}

/// Why work waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HoldUp {
    DiskFull,
    Memory,
}

impl HoldUp {
    pub fn reason(self) -> Reason {
        Reason::new(match self {
            Self::DiskFull => "disk_full",
            Self::Memory => "memory_full",
        })
    }
}

/// Whether the next step may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Go,
    /// After a pause in which others have the processor.
    Yield(Duration),
    /// Not before this is over; ask again.
    Wait(HoldUp),
}

/// Decides on the next step. `last_step` is how long the one before took; `others` how many lanes are under way that go
/// before this one when memory is short.
pub fn decide(
    settings: &GovernorSettings,
    machine: &MachineReading,
    last_step: Duration,
    others: usize,
) -> Verdict {
    if machine.disk_free.is_some_and(|free| free < settings.disk_reserve) {
        return Verdict::Wait(HoldUp::DiskFull);
    }
    // With nothing else under way, waiting would free no memory: the step goes on, alone.
    if others > 0 && machine.own_memory > settings.ceiling(machine.memory_total) {
        return Verdict::Wait(HoldUp::Memory);
    }
    if settings.keep_usable && machine.others_busy > OTHERS_BUSY {
        // As long as the step itself: half of what is left over is used.
        return Verdict::Yield(last_step.min(LONGEST_YIELD));
    }
    Verdict::Go
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_millis(300);

    fn reading() -> MachineReading {
        MachineReading {
            own_memory: 500 * MIB,
            memory_total: 16 * 1024 * MIB,
            others_busy: 0.1,
            disk_free: Some(100 * 1024 * MIB),
        }
    }

    #[test]
    fn an_idle_machine_lets_everything_through() {
        assert_eq!(decide(&GovernorSettings::default(), &reading(), STEP, 1), Verdict::Go);
    }

    #[test]
    fn other_programs_get_way_only_when_the_machine_is_to_stay_usable() {
        let machine = MachineReading { others_busy: 0.9, ..reading() };
        let mut settings = GovernorSettings::default();
        assert_eq!(decide(&settings, &machine, STEP, 0), Verdict::Yield(STEP));
        assert_eq!(
            decide(&settings, &machine, Duration::from_mins(1), 0),
            Verdict::Yield(LONGEST_YIELD),
            "an import ends however busy the machine is"
        );
        settings.keep_usable = false;
        assert_eq!(decide(&settings, &machine, STEP, 0), Verdict::Go);
    }

    #[test]
    fn over_the_ceiling_one_file_goes_on_and_others_wait() {
        let machine = MachineReading { own_memory: 5 * 1024 * MIB, ..reading() };
        let settings = GovernorSettings::default();
        assert_eq!(decide(&settings, &machine, STEP, 1), Verdict::Wait(HoldUp::Memory));
        assert_eq!(decide(&settings, &machine, STEP, 0), Verdict::Go);
        let more = GovernorSettings { memory_ceiling: Some(6 * 1024 * MIB), ..settings };
        assert_eq!(decide(&more, &machine, STEP, 1), Verdict::Go);
    }

    #[test]
    fn a_full_disk_holds_everything_up_and_an_unknown_one_nothing() {
        let settings = GovernorSettings::default();
        let full = MachineReading { disk_free: Some(10 * MIB), ..reading() };
        assert_eq!(decide(&settings, &full, STEP, 0), Verdict::Wait(HoldUp::DiskFull));
        let unknown = MachineReading { disk_free: None, ..reading() };
        assert_eq!(decide(&settings, &unknown, STEP, 0), Verdict::Go);
    }

    #[test]
    fn half_of_the_processors_are_used_and_at_least_one() {
        let threads = |keep_usable, n| {
            let settings = GovernorSettings { keep_usable, ..GovernorSettings::default() };
            settings.threads(NonZeroUsize::new(n).expect("not zero")).get()
        };
        assert_eq!([1, 2, 4, 8, 32].map(|n| threads(true, n)), [1, 1, 2, 4, 4]);
        assert_eq!([1, 2, 4, 8, 32].map(|n| threads(false, n)), [1, 2, 4, 4, 4]);
        let set = GovernorSettings { threads: NonZeroUsize::new(6), ..GovernorSettings::default() };
        assert_eq!([2, 8].map(|n| set.threads(NonZeroUsize::new(n).expect("not zero")).get()), [2, 6]);
    }
}
