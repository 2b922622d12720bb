//! Sound of common formats, decoded in this process: mp3, AAC, ALAC, FLAC, Vorbis, PCM and ADPCM in their usual containers.

use std::fs::File;
use std::path::{Path, PathBuf};

use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::{AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, SeekMode, SeekTo, TrackType};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::core::meta::MetadataOptions;
use symphonia::core::units::{Time, TimeBase};

use crate::error::MediaError;
use crate::resample::ToSpeechRate;
use zhiku_core::recognition::SPEECH_SAMPLE_RATE;

/// Packets in a row that cannot be decoded: more is not a scratch but another format.
const MAX_BAD_PACKETS: usize = 200;
/// Smaller differences between a packet's time and the samples before it are rounding.
const SMALL_GAP_MS: i64 = 60;
/// Larger ones are nonsense.
const LARGE_GAP_MS: i64 = 10 * 60 * 1000;

/// Why a file was not opened.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Another program may know the format.
    Unsupported(String),
    Failed(MediaError),
}

/// A container whose format is known.
pub(crate) fn open_container(path: &Path) -> Result<Box<dyn FormatReader>, Refusal> {
    let file = File::open(path).map_err(|error| Refusal::Failed(MediaError::read(path, error)))?;
    let stream = MediaSourceStream::new(Box::new(file), MediaSourceStreamOptions::default());
    let mut hint = Hint::new();
    if let Some(extension) = path.extension().and_then(|extension| extension.to_str()) {
        hint.with_extension(extension);
    }
    symphonia::default::get_probe()
        .probe(&hint, stream, FormatOptions::default(), MetadataOptions::default())
        .map_err(|error| Refusal::Unsupported(error.to_string()))
}

/// Reads the sound of one file from some time on, as one channel at the rate of speech recognition.
pub(crate) struct Decoder {
    path: PathBuf,
    container: Box<dyn FormatReader>,
    codec: Box<dyn AudioDecoder>,
    track: u32,
    time_base: Option<TimeBase>,
    to_speech: Option<ToSpeechRate>,
    /// How far it has come; `None` before the first samples.
    position: Option<Position>,
    from_ms: u64,
    bad_packets: usize,
    interleaved: Vec<f32>,
    first: Option<Vec<f32>>,
    done: bool,
}

/// How far the output has come, in samples of the track since time zero.
#[derive(Clone, Copy)]
struct Position {
    samples: i64,
    rate: i64,
}

impl Decoder {
    /// Opens and decodes the beginning, so that what cannot be decoded is refused here.
    pub(crate) fn open(path: &Path, from_ms: u64) -> Result<Self, Refusal> {
        let mut container = open_container(path)?;
        let unsupported = |detail: &str| Refusal::Unsupported(detail.to_owned());
        let Some(track) = container.default_track(TrackType::Audio) else {
            return Err(if container.tracks().is_empty() {
                unsupported("no track is known")
            } else {
                Refusal::Failed(MediaError::NoSound { path: path.to_owned() })
            });
        };
        let (id, time_base) = (track.id, track.time_base);
        let Some(CodecParameters::Audio(params)) = &track.codec_params else {
            return Err(unsupported("the codec is not known"));
        };
        let codec = symphonia::default::get_codecs()
            .make_audio_decoder(params, &AudioDecoderOptions::default())
            .map_err(|error| Refusal::Unsupported(error.to_string()))?;
        if from_ms > 0 {
            let to = SeekTo::Time { time: Time::from_millis(from_ms as i64), track_id: Some(id) };
            match container.seek(SeekMode::Accurate, to) {
                // Beyond the end there is nothing, which is no failure.
                Ok(_) | Err(Error::SeekError(_)) => {}
                Err(error) => return Err(Refusal::Failed(MediaError::damaged(path, error))),
            }
        }
        let mut opened = Self {
            path: path.to_owned(),
            container,
            codec,
            track: id,
            time_base,
            to_speech: None,
            position: None,
            from_ms,
            bad_packets: 0,
            interleaved: Vec::new(),
            first: None,
            done: false,
        };
        match opened.decode_some() {
            Ok(first) => opened.first = first,
            Err(_) => return Err(unsupported("nothing of it can be decoded")),
        }
        Ok(opened)
    }

