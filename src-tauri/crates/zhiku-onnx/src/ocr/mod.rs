//! Words in pictures with the PP-OCR networks: one finds lines, one tells which way up they are, one reads them.
//!
//! Start at [`OcrRecognizer::recognize`]. A page goes through `detect` (tiles, then `boxes`), is turned upright by
//! `direction`, cut into level strips by `crop`, read by `recognize` and put in order by `order`; `view` and `geometry`
//! are what they share.
//!
//! Deliberately absent: decoding of picture files and pages of documents (`zhiku-parse`), tables and layout beyond
//! reading order, and columns of upright letters written from top to bottom.

mod boxes;
mod crop;
mod detect;
mod direction;
mod geometry;
mod lines;
mod model_input;
mod order;
mod recognize;
mod session;
mod view;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use zhiku_core::RunContext;
use zhiku_core::model::{ModelError, Priority};
use zhiku_core::recognition::{Picture, RecognizedLine, TextRecognizer};

use crate::failure;
use crate::runtime::load_runtime;
use crate::session_thread::SessionThread;
use boxes::{length, thickness};
use crop::cut_out;
use geometry::SlantedBox;
use lines::Piece;
use model_input::Strip;
use recognize::{Characters, Reading};
use view::View;

/// What a recogniser is loaded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OcrFiles {
    /// The library of ONNX Runtime.
    pub runtime: PathBuf,
    pub detection: PathBuf,
    pub direction: PathBuf,
    pub recognition: PathBuf,
}

impl OcrFiles {
    /// The files by the names they have in the manifest of models; `file` gives the place of one.
    pub fn named(runtime: PathBuf, file: impl Fn(&str) -> PathBuf) -> Self {
        Self {
            runtime,
            detection: file("PP-OCRv6_det_small.onnx"),
            direction: file("ch_ppocr_mobile_v2.0_cls_mobile.onnx"),
            recognition: file("PP-OCRv6_rec_small.onnx"),
        }
    }
}

/// Lines that are cut out at a time: their pixels take some 20 MB.
const LINES_AT_ONCE: usize = 32;
/// A reading with this confidence needs no look from another side.
const SURE: f32 = 0.75;
/// A look from another side must be better by this.
const CLEARLY_BETTER: f32 = 0.1;
/// What is read with less is no text.
const LEAST_CONFIDENCE: f32 = 0.5;
/// With a smaller share of lines that look turned a page stands upright; with more its readings decide.
const UPRIGHT_SHARE: f32 = 0.25;
/// Lines that are read both ways to decide about a page.
const WITNESSES: usize = 4;
/// A box up to this many times as high as wide may be a single narrow letter, such as a page number.
const LETTER_SHAPE: f32 = 2.5;

/// PP-OCR with its three networks, each on a thread of its own. Several calls may run at once; their steps take turns.
pub struct OcrRecognizer {
    detection: SessionThread,
    direction: SessionThread,
    recognition: SessionThread,
    characters: Characters,
}

impl OcrRecognizer {
    /// Loads runtime and models. Blocks for about a second. `intra_threads` is the number of threads within one run.
    ///
    /// Fails with `ModelMissing` or `ModelDamaged` when a file is not there or cannot be loaded.
    pub fn open(files: &OcrFiles, intra_threads: NonZeroUsize) -> Result<Self, ModelError> {
        for (what, file) in [
            (session::DETECTION, &files.detection),
            (session::DIRECTION, &files.direction),
            (session::RECOGNITION, &files.recognition),
        ] {
            failure::require_file(what, file)?;
        }
        let environment = load_runtime(&files.runtime)?;
        let start = |what, file| session::start(&environment, what, file, intra_threads);
        let detection = start(session::DETECTION, &files.detection)?;
        let direction = start(session::DIRECTION, &files.direction)?;
        let recognition = start(session::RECOGNITION, &files.recognition)?;
        let characters = session::characters(&recognition, &files.recognition)?;
        Ok(Self { detection, direction, recognition, characters })
    }
}

impl TextRecognizer for OcrRecognizer {
    fn recognize(
        &self,
        picture: &Picture,
        priority: Priority,
        ctx: &RunContext,
    ) -> Result<Vec<RecognizedLine>, ModelError> {
        let n_bytes = picture.width as usize * picture.height as usize * 3;
        if picture.rgb.len() != n_bytes {
            return Err(failure::internal(format!(
                "{picture:?} has {} bytes, not {n_bytes}",
                picture.rgb.len()
            )));
        }
        if n_bytes == 0 {
            return Ok(Vec::new());
        }
        let work = Work { models: self, priority, ctx };
        let (view, boxes) = work.find(View::new(picture, 0))?;
        let pieces = work.read(&view, boxes)?;
        Ok(lines::recognized_lines(&view, pieces))
    }
}

/// What the steps of one call share.
struct Work<'a> {
    models: &'a OcrRecognizer,
    priority: Priority,
    ctx: &'a RunContext,
}

