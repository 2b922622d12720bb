//! Any sampling rate to that of speech recognition, piece by piece.

use rubato::audioadapter_buffers::owned::InterleavedOwned;
use rubato::{Fft, FixedSync, Resampler};
use zhiku_core::recognition::SPEECH_SAMPLE_RATE;

/// Samples that are resampled at a time.
const CHUNK: usize = 2048;

/// One channel at some rate in, one channel at [`SPEECH_SAMPLE_RATE`] out, the same length in time.
pub(crate) struct ToSpeechRate {
    /// `None` when nothing is to be done.
    resampler: Option<Fft<f32>>,
    pending: Vec<f32>,
    rate: u32,
    /// Of the output, what the filter puts before the first sample.
    delay: usize,
    n_in: u64,
    n_out: u64,
}

impl ToSpeechRate {
    /// Fails for rates that no recording has.
    pub(crate) fn new(rate: u32) -> Result<Self, String> {
        let resampler = if rate == SPEECH_SAMPLE_RATE {
            None
        } else {
            let (from, to) = (rate as usize, SPEECH_SAMPLE_RATE as usize);
            let made = Fft::new(from, to, CHUNK, 1, FixedSync::Input);
            Some(made.map_err(|error| format!("a sampling rate of {rate} Hz: {error}"))?)
        };
        let delay = resampler.as_ref().map_or(0, Resampler::output_delay);
        Ok(Self { resampler, pending: Vec::new(), rate, delay, n_in: 0, n_out: 0 })
    }

    pub(crate) fn rate(&self) -> u32 {
        self.rate
    }

    /// What is ready after these samples.
    pub(crate) fn push(&mut self, samples: &[f32]) -> Result<Vec<f32>, String> {
        self.n_in += samples.len() as u64;
        if self.resampler.is_none() {
            return Ok(samples.to_vec());
        }
        self.pending.extend_from_slice(samples);
        let mut ready = Vec::new();
        let mut at = 0;
        while let Some(resampler) = &mut self.resampler
            && let n = resampler.input_frames_next()
            && self.pending.len() - at >= n
        {
            let chunk = self.pending[at..at + n].to_vec();
            at += n;
            ready.extend(resampled(resampler, chunk)?);
        }
        self.pending.drain(..at);
        Ok(self.without_delay(ready))
    }

    /// What is left at the end.
    pub(crate) fn finish(&mut self) -> Result<Vec<f32>, String> {
        let expected = self.n_in * u64::from(SPEECH_SAMPLE_RATE) / u64::from(self.rate.max(1));
        let mut rest = Vec::new();
        while self.resampler.is_some() && self.n_out < expected {
            // Silence pushes the last samples out.
            let n = self.resampler.as_ref().map_or(0, Resampler::input_frames_next);
            let silence = vec![0.0; n.saturating_sub(self.pending.len()).max(1)];
            let pushed = self.push(&silence)?;
            rest.extend(pushed);
        }
        let too_many = self.n_out.saturating_sub(expected) as usize;
        rest.truncate(rest.len().saturating_sub(too_many));
        Ok(rest)
    }

    fn without_delay(&mut self, mut samples: Vec<f32>) -> Vec<f32> {
        let dropped = self.delay.min(samples.len());
        samples.drain(..dropped);
        self.delay -= dropped;
        self.n_out += samples.len() as u64;
        samples
    }
}

fn resampled(resampler: &mut Fft<f32>, chunk: Vec<f32>) -> Result<Vec<f32>, String> {
    let n = chunk.len();
    let input = InterleavedOwned::new_from(chunk, 1, n).map_err(|error| error.to_string())?;
    let output = resampler.process(&input, None).map_err(|error| error.to_string())?;
    Ok(output.take_data())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tone of 440 Hz that begins after half a second, in odd pieces.
    fn check(rate: u32) {
        let n = rate as usize * 2;
        let tone = |i: usize| (i as f32 / rate as f32 * 440.0 * std::f32::consts::TAU).sin();
        let samples: Vec<f32> = (0..n).map(|i| if i < rate as usize / 2 { 0.0 } else { tone(i) }).collect();
        let mut to_speech = ToSpeechRate::new(rate).expect("a usual rate");
        let mut out = Vec::new();
        for piece in samples.chunks(777) {
            out.extend(to_speech.push(piece).expect("resamples"));
        }
        out.extend(to_speech.finish().expect("resamples"));
        assert_eq!(out.len(), 32_000, "{rate}");
        let onset = out.iter().position(|sample| sample.abs() > 0.3).expect("the tone");
        assert!((7990..8030).contains(&onset), "{rate}: it begins at sample {onset}");
        let power = out[9000..31_000].iter().map(|sample| sample * sample).sum::<f32>() / 22_000.0;
        assert!((power - 0.5).abs() < 0.01, "{rate}: power {power}");
    }

    #[test]
    fn time_and_loudness_stay() {
        for rate in [8_000, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000] {
            check(rate);
        }
    }

    #[test]
    fn a_rate_of_nothing_is_refused() {
        assert!(ToSpeechRate::new(0).is_err());
    }
}
