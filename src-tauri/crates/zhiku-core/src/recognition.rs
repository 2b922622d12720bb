//! Pictures and sound become text: what recognisers take and give. Implementations are named in `zhiku-engine` only.

use crate::locator::BBox;
use crate::model::{ModelError, Priority};
use crate::run::RunContext;

/// A picture in memory: `width * height * 3` bytes, rows from the top, red, green, blue.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub rgb: Vec<u8>,
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({} x {})", self.width, self.height)
    }
}

/// One line of words in a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct RecognizedLine {
    pub text: String,
    /// The upright box around it, in pixels of the picture as given.
    pub bbox: BBox,
    /// Quarter turns clockwise by which the words are turned in the picture, 0 to 3.
    pub quarter_turns: u8,
    /// 0 to 1.
    pub confidence: f32,
}

/// Words in pictures. Blocking; call it off the async threads.
pub trait TextRecognizer: Send + Sync {
    /// Lines in reading order. Finds text at any quarter turn and with a slight slant.
    fn recognize(
        &self,
        picture: &Picture,
        priority: Priority,
        ctx: &RunContext,
    ) -> Result<Vec<RecognizedLine>, ModelError>;
}

/// Samples per second that recognisers of speech take: one channel, -1 to 1.
pub const SPEECH_SAMPLE_RATE: u32 = 16_000;

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
pub struct SpokenSegment {
    pub start_ms: u64,
    pub end_ms: u64,
    /// As the recogniser wrote it.
    pub text: String,
    /// ISO 639-1.
    pub language: String,
    /// 0 to 1.
    pub confidence: f32,
}

/// A stretch in which somebody speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoiceSpan {
    pub start_ms: u64,
    pub end_ms: u64,
}

/// Where in a recording somebody speaks.
pub trait VoiceDetector: Send + Sync {
    /// Spans in order, apart from each other. `samples` at [`SPEECH_SAMPLE_RATE`].
    fn spans(&self, samples: &[f32], ctx: &RunContext) -> Result<Vec<VoiceSpan>, ModelError>;
}

/// Speech to text. Blocking; call it off the async threads.
pub trait SpeechRecognizer: Send + Sync {
    /// The most samples of one call.
    fn max_samples(&self) -> usize;

    /// What is said in one stretch of sound, with times from its start. `language` is a wish; `None` finds out.
    fn transcribe(
        &self,
        samples: &[f32],
        language: Option<&str>,
        ctx: &RunContext,
    ) -> Result<Vec<SpokenSegment>, ModelError>;
}
