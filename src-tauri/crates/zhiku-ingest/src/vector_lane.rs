//! The vector lane: embed what has no vectors yet, then publish hybrid. Jobs are taken in groups, so that many short
//! documents fill a batch as well as one long one does.

use std::sync::Arc;
use std::time::Instant;

use zhiku_core::model::TokenMatrix;
use zhiku_core::model::{EmbedSide, Embedder, Priority};
use zhiku_core::{ChunkId, DocumentState, ErrorCode, JobStage, Reason, RunContext};
use zhiku_vault::{Job, JobLane, PendingChunk, PublishOutcome, VaultError, VersionRef};

use crate::guard::guarded;
use crate::shared::Shared;

/// Chunks of one group of jobs, at the most from the job that reaches it.
const GROUP_CHUNKS: u32 = 256;
/// Chunks per call of the embedder and per transaction: what a crash can cost.
const BATCH_CHUNKS: usize = 64;

pub(crate) fn run(shared: &Shared) {
    while let Some(jobs) = shared.next_jobs(JobLane::Vectors, GROUP_CHUNKS, || ()) {
        if guarded(|| work(shared, jobs.clone())).is_err() {
            one_by_one(shared, jobs);
        }
    }
}

/// After a panic in a group: each job alone, so that it costs only the document that brings it about.
fn one_by_one(shared: &Shared, jobs: Vec<Job>) {
    for job in jobs.into_iter().filter(|job| shared.is_running(job)) {
        if let Err(reason) = guarded(|| work(shared, vec![job.clone()])) {
            shared.fail(&job, JobStage::Embed, reason, true);
        }
    }
}

fn work(shared: &Shared, jobs: Vec<Job>) {
    let embedder = match (shared.models.embedder)() {
        Ok(embedder) => embedder,
        Err(error) => {
            let reason = Reason::new("embedder_unavailable").with("detail", &error);
            for job in &jobs {
                let published =
                    shared.vault.published_version(job.version.document).ok().flatten() == Some(job.version);
                let state = if published { DocumentState::Published } else { DocumentState::Ready };
                shared.settle(job.version, state, JobStage::Embed, Some(reason.clone()));
            }
            shared.hand_over(&jobs, JobLane::AwaitsModel);
            return;
        }
    };
    let mut group = Vec::new();
    for job in jobs {
        match pending(shared, embedder.as_ref(), &job) {
            Ok(chunks) => {
                group.push(Member { total: chunks.len() as u32, done: 0, alive: true, job, chunks });
            }
            Err(error) => shared.fail_with(&job, JobStage::Embed, &error),
        }
    }
    if embed(shared, &embedder, &mut group) {
        publish(shared, group);
    }
}

/// A chunk's sentence vector and token vectors.
type ChunkVectors = (ChunkId, Vec<f32>, TokenMatrix);

struct Member {
    job: Job,
    chunks: Vec<PendingChunk>,
    done: u32,
    total: u32,
    alive: bool,
}

fn pending(shared: &Shared, embedder: &dyn Embedder, job: &Job) -> Result<Vec<PendingChunk>, VaultError> {
    shared.vault.set_embedding_space(&embedder.space())?;
    shared.vault.reuse_vectors(job.version)?;
    shared.vault.pending_chunks(job.version)
}

/// Embeds all chunks of the group, longest batches last. Returns whether the lane may go on.
fn embed(shared: &Shared, embedder: &Arc<dyn Embedder>, group: &mut [Member]) -> bool {
    let mut queue: Vec<(usize, PendingChunk)> = Vec::new();
    for (index, member) in group.iter_mut().enumerate() {
        queue.extend(std::mem::take(&mut member.chunks).into_iter().map(|chunk| (index, chunk)));
    }
    // Within a window of some batches, texts of like length go together; over the whole queue, order is kept.
    for window in queue.chunks_mut(BATCH_CHUNKS * 4) {
        window.sort_by_key(|(_, chunk)| chunk.n_tokens);
    }
    let ctx = RunContext { cancel: shared.stop.child_token(), ..RunContext::background() };
    for batch in queue.chunks(BATCH_CHUNKS) {
        for member in group.iter_mut().filter(|member| member.alive && member.done < member.total) {
            member.alive = shared.is_running(&member.job);
            if !member.alive {
                let reason = Reason::new("cancelled");
                shared.settle(member.job.version, DocumentState::Failed, JobStage::Embed, Some(reason));
            }
        }
        if shared.stands_still() {
            put_back(shared, group);
            return false;
        }
        let begun = Instant::now();
        let batch: Vec<&(usize, PendingChunk)> =
            batch.iter().filter(|(index, _)| group[*index].alive).collect();
        if batch.is_empty() {
            continue;
        }
        let texts: Vec<&str> = batch.iter().map(|(_, chunk)| chunk.indexed_text.as_str()).collect();
        match embedder.embed(&texts, EmbedSide::Passage, Priority::Background, &ctx) {
            Ok(embeddings) => {
                let vectors = batch.iter().map(|(index, chunk)| (*index, chunk.chunk_id)).zip(embeddings);
                store(
                    shared,
                    group,
                    vectors.map(|((index, id), made)| (index, (id, made.sentence, made.tokens))).collect(),
                );
            }
            Err(error) if error.code == ErrorCode::Cancelled => {
                put_back(shared, group);
                return false;
            }
            Err(error) => {
                let reason = Reason::new("embedding_failed").with("detail", &error);
                for member in group.iter_mut().filter(|member| member.alive) {
                    shared.fail(&member.job, JobStage::Embed, reason.clone(), true);
                    member.alive = false;
                }
                return true;
            }
        }
        shared.give_way(begun.elapsed());
    }
    true
}

fn put_back(shared: &Shared, group: &[Member]) {
    group.iter().filter(|member| member.alive).for_each(|member| shared.put_back(&member.job));
}

fn store(shared: &Shared, group: &mut [Member], vectors: Vec<(usize, ChunkVectors)>) {
    let mut by_member: Vec<Vec<ChunkVectors>> = group.iter().map(|_| Vec::new()).collect();
    for (index, vector) in vectors {
        by_member[index].push(vector);
    }
    for (member, vectors) in group.iter_mut().zip(by_member).filter(|(_, vectors)| !vectors.is_empty()) {
        if let Err(error) = shared.vault.store_vectors(member.job.version, &vectors) {
            shared.fail_with(&member.job, JobStage::Embed, &error);
            member.alive = false;
            continue;
        }
        member.done += vectors.len() as u32;
        shared.progress(&member.job, DocumentState::Indexing, JobStage::Embed, member.done, member.total);
    }
}

fn publish(shared: &Shared, group: Vec<Member>) {
    let jobs: Vec<Job> = group.into_iter().filter(|member| member.alive).map(|member| member.job).collect();
    let versions: Vec<VersionRef> = jobs.iter().map(|job| job.version).collect();
    if versions.is_empty() {
        return;
    }
    match shared.vault.publish_hybrid(&versions) {
        Ok(outcomes) => {
            for (job, outcome) in jobs.iter().zip(outcomes) {
                if let Err(error) = shared.vault.finish_job(job.job_id) {
                    tracing::warn!(%error, "could not end a job");
                }
                let state = match outcome {
                    PublishOutcome::Overtaken => DocumentState::Superseded,
                    PublishOutcome::Published | PublishOutcome::AwaitsVectors => DocumentState::Published,
                };
                shared.settle(job.version, state, JobStage::Done, None);
            }
        }
        Err(error) => jobs.iter().for_each(|job| shared.fail_with(job, JobStage::Publish, &error)),
    }
}
