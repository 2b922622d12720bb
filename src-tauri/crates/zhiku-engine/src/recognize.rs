//! Recognition of one file without a vault: what `zhiku parse` does with scans and pictures, and what `zhiku transcribe` prints.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tokio_util::sync::CancellationToken;
use zhiku_core::model::Priority;
use zhiku_core::recognition::TextRecognizer;
use zhiku_core::{BudgetLimits, Fault, Process, RunContext};
use zhiku_ingest::compose;
use zhiku_media::{MediaError, MediaTools};
use zhiku_parse::report::{ParseReport, ReportUnit};
use zhiku_parse::worker::{ParseLimits, ParseRequest, read_picture};

use crate::engine::Engine;
use crate::error::{EngineError, Result};

/// Sound in memory at a time.
const WINDOW: Duration = Duration::from_mins(1);

/// What is said in a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transcript {
    /// ISO 639-1, of most of what is said; empty when nobody speaks.
    pub language: String,
    pub duration_ms: u64,
    pub segments: Vec<TranscriptSegment>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TranscriptSegment {
    pub start_ms: u64,
    pub end_ms: u64,
    pub text: String,
    pub language: String,
    /// 0 to 1.
    pub confidence: f32,
}

impl Engine {
    /// Reads one file without a vault, scans and pictures included where the models are there.
    pub fn parse(
        &self,
        file: &Path,
        password: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<ParseReport> {
        let limits = ParseLimits::default();
        let mut report = zhiku_parse::report::parse_report(&self.worker(), file, password, &limits, cancel)?;
        if report.units.iter().any(awaits) {
            match self.models().reader() {
                Ok(reader) => {
                    for unit in report.units.iter_mut().filter(|unit| awaits(unit)) {
                        self.read(file, password, unit, reader.as_ref(), cancel)?;
                    }
                }
                Err(error) => tracing::warn!(%error, "scans and pictures were not read"),
            }
        }
        Ok(report)
    }

    fn read(
        &self,
        file: &Path,
        password: Option<&str>,
        unit: &mut ReportUnit,
        reader: &dyn TextRecognizer,
        cancel: &CancellationToken,
    ) -> Result<()> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let request = ParseRequest { name: &name, password, start_unit: 0 };
        let limits = ParseLimits::default();
        let drawn = read_picture(&self.worker(), file, &request, &unit.locator, &limits, cancel)?;
        let ctx = context(cancel);
        let lines = reader.recognize(&drawn.picture, Priority::Interactive, &ctx)?;
        unit.text = compose(&lines, drawn.frame.page_size, &|bbox| drawn.frame.to_source(bbox)).text;
        Ok(())
    }

    /// What is said in a sound or video file, with times.
    pub fn transcribe(&self, file: &Path, cancel: &CancellationToken) -> Result<Transcript> {
        let (tools, ctx) = (MediaTools::find(), context(cancel));
        let info = zhiku_media::probe(file, &tools, &ctx).map_err(media_error)?;
        let hearing = self.models().hearing()?;
        let mut segments = Vec::new();
        let windows = zhiku_media::decode_audio(file, 0, WINDOW, &tools, &ctx).map_err(media_error)?;
        zhiku_media::transcribe(
            windows,
            hearing.voices.as_ref(),
            hearing.speech.as_ref(),
            None,
            &ctx,
            &mut |heard| {
                segments.extend(heard.segments);
                Ok(())
            },
        )
        .map_err(media_error)?;
        let segments: Vec<TranscriptSegment> = segments
            .into_iter()
            .map(|segment| TranscriptSegment {
                start_ms: segment.start_ms,
                end_ms: segment.end_ms,
                text: segment.text,
                language: segment.language,
                confidence: segment.confidence,
            })
            .collect();
        Ok(Transcript { language: main_language(&segments), duration_ms: info.duration_ms, segments })
    }
}

fn awaits(unit: &ReportUnit) -> bool {
    unit.process == Process::Ocr && unit.text.is_empty()
}

fn context(cancel: &CancellationToken) -> RunContext {
    RunContext { cancel: cancel.clone(), ..RunContext::new(BudgetLimits::default()) }
}

fn main_language(segments: &[TranscriptSegment]) -> String {
    let mut times: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for segment in segments {
        *times.entry(&segment.language).or_default() += segment.end_ms.saturating_sub(segment.start_ms);
    }
    times
        .into_iter()
        .max_by_key(|(_, time)| *time)
        .map(|(language, _)| language.to_owned())
        .unwrap_or_default()
}

fn media_error(error: MediaError) -> EngineError {
    EngineError {
        code: error.code(),
        fault: error.fault(),
        hint: error.hint().map(str::to_owned),
        retryable: error.fault() == Fault::Environment,
        message: error.to_string(),
    }
}
