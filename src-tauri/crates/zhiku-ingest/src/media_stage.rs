//! Recordings become units: what is said, in stretches with the time of every line ([`Spoken`]), and what is written in
//! the pictures of a video. Subtitles inside the file are preferred to hearing. Goes on at the last stored stretch.

use std::path::Path;
use std::time::Duration;

use zhiku_core::model::Priority;
use zhiku_core::recognition::TextRecognizer;
use zhiku_core::{
    DocumentState, JobStage, Locator, ParseWarning, ParsedUnit, Process, Reason, RunContext, Trust, UnitKind,
};
use zhiku_media::{FrameLimits, Heard, KeyFrame, MediaError, MediaInfo, MediaTools};
use zhiku_parse::ParsedDocument;
use zhiku_parse::worker::{ParseRequest, parse_file};
use zhiku_vault::{Job, UnitRow};

use crate::halt::{Halt, at};
use crate::recognition_lane::{STAGE, unavailable};
use crate::recognized_text::compose;
use crate::shared::Shared;
use crate::spoken::Spoken;

/// Goes up when recordings must be heard again.
const VERSION: u32 = 1;
/// Sound in memory at a time.
const WINDOW: Duration = Duration::from_mins(1);

pub(crate) fn recognize(shared: &Shared, job: &Job) -> Result<(), Halt> {
    let vault = &shared.vault;
    if vault.stage_finished(job.version, STAGE, VERSION).map_err(at(STAGE))? {
        return Ok(());
    }
    let recording = Recording::open(shared, job)?;
    if !vault.stage_finished(job.version, JobStage::Parse, VERSION).map_err(at(STAGE))? {
        recording.words()?;
        vault.finish_stage(job.version, JobStage::Parse, VERSION).map_err(at(STAGE))?;
    }
    if recording.info.has_video {
        recording.pictures()?;
    }
    vault.finish_stage(job.version, STAGE, VERSION).map_err(at(STAGE))
}

struct Recording<'a> {
    shared: &'a Shared,
    job: &'a Job,
    path: std::path::PathBuf,
    tools: MediaTools,
    info: MediaInfo,
    ctx: RunContext,
    /// What is stored already.
    staged: Vec<UnitRow>,
}

impl<'a> Recording<'a> {
    fn open(shared: &'a Shared, job: &'a Job) -> Result<Self, Halt> {
        let path = shared.vault.source_path(job.version).map_err(at(STAGE))?;
        let tools = MediaTools::find();
        let ctx = RunContext { cancel: shared.stop.child_token(), ..RunContext::background() };
        let info = zhiku_media::probe(&path, &tools, &ctx).map_err(|error| halt(&error))?;
        let staged = shared.vault.staged_unit_rows(job.version).map_err(at(STAGE))?;
        Ok(Self { shared, job, path, tools, info, ctx, staged })
    }

    fn kind(&self) -> UnitKind {
        if self.info.has_video { UnitKind::VideoSpan } else { UnitKind::AudioSpan }
    }

    fn words(&self) -> Result<(), Halt> {
        let written = self.info.subtitles.iter().find(|stream| stream.is_text);
        match written {
            Some(stream) => self.subtitles(stream.index),
            None if self.info.audio.is_empty() => Ok(()),
            None => self.speech(),
        }
    }

    fn subtitles(&self, index: usize) -> Result<(), Halt> {
        let text = zhiku_media::subtitles(&self.path, index, &self.tools, &self.ctx)
            .map_err(|error| halt(&error))?;
        let units = parse_subtitles(self.shared, &text)?;
        let units: Vec<ParsedUnit> =
            units.into_iter().map(|unit| ParsedUnit { kind: self.kind(), ..unit }).collect();
        self.shared.vault.stage_units(self.job.version, 0, &units).map_err(at(STAGE))?;
        Ok(())
    }

    fn speech(&self) -> Result<(), Halt> {
        let hearing = (self.shared.models.hearing)().map_err(|error| hearing_unavailable(&error))?;
        let mut unit = Spoken::new(self.kind());
        let mut next = self.staged.len() as u32;
        let from_ms = self.staged.iter().map(end_ms).max().unwrap_or(0);
        let windows = zhiku_media::decode_audio(&self.path, from_ms, WINDOW, &self.tools, &self.ctx);
        let windows = windows.map_err(|error| halt(&error))?;
        let mut stopped = None;
        let mut store = |unit: &mut Spoken| -> Result<(), MediaError> {
            let Some(done) = unit.take() else { return Ok(()) };
            match self.shared.vault.stage_units(self.job.version, next, &[done]) {
                Ok(_) => {
                    next += 1;
                    Ok(())
                }
                Err(error) => {
                    stopped = Some(Halt::Vault { stage: STAGE, error });
                    Err(MediaError::Stopped(zhiku_core::Stopped::Cancelled))
                }
            }
        };
        let heard = zhiku_media::transcribe(
            windows,
            hearing.voices.as_ref(),
            hearing.speech.as_ref(),
            None,
            &self.ctx,
            &mut |heard: Heard| {
                self.tell(heard.until_ms);
                if !self.shared.may_go_on(self.job) {
                    return Err(MediaError::Stopped(zhiku_core::Stopped::Cancelled));
                }
                for segment in &heard.segments {
                    if unit.is_full(segment) {
                        store(&mut unit)?;
                    }
                    unit.push(segment);
                }
                Ok(())
            },
        );
        let heard = heard.and_then(|()| store(&mut unit));
        heard.map_err(|error| stopped.unwrap_or_else(|| halt(&error)))
    }

