//! The edges of the retrieval state machine, pure: `next(position, observation, limits)`.
//!
//! Two stops: [`Limits::max_rounds`] is meant (how often a question may be asked anew), [`Limits::max_steps`] is a fuse
//! against a wrong edge. Deadline and cancel come in as an observation from whoever looks at the clock.

use serde::Serialize;
use zhiku_core::{ExitReason, Stopped};

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    Plan,
    Recall,
    Fuse,
    Rerank,
    Assess,
    Rewrite,
    Done,
}

impl Node {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Recall => "recall",
            Self::Fuse => "fuse",
            Self::Rerank => "rerank",
            Self::Assess => "assess",
            Self::Rewrite => "rewrite",
            Self::Done => "done",
        }
    }
}

/// What a node saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    Planned {
        n_queries: usize,
    },
    /// Candidates of all rounds together.
    Recalled {
        n_candidates: usize,
    },
    Fused,
    Reranked,
    /// Sub-queries with and without evidence above the threshold.
    Assessed {
        n_sufficient: usize,
        n_open: usize,
    },
    /// New queries that were not tried before.
    Rewritten {
        n_queries: usize,
    },
    Stopped(Stopped),
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub node: Node,
    /// Rounds of recall begun.
    pub rounds: u32,
    /// Nodes visited.
    pub steps: u32,
    /// Set when `node` is [`Node::Done`].
    pub exit: Option<ExitReason>,
    /// Sub-queries with evidence at the last assessment.
    pub n_sufficient: usize,
}

impl Position {
    pub fn start() -> Self {
        Self { node: Node::Plan, rounds: 0, steps: 0, exit: None, n_sufficient: 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub max_rounds: u32,
    pub max_steps: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_rounds: 3, max_steps: 12 }
    }
}

