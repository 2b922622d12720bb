//! The pictures of units that await recognition, drawn by the parser's process.

use zhiku_core::Locator;
use zhiku_parse::ParseError;
use zhiku_parse::picture::SourcePicture;
use zhiku_parse::worker::{ParseRequest, read_pictures};
use zhiku_vault::{Job, UnitRow};

use crate::halt::{Halt, at};
use crate::passwords::text;
use crate::recognition_lane::STAGE;
use crate::shared::Shared;

/// Pages that one process draws: the file is handed over once for all of them, and what they cost stays bounded.
pub(crate) const PER_PROCESS: usize = 16;

/// Takes the picture of one unit.
type Take<'a> = dyn FnMut(&UnitRow, Option<SourcePicture>) -> Result<(), Halt> + 'a;

/// Hands the picture of each unit to `take`; `None` where it cannot be drawn: that page has no words, the others are not
/// affected.
pub(crate) fn draw(shared: &Shared, job: &Job, rows: &[&UnitRow], take: &mut Take<'_>) -> Result<(), Halt> {
    let path = shared.vault.source_path(job.version).map_err(at(STAGE))?;
    let name = shared.vault.source_label(job.version).map_err(at(STAGE))?.file_name;
    let password = shared.passwords.of(job.version);
    let request = ParseRequest { name: &name, password: text(password.as_ref()), start_unit: 0 };
    let (worker, limits) = (&shared.config.worker, &shared.config.limits);
    let cancel = shared.stop.child_token();
    let places: Vec<Locator> = rows.iter().map(|row| row.locator.clone()).collect();
    let mut halted = None;
    let drawn = read_pictures(worker, &path, &request, &places, limits, &cancel, &mut |n, picture| {
        let taken = sorted_out(picture).and_then(|picture| take(rows[n], picture));
        taken.map_err(|halt| {
            halted = Some(halt);
            ParseError::Cancelled { name: name.clone() }
        })
    });
    match (halted, drawn) {
        (Some(halt), _) => Err(halt),
        (None, drawn) => drawn.or_else(|error| sorted_out(Err(error)).map(|_| ())),
    }
}

/// What the file or the computer is to blame for ends the job; what a page is to blame for costs that page.
fn sorted_out(picture: Result<SourcePicture, ParseError>) -> Result<Option<SourcePicture>, Halt> {
    match picture {
        Ok(picture) => Ok(Some(picture)),
        Err(ParseError::Cancelled { .. }) => Err(Halt::TakenBack),
        // A password is missing when the program ended after the text was read.
        Err(
            error @ (ParseError::Io { .. }
            | ParseError::LibraryMissing { .. }
            | ParseError::PasswordRequired { .. }
            | ParseError::WrongPassword { .. }),
        ) => Err(Halt::Failed { stage: STAGE, reason: error.reason(), retryable: true }),
        Err(error) => {
            tracing::warn!(%error, "a page could not be drawn for recognition");
            Ok(None)
        }
    }
}