    /// What is written in the pictures. Without ffmpeg or the models a warning says that they were not read.
    fn pictures(&self) -> Result<(), Halt> {
        let reader = match (self.shared.models.reader)() {
            Ok(reader) => reader,
            Err(error) => return self.warn("reader_unavailable", &error.to_string()),
        };
        let mut next = self.shared.vault.staged_units(self.job.version).map_err(at(STAGE))?;
        let seen = self.staged.iter().filter(|row| row.process == Process::Ocr);
        let seen_ms = seen.map(end_ms).max().unwrap_or(0);
        let (mut stopped, mut before) = (None, String::new());
        let found = zhiku_media::key_frames(
            &self.path,
            &self.info,
            FrameLimits::default(),
            &self.tools,
            &self.ctx,
            &mut |frame: KeyFrame| {
                self.tell(frame.start_ms);
                if frame.end_ms <= seen_ms {
                    return Ok(());
                }
                if !self.shared.may_go_on(self.job) {
                    return Err(MediaError::Stopped(zhiku_core::Stopped::Cancelled));
                }
                let unit = self.read(&frame, reader.as_ref())?;
                if unit.text.is_empty() || unit.text == before {
                    return Ok(());
                }
                before.clone_from(&unit.text);
                if let Err(error) = self.shared.vault.stage_units(self.job.version, next, &[unit]) {
                    stopped = Some(Halt::Vault { stage: STAGE, error });
                    return Err(MediaError::Stopped(zhiku_core::Stopped::Cancelled));
                }
                next += 1;
                Ok(())
            },
        );
        match found {
            Ok(_) => Ok(()),
            Err(MediaError::Stopped(_)) => Err(stopped.unwrap_or(Halt::TakenBack)),
            Err(error) => self.warn(error.reason_code(), &error.to_string()),
        }
    }

    fn read(&self, frame: &KeyFrame, reader: &dyn TextRecognizer) -> Result<ParsedUnit, MediaError> {
        let lines = reader.recognize(&frame.picture, Priority::Background, &self.ctx)?;
        let size = [frame.picture.width as f32, frame.picture.height as f32];
        let read = compose(&lines, size, &|bbox| bbox);
        Ok(ParsedUnit {
            kind: UnitKind::VideoSpan,
            locator: Locator::Time { start_ms: frame.start_ms, end_ms: frame.end_ms },
            text: read.text,
            process: Process::Ocr,
            trust: Trust::Normal,
            heading_path: Vec::new(),
            layout: None,
            confidence: Some(read.confidence),
            timing: Vec::new(),
        })
    }

    /// Progress in seconds of the recording.
    fn tell(&self, until_ms: u64) {
        let total = (self.info.duration_ms / 1000) as u32;
        let done = ((until_ms / 1000) as u32).min(total);
        self.shared.progress(self.job, DocumentState::Parsing, STAGE, done, total);
    }

    fn warn(&self, code: &str, message: &str) -> Result<(), Halt> {
        let vault = &self.shared.vault;
        let mut warnings = vault.staged_warnings(self.job.version).map_err(at(STAGE))?;
        if warnings.iter().all(|warning| warning.code != code) {
            warnings.push(ParseWarning { locator: None, message: message.to_owned(), code: code.to_owned() });
            vault.set_warnings(self.job.version, &warnings).map_err(at(STAGE))?;
        }
        Ok(())
    }
}

/// The units of an SRT text, by the parser that subtitle files have.
fn parse_subtitles(shared: &Shared, text: &str) -> Result<Vec<ParsedUnit>, Halt> {
    let failed = |detail: &dyn std::fmt::Display| Halt::Failed {
        stage: STAGE,
        reason: Reason::new("io_failed").with("attempt", "read subtitles").with("detail", detail),
        retryable: true,
    };
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let path = folder.path().join("subtitles.srt");
    std::fs::write(&path, text).map_err(|error| failed(&error))?;
    let mut parsed = ParsedDocument::default();
    let request = ParseRequest { name: "subtitles.srt", password: None, start_unit: 0 };
    let (worker, limits) = (&shared.config.worker, &shared.config.limits);
    parse_file(worker, Path::new(&path), &request, limits, &shared.stop.child_token(), &mut parsed)
        .map_err(|error| failed(&error))?;
    Ok(parsed.units)
}

fn end_ms(row: &UnitRow) -> u64 {
    if let Locator::Time { end_ms, .. } = row.locator { end_ms } else { 0 }
}

fn halt(error: &MediaError) -> Halt {
    if let MediaError::Stopped(_) = error {
        return Halt::TakenBack;
    }
    if let MediaError::Model(error) = error {
        return unavailable(error);
    }
    let mut reason = Reason::new(error.reason_code()).with("detail", error);
    if let Some(hint) = error.hint() {
        reason = reason.with("hint", hint);
    }
    Halt::Failed { stage: STAGE, reason, retryable: error.reason_code() == "needs_ffmpeg" }
}

fn hearing_unavailable(error: &zhiku_core::model::ModelError) -> Halt {
    let reason = Reason::new("hearing_unavailable").with("detail", error);
    Halt::Failed { stage: STAGE, reason, retryable: true }
}
