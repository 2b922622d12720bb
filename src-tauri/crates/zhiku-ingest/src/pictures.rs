//! The picture of a unit that awaits recognition, drawn by the parser's process.

use zhiku_parse::ParseError;
use zhiku_parse::picture::SourcePicture;
use zhiku_parse::worker::{ParseRequest, read_picture};
use zhiku_vault::{Job, UnitRow};

use crate::halt::{Halt, at};
use crate::recognition_lane::STAGE;
use crate::shared::Shared;

/// `None` where the picture cannot be drawn: that page has no words, the others are not affected.
pub(crate) fn picture_of(shared: &Shared, job: &Job, row: &UnitRow) -> Result<Option<SourcePicture>, Halt> {
    let path = shared.vault.source_path(job.version).map_err(at(STAGE))?;
    let name = shared.vault.source_label(job.version).map_err(at(STAGE))?.file_name;
    let request = ParseRequest { name: &name, password: None, start_unit: 0 };
    let (worker, limits) = (&shared.config.worker, &shared.config.limits);
    let cancel = shared.stop.child_token();
    match read_picture(worker, &path, &request, &row.locator, limits, &cancel) {
        Ok(picture) => Ok(Some(picture)),
        Err(ParseError::Cancelled { .. }) => Err(Halt::TakenBack),
        Err(error @ (ParseError::Io { .. } | ParseError::LibraryMissing { .. })) => {
            Err(Halt::Failed { stage: STAGE, reason: error.reason(), retryable: true })
        }
        Err(error) => {
            tracing::warn!(%error, "a page could not be drawn for recognition");
            Ok(None)
        }
    }
}