    /// The next samples, or `None` at the end.
    pub(crate) fn next_samples(&mut self) -> Result<Option<Vec<f32>>, MediaError> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.decode_some(),
        }
    }

    fn decode_some(&mut self) -> Result<Option<Vec<f32>>, MediaError> {
        while !self.done {
            let packet = match self.container.next_packet() {
                Ok(Some(packet)) if packet.track_id == self.track => packet,
                Ok(Some(_)) => continue,
                // A recording that was cut off while it was written ends where it ends.
                Ok(None) | Err(Error::IoError(_)) => return self.end(),
                Err(Error::ResetRequired) => {
                    self.codec.reset();
                    continue;
                }
                Err(error) => return Err(MediaError::damaged(&self.path, error)),
            };
            let start = self.time_base.and_then(|base| base.calc_time(packet.pts));
            match self.codec.decode(&packet) {
                Ok(decoded) => {
                    let (rate, channels) = (decoded.spec().rate(), decoded.spec().channels().count());
                    decoded.copy_to_vec_interleaved(&mut self.interleaved);
                    self.bad_packets = 0;
                    let samples = self.placed(start, rate, channels);
                    let ready = self.resample(rate, &samples)?;
                    if !ready.is_empty() {
                        return Ok(Some(ready));
                    }
                }
                Err(Error::DecodeError(_) | Error::IoError(_)) if self.bad_packets < MAX_BAD_PACKETS => {
                    self.bad_packets += 1;
                }
                Err(error) => return Err(MediaError::damaged(&self.path, error)),
            }
        }
        Ok(None)
    }

    fn end(&mut self) -> Result<Option<Vec<f32>>, MediaError> {
        self.done = true;
        if self.bad_packets >= MAX_BAD_PACKETS {
            return Err(MediaError::damaged(&self.path, "its sound cannot be decoded"));
        }
        let rest = self.to_speech.as_mut().map(ToSpeechRate::finish).transpose();
        let rest = rest.map_err(|detail| MediaError::damaged(&self.path, detail))?;
        Ok(rest.filter(|rest| !rest.is_empty()))
    }

    /// The decoded samples as one channel, at their place: gaps become silence, and what lies before the start is dropped.
    fn placed(&mut self, start: Option<Time>, rate: u32, channels: usize) -> Vec<f32> {
        let mut samples = mixed(&self.interleaved, channels);
        let rate = i64::from(rate);
        let begin = self.from_ms as i64 * rate / 1000;
        let position = self.position.filter(|position| position.rate == rate);
        let mut at = position.map_or(begin, |position| position.samples);
        if let Some(start) = start {
            let starts_at = (start.as_micros() * i128::from(rate) / 1_000_000) as i64;
            let gap = starts_at - at;
            if self.position.is_none() && gap < 0 {
                let early = gap.unsigned_abs().min(samples.len() as u64) as usize;
                samples.drain(..early);
                if samples.is_empty() {
                    return samples;
                }
            } else if gap > SMALL_GAP_MS * rate / 1000 && gap < LARGE_GAP_MS * rate / 1000 {
                samples.splice(..0, std::iter::repeat_n(0.0, gap as usize));
            }
        }
        at += samples.len() as i64;
        self.position = Some(Position { samples: at, rate });
        samples
    }

    fn resample(&mut self, rate: u32, samples: &[f32]) -> Result<Vec<f32>, MediaError> {
        let damaged = |detail: String| MediaError::damaged(&self.path, detail);
        let mut ready = Vec::new();
        let to_speech = match &mut self.to_speech {
            Some(current) if current.rate() == rate => current,
            // Joined files may change their rate.
            current => {
                if let Some(before) = current {
                    ready = before.finish().map_err(damaged)?;
                }
                current.insert(ToSpeechRate::new(rate).map_err(damaged)?)
            }
        };
        ready.extend(to_speech.push(samples).map_err(damaged)?);
        Ok(ready)
    }
}

fn mixed(interleaved: &[f32], channels: usize) -> Vec<f32> {
    let channels = channels.max(1);
    if channels == 1 {
        return interleaved.to_vec();
    }
    interleaved.chunks_exact(channels).map(|frame| frame.iter().sum::<f32>() / channels as f32).collect()
}

/// How long the first track is, or the container says it is.
pub(crate) fn duration_ms(container: &dyn FormatReader) -> Option<u64> {
    let info = container.media_info();
    let whole = info.time_base.zip(info.duration);
    let track = container.tracks().iter().find_map(|track| track.time_base.zip(track.duration));
    let (base, duration) = whole.or(track)?;
    u64::try_from(base.calc_duration(duration)?.as_millis()).ok()
}

/// Samples of the speech rate in milliseconds.
pub(crate) fn samples_to_ms(n_samples: u64) -> u64 {
    n_samples * 1000 / u64::from(SPEECH_SAMPLE_RATE)
}