/// Goes one edge. An observation that does not belong to the node is a wrong edge and ends the run.
#[must_use]
pub fn next(at: Position, seen: Observation, limits: Limits) -> Position {
    let steps = at.steps + 1;
    let n_sufficient = match seen {
        Observation::Assessed { n_sufficient, .. } => n_sufficient,
        _ => at.n_sufficient,
    };
    let to = |node: Node| Position { node, steps, n_sufficient, ..at };
    let done = |exit: ExitReason| Position { node: Node::Done, steps, exit: Some(exit), n_sufficient, ..at };
    let out_of_budget = || {
        done(if n_sufficient > 0 { ExitReason::RetrievalBudgetExhausted } else { ExitReason::NothingFound })
    };
    let reached = match (at.node, seen) {
        (_, Observation::Stopped(Stopped::Cancelled)) => done(ExitReason::Cancelled),
        (_, Observation::Stopped(Stopped::Deadline)) => done(ExitReason::Deadline),
        (Node::Plan, Observation::Planned { n_queries: 0 }) => done(ExitReason::NothingFound),
        (Node::Plan, Observation::Planned { .. })
        | (Node::Rewrite, Observation::Rewritten { n_queries: 1.. }) => {
            Position { rounds: at.rounds + 1, ..to(Node::Recall) }
        }
        // Without a candidate there is nothing to rank; whether to ask anew is for assessment to say.
        (Node::Recall, Observation::Recalled { n_candidates: 0 }) | (Node::Rerank, Observation::Reranked) => {
            to(Node::Assess)
        }
        (Node::Recall, Observation::Recalled { .. }) => to(Node::Fuse),
        (Node::Fuse, Observation::Fused) => to(Node::Rerank),
        (Node::Assess, Observation::Assessed { n_open: 0, .. }) => done(ExitReason::EvidenceSufficient),
        (Node::Assess, Observation::Assessed { .. }) if at.rounds < limits.max_rounds => to(Node::Rewrite),
        _ => out_of_budget(),
    };
    if reached.node != Node::Done && steps >= limits.max_steps { out_of_budget() } else { reached }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { max_rounds: 3, max_steps: 12 };

    fn at(node: Node, rounds: u32) -> Position {
        Position { node, rounds, ..Position::start() }
    }

    fn check(from: Position, seen: Observation, node: Node, exit: Option<ExitReason>) {
        let reached = next(from, seen, LIMITS);
        assert_eq!((reached.node, reached.exit, reached.steps), (node, exit, from.steps + 1));
    }

    #[test]
    fn plan_leads_to_recall_and_begins_a_round() {
        check(at(Node::Plan, 0), Observation::Planned { n_queries: 2 }, Node::Recall, None);
        assert_eq!(next(at(Node::Plan, 0), Observation::Planned { n_queries: 1 }, LIMITS).rounds, 1);
    }

    #[test]
    fn a_question_without_words_finds_nothing() {
        check(
            at(Node::Plan, 0),
            Observation::Planned { n_queries: 0 },
            Node::Done,
            Some(ExitReason::NothingFound),
        );
    }

    #[test]
    fn recall_leads_to_fuse_or_past_it_when_nothing_was_recalled() {
        check(at(Node::Recall, 1), Observation::Recalled { n_candidates: 5 }, Node::Fuse, None);
        check(at(Node::Recall, 1), Observation::Recalled { n_candidates: 0 }, Node::Assess, None);
    }

    #[test]
    fn fuse_leads_to_rerank_and_rerank_to_assess() {
        check(at(Node::Fuse, 1), Observation::Fused, Node::Rerank, None);
        check(at(Node::Rerank, 1), Observation::Reranked, Node::Assess, None);
    }

    #[test]
    fn assess_ends_when_every_part_has_evidence() {
        let seen = Observation::Assessed { n_sufficient: 2, n_open: 0 };
        check(at(Node::Assess, 1), seen, Node::Done, Some(ExitReason::EvidenceSufficient));
    }

    #[test]
    fn assess_leads_to_rewrite_while_rounds_are_left() {
        let seen = Observation::Assessed { n_sufficient: 1, n_open: 1 };
        check(at(Node::Assess, 2), seen, Node::Rewrite, None);
        check(at(Node::Assess, 3), seen, Node::Done, Some(ExitReason::RetrievalBudgetExhausted));
        let nothing = Observation::Assessed { n_sufficient: 0, n_open: 2 };
        check(at(Node::Assess, 3), nothing, Node::Done, Some(ExitReason::NothingFound));
    }

    #[test]
    fn rewrite_leads_to_recall_or_gives_up_without_a_new_query() {
        check(at(Node::Rewrite, 1), Observation::Rewritten { n_queries: 1 }, Node::Recall, None);
        assert_eq!(next(at(Node::Rewrite, 1), Observation::Rewritten { n_queries: 1 }, LIMITS).rounds, 2);
        check(
            at(Node::Rewrite, 1),
            Observation::Rewritten { n_queries: 0 },
            Node::Done,
            Some(ExitReason::NothingFound),
        );
        let some = Position { n_sufficient: 1, ..at(Node::Rewrite, 1) };
        check(
            some,
            Observation::Rewritten { n_queries: 0 },
            Node::Done,
            Some(ExitReason::RetrievalBudgetExhausted),
        );
    }

    #[test]
    fn deadline_and_cancel_end_every_node() {
        for node in [Node::Plan, Node::Recall, Node::Fuse, Node::Rerank, Node::Assess, Node::Rewrite] {
            check(
                at(node, 1),
                Observation::Stopped(Stopped::Deadline),
                Node::Done,
                Some(ExitReason::Deadline),
            );
            check(
                at(node, 1),
                Observation::Stopped(Stopped::Cancelled),
                Node::Done,
                Some(ExitReason::Cancelled),
            );
        }
    }

    #[test]
    fn the_step_limit_ends_a_run_that_goes_in_circles() {
        let mut position = Position::start();
        let limits = Limits { max_rounds: u32::MAX, max_steps: 12 };
        while position.node != Node::Done {
            let seen = match position.node {
                Node::Plan => Observation::Planned { n_queries: 1 },
                Node::Recall => Observation::Recalled { n_candidates: 1 },
                Node::Fuse => Observation::Fused,
                Node::Rerank => Observation::Reranked,
                Node::Assess => Observation::Assessed { n_sufficient: 0, n_open: 1 },
                Node::Rewrite | Node::Done => Observation::Rewritten { n_queries: 1 },
            };
            position = next(position, seen, limits);
        }
        assert_eq!((position.steps, position.exit), (12, Some(ExitReason::NothingFound)));
    }

    #[test]
    fn an_observation_of_another_node_ends_the_run() {
        check(
            at(Node::Fuse, 1),
            Observation::Planned { n_queries: 1 },
            Node::Done,
            Some(ExitReason::NothingFound),
        );
    }
}