impl Work<'_> {
    /// The view in which the page stands upright, and its lines there.
    fn find<'p>(&self, view: View<'p>) -> Result<(View<'p>, Vec<SlantedBox>), ModelError> {
        let (mut view, mut boxes) = (view, self.detect(&view)?);
        if direction::mostly_runs_down(&boxes) {
            // Looked at again: the network finds level lines more exactly.
            view = view.turned(1);
            boxes = self.detect(&view)?;
        }
        if self.stands_on_its_head(&view, &boxes)? {
            boxes = boxes.iter().map(|slanted| direction::turned_twice(&view, slanted)).collect();
            view = view.turned(2);
        }
        Ok((view, boxes))
    }

    fn detect(&self, view: &View<'_>) -> Result<Vec<SlantedBox>, ModelError> {
        detect::detect(&self.models.detection, view, self.priority, self.ctx)
    }

    fn stands_on_its_head(&self, view: &View<'_>, boxes: &[SlantedBox]) -> Result<bool, ModelError> {
        let turned = direction::turned_share(&self.models.direction, view, boxes, self.priority, self.ctx)?;
        if turned.is_none_or(|share| share < UPRIGHT_SHARE) {
            return Ok(false);
        }
        let voters = direction::voters(boxes);
        let every = voters.len().div_ceil(WITNESSES);
        let witnesses: Vec<SlantedBox> = voters.into_iter().step_by(every).copied().collect();
        let sum = |readings: Vec<Reading>| readings.iter().map(|reading| reading.confidence).sum::<f32>();
        let look = |further: u8| {
            let looks: Vec<Look> = witnesses.iter().map(|&slanted| Look { slanted, further }).collect();
            self.look(view, &looks).map(sum)
        };
        Ok(look(2)? > look(0)?)
    }

    /// What the boxes say, each from the side from which it is read best. What cannot be read is left out.
    fn read(&self, view: &View<'_>, boxes: Vec<SlantedBox>) -> Result<Vec<Piece>, ModelError> {
        let mut pieces: Vec<Piece> = boxes
            .into_iter()
            .map(|slanted| Piece { slanted, further: sides(&slanted)[0], reading: Reading::default() })
            .collect();
        // Like widths are read together.
        pieces.sort_by(|a, b| shape(&a.slanted).total_cmp(&shape(&b.slanted)));
        for nth_side in 0.. {
            let unsure: Vec<(usize, Look)> = pieces
                .iter()
                .enumerate()
                .filter(|(_, piece)| piece.reading.confidence < SURE)
                .filter_map(|(at, piece)| {
                    let further = *sides(&piece.slanted).get(nth_side)?;
                    Some((at, Look { slanted: piece.slanted, further }))
                })
                .collect();
            if unsure.is_empty() {
                break;
            }
            for some in unsure.chunks(LINES_AT_ONCE) {
                let looks: Vec<Look> = some.iter().map(|(_, look)| *look).collect();
                for (&(at, look), reading) in some.iter().zip(self.look(view, &looks)?) {
                    let needed = if nth_side == 0 { 0.0 } else { CLEARLY_BETTER };
                    if reading.confidence > pieces[at].reading.confidence + needed {
                        pieces[at].reading = reading;
                        pieces[at].further = look.further;
                    }
                }
            }
        }
        pieces.retain(|piece| {
            piece.reading.confidence >= LEAST_CONFIDENCE && !piece.reading.text.trim().is_empty()
        });
        Ok(pieces)
    }

    fn look(&self, view: &View<'_>, looks: &[Look]) -> Result<Vec<Reading>, ModelError> {
        self.ctx.check()?;
        let strips: Vec<Strip> = looks.iter().map(|look| look.strip(view)).collect();
        let models = self.models;
        recognize::read_strips(&models.recognition, &models.characters, &strips, self.priority, self.ctx)
    }
}

/// A box, and by how many further quarter turns clockwise its words may be turned.
#[derive(Clone, Copy)]
struct Look {
    slanted: SlantedBox,
    further: u8,
}

impl Look {
    fn strip(&self, view: &View<'_>) -> Strip {
        let slanted = match self.further {
            1 => direction::turned_once(view, &self.slanted),
            2 => direction::turned_twice(view, &self.slanted),
            3 => direction::turned_once(&view.turned(2), &direction::turned_twice(view, &self.slanted)),
            _ => self.slanted,
        };
        cut_out(&view.turned(self.further), &slanted, recognize::HEIGHT, recognize::MOST_WIDTH)
    }
}

/// From which sides a box is looked at, the likeliest first.
fn sides(slanted: &SlantedBox) -> &'static [u8] {
    if !direction::runs_down(slanted) {
        &[0, 2]
    } else if slanted.height < LETTER_SHAPE * slanted.width {
        &[0, 1, 3]
    } else {
        &[1, 3]
    }
}

fn shape(slanted: &SlantedBox) -> f32 {
    length(slanted) / thickness(slanted).max(1.0)
}
