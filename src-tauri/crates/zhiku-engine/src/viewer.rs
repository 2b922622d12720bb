//! Opening a source at its place. Every call checks the scope again; nothing here carries a path.

use zhiku_core::{
    DocumentId, DocumentKind, Locator, ParseWarning, Process, RunId, TimedText, Trust, UnitId, VersionNumber,
};
use zhiku_vault::{ObjectFile, ObjectState, UnitRow};

use crate::error::{EngineError, Result};
use crate::session::Session;

/// A version of a document, ready to be shown.
#[derive(Clone, Debug)]
pub struct SourceView {
    pub document: DocumentId,
    pub version: VersionNumber,
    pub title: String,
    pub kind: DocumentKind,
    /// The version that search finds; larger than `version` when a newer one exists.
    pub published: Option<VersionNumber>,
    pub object: ObjectState,
    pub warnings: Vec<ParseWarning>,
    pub units: Vec<SourceUnit>,
}

/// One unit without its layout.
#[derive(Clone, Debug)]
pub struct SourceUnit {
    pub unit_id: UnitId,
    pub locator: Locator,
    pub heading_path: Vec<String>,
    pub text: String,
    pub process: Process,
    pub trust: Trust,
    /// When each stretch of the text is said.
    pub timing: Vec<TimedText>,
}

/// Where a citation points: its locator is that of exactly the quote.
#[derive(Clone, Debug)]
pub struct CitedPlace {
    pub document: DocumentId,
    pub version: VersionNumber,
    pub unit_id: UnitId,
    pub locator: Locator,
    pub char_start: u32,
    pub char_end: u32,
    pub quote: String,
}

impl Session {
    pub fn source(&self, document: DocumentId, version: VersionNumber) -> Result<SourceView> {
        let scope = self.scope()?;
        let detail = self.vault().show(&scope, document)?;
        let shown = detail.versions.into_iter().find(|found| found.version == version);
        let shown = shown.ok_or_else(|| EngineError::not_found("version"))?;
        let units = self.vault().units(&scope, document, version)?;
        Ok(SourceView {
            document,
            version,
            title: detail.summary.title,
            kind: detail.summary.kind,
            published: detail.summary.published,
            object: self.vault().object_state(&scope, document, version)?,
            warnings: shown.warnings,
            units: units.into_iter().map(source_unit).collect(),
        })
    }

    /// The place of citation `n` of a run's answer.
    pub fn cited_place(&self, run: RunId, n: u32) -> Result<CitedPlace> {
        let answer = self.answer(run)?.ok_or_else(|| EngineError::not_found("answer"))?;
        let citation = answer.citations.into_iter().find(|citation| citation.n == n);
        let citation = citation.ok_or_else(|| EngineError::not_found("citation"))?;
        self.place(citation.unit_id, citation.char_start, citation.char_end)
    }

    /// The place of some characters of a unit.
    pub fn place(&self, unit: UnitId, char_start: u32, char_end: u32) -> Result<CitedPlace> {
        let unit =
            self.vault().unit(&self.scope()?, unit)?.ok_or_else(|| EngineError::not_found("source"))?;
        let locator = unit.place_of(char_start, char_end);
        let (from, to) = (char_start as usize, char_end.saturating_sub(char_start) as usize);
        Ok(CitedPlace {
            document: unit.document_id,
            version: unit.version,
            unit_id: unit.unit_id,
            locator,
            char_start,
            char_end,
            quote: unit.text.chars().skip(from).take(to).collect(),
        })
    }

    /// The original's bytes.
    pub fn original(&self, document: DocumentId, version: VersionNumber) -> Result<ObjectFile> {
        Ok(self.vault().open_object(&self.scope()?, document, version)?)
    }
}

fn source_unit(unit: UnitRow) -> SourceUnit {
    SourceUnit {
        unit_id: unit.unit_id,
        locator: unit.locator,
        heading_path: unit.heading_path,
        text: unit.text,
        process: unit.process,
        trust: unit.trust,
        timing: unit.timing,
    }
}
