//! What is known of the lanes, under one lock: pure bookkeeping.

use std::time::Instant;

use zhiku_vault::{Job, JobLane};

use crate::governor::{GovernorSettings, HoldUp};

/// Those that go on first when memory is short come first.
pub(crate) const LANES: [JobLane; 3] = [JobLane::Vectors, JobLane::Recognition, JobLane::Text];

#[derive(Default)]
pub(crate) struct LaneState {
    pub(crate) paused: bool,
    pub(crate) governor: GovernorSettings,
    /// Goes up with every sign that the vault's queue may have something new.
    pub(crate) queue_signs: u64,
    /// No room was found to write to, until then.
    pub(crate) full_until: Option<Instant>,
    /// Jobs that could not be put back, for want of room.
    pub(crate) to_put_back: Vec<Job>,
    lanes: [Lane; LANES.len()],
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Lane {
    /// Has work, or has not looked since the last sign.
    pub(crate) busy: bool,
    /// Has claimed a job and not finished with it.
    pub(crate) working: bool,
    pub(crate) held_up: Option<HoldUp>,
}

impl LaneState {
    pub(crate) fn lane(&mut self, lane: JobLane) -> &mut Lane {
        // What waits for a model is nobody's work and never asked for.
        let index = LANES.iter().position(|known| *known == lane).unwrap_or(LANES.len() - 1);
        &mut self.lanes[index]
    }

    pub(crate) fn is_idle(&self) -> bool {
        !self.lanes.iter().any(|lane| lane.busy)
    }

    /// Something new may be in these lanes.
    pub(crate) fn sign(&mut self, lanes: &[JobLane]) {
        self.queue_signs += 1;
        for lane in lanes {
            self.lane(*lane).busy = true;
        }
    }

    /// Working lanes that go before `lane` when memory is short.
    pub(crate) fn n_before(&self, lane: JobLane) -> usize {
        let before = LANES.iter().take_while(|known| **known != lane);
        before.zip(&self.lanes).filter(|(_, lane)| lane.working).count()
    }

    /// What holds work up; a full disk is told before short memory.
    pub(crate) fn held_up(&self) -> Option<HoldUp> {
        let found = || self.lanes.iter().filter(|lane| lane.busy).filter_map(|lane| lane.held_up);
        found().find(|hold| *hold == HoldUp::DiskFull).or_else(|| found().next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_short_memory_the_lanes_work_from_the_last_to_the_first() {
        let mut state = LaneState::default();
        state.sign(&LANES);
        assert_eq!(LANES.map(|lane| state.n_before(lane)), [0, 0, 0], "what only waits holds nobody up");
        state.lane(JobLane::Vectors).working = true;
        assert_eq!(LANES.map(|lane| state.n_before(lane)), [0, 1, 1]);
        state.lane(JobLane::Recognition).working = true;
        assert_eq!(LANES.map(|lane| state.n_before(lane)), [0, 1, 2]);
    }

    #[test]
    fn a_full_disk_is_told_before_short_memory_and_only_of_lanes_with_work() {
        let mut state = LaneState::default();
        state.sign(&[JobLane::Text, JobLane::Vectors]);
        state.lane(JobLane::Vectors).held_up = Some(HoldUp::Memory);
        assert_eq!(state.held_up(), Some(HoldUp::Memory));
        state.lane(JobLane::Text).held_up = Some(HoldUp::DiskFull);
        assert_eq!(state.held_up(), Some(HoldUp::DiskFull));
        *state.lane(JobLane::Text) = Lane::default();
        assert_eq!(state.held_up(), Some(HoldUp::Memory));
        *state.lane(JobLane::Vectors) = Lane::default();
        assert!(state.held_up().is_none() && state.is_idle());
    }
}
