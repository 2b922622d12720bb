//! Subtitles (SRT, WebVTT): what is said in up to half a minute, with its times.
//!
//! Styling, positions, notes and cue names are left out; a speaker named by `<v Name>` stands before the words.

use zhiku_core::{DocumentKind, Locator, ParsedUnit, TimedText, UnitKind};

use super::blocks::tidy_line;
use super::render::text_unit;
use super::whole::{Whole, decode_source, no_such_place, warning};
use crate::detect::extension;
use crate::encoding::looks_like_text;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

/// A unit covers at most this time, unless one cue does.
const MAX_UNIT_MS: u64 = 30_000;
const MAX_UNIT_CHARS: usize = 2_000;

pub(super) struct Subtitles;

impl DocumentParser for Subtitles {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Subtitles
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        let start = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let is_named = matches!(extension(name).as_deref(), Some("srt" | "vtt"));
        (start.starts_with(b"WEBVTT") || is_named) && looks_like_text(head)
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        read(source)?.send(DocumentKind::Subtitles, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        let unit = read(source)?.units.into_iter().find(|unit| unit.locator == *locator);
        unit.map(|unit| unit.text).ok_or_else(|| no_such_place(source, locator))
    }
}

fn read(source: &Source<'_>) -> Result<Whole, ParseError> {
    let (decoded, lossy) = decode_source(source, None)?;
    let mut warnings: Vec<_> = lossy.into_iter().collect();
    let cues = cues(&decoded.text);
    if cues.is_empty() {
        warnings.push(warning("no_text", "the file holds no subtitles"));
    }
    Ok(Whole { units: units(cues), warnings })
}

#[derive(Debug, PartialEq)]
struct Cue {
    start_ms: u64,
    end_ms: u64,
    lines: Vec<String>,
}

fn cues(text: &str) -> Vec<Cue> {
    let mut cues: Vec<Cue> = Vec::new();
    let mut open: Option<Cue> = None;
    for line in text.lines() {
        if let Some((start_ms, end_ms)) = times(line) {
            close(&mut open, &mut cues);
            open = Some(Cue { start_ms, end_ms: end_ms.max(start_ms), lines: Vec::new() });
        } else if line.trim().is_empty() {
            close(&mut open, &mut cues);
        } else if let Some(cue) = &mut open {
            let line = tidy_line(&without_tags(line));
            if !line.is_empty() {
                cue.lines.push(line);
            }
        }
    }
    close(&mut open, &mut cues);
    cues.sort_by_key(|cue| cue.start_ms);
    cues
}

fn close(open: &mut Option<Cue>, cues: &mut Vec<Cue>) {
    let Some(cue) = open.take().filter(|cue| !cue.lines.is_empty()) else { return };
    match cues.last_mut() {
        // Rolling captions say each line again.
        Some(last) if last.lines.ends_with(&cue.lines) && cue.start_ms <= last.end_ms + 1_000 => {
            last.end_ms = last.end_ms.max(cue.end_ms);
        }
        _ => cues.push(cue),
    }
}

/// `00:00:01,000 --> 00:00:04.5 align:start`.
fn times(line: &str) -> Option<(u64, u64)> {
    let (start, rest) = line.split_once("-->")?;
    Some((time(start.trim())?, time(rest.split_whitespace().next()?)?))
}

/// `hh:mm:ss.mmm`, hours optional, comma or point.
fn time(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let mut seconds = 0_u64;
    for part in whole.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.trim().parse().ok()?)?;
    }
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    seconds.checked_mul(1_000)?.checked_add(digits.parse().ok()?)
}

/// The words of a line: `<i>`, `{\an8}` and times go, `<v Name>` becomes the speaker.
fn without_tags(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['<', '{']) {
        let is_brace = rest[at..].starts_with('{');
        let is_tag = rest[at + 1..]
            .starts_with(|c: char| if is_brace { c == '\\' } else { c.is_ascii_alphanumeric() || c == '/' });
        let end = rest[at..].find(if is_brace { '}' } else { '>' }).filter(|_| is_tag);
        let Some(end) = end else {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        out.push_str(&rest[..at]);
        let tag = &rest[at + 1..at + end];
        if let Some(speaker) = tag.split_once(' ').filter(|(name, _)| name.split('.').next() == Some("v")) {
            out.push_str(speaker.1.trim());
            out.push_str(": ");
        }
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    for (entity, c) in
        [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&lrm;", ""), ("&rlm;", ""), ("&amp;", "&")]
    {
        out = out.replace(entity, c);
    }
    out
}

fn units(cues: Vec<Cue>) -> Vec<ParsedUnit> {
    let mut units: Vec<ParsedUnit> = Vec::new();
    let mut group: Vec<Cue> = Vec::new();
    for cue in cues {
        let start = group.first().map_or(cue.start_ms, |first| first.start_ms);
        let n_chars: usize = group.iter().flat_map(|cue| &cue.lines).map(|line| line.chars().count()).sum();
        if !group.is_empty() && (cue.end_ms.saturating_sub(start) > MAX_UNIT_MS || n_chars > MAX_UNIT_CHARS) {
            units.push(unit(std::mem::take(&mut group)));
        }
        group.push(cue);
    }
    if !group.is_empty() {
        units.push(unit(group));
    }
    // Two units of the same times would not be told apart.
    units.dedup_by(|later, earlier| {
        let is_same = later.locator == earlier.locator;
        if is_same {
            earlier.text.push('\n');
            let before = earlier.text.chars().count() as u32;
            earlier.text.push_str(&later.text);
            earlier.timing.extend(later.timing.iter().map(|timed| TimedText {
                char_start: timed.char_start + before,
                char_end: timed.char_end + before,
                ..*timed
            }));
        }
        is_same
    });
    units
}

fn unit(cues: Vec<Cue>) -> ParsedUnit {
    let start_ms = cues.first().map_or(0, |cue| cue.start_ms);
    let end_ms = cues.iter().map(|cue| cue.end_ms).max().unwrap_or(start_ms);
    let mut timing = Vec::new();
    let mut lines = Vec::new();
    let mut n_chars = 0;
    for cue in cues {
        let line = cue.lines.join(" ");
        let char_end = n_chars + line.chars().count() as u32;
        timing.push(TimedText { char_start: n_chars, char_end, start_ms: cue.start_ms, end_ms: cue.end_ms });
        n_chars = char_end + 1;
        lines.push(line);
    }
    let locator = Locator::Time { start_ms, end_ms };
    ParsedUnit { timing, ..text_unit(UnitKind::AudioSpan, locator, lines.join("\n"), Vec::new()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(u64, u64, &str)]) {
        let found: Vec<_> = units(cues(text))
            .into_iter()
            .map(|unit| {
                let Locator::Time { start_ms, end_ms } = unit.locator else { panic!("no time") };
                (start_ms, end_ms, unit.text)
            })
            .collect();
        let expect: Vec<_> = expect.iter().map(|(a, b, text)| (*a, *b, (*text).to_owned())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn cues_are_joined_up_to_half_a_minute() {
        check(
            "1\n00:00:01,000 --> 00:00:04,000\n<i>大家好</i>\n{\\an8}欢迎\n\n2\n00:00:25,5 --> 00:00:29,000\n第二句\n\n3\n00:00:31,000 --> 00:00:33,000\n3 < 5\n",
            &[(1_000, 29_000, "大家好 欢迎\n第二句"), (31_000, 33_000, "3 < 5")],
        );
    }

    #[test]
    fn every_cue_keeps_its_own_time() {
        let found = units(cues("00:01.000 --> 00:02.000\n大家好\n\n00:03.000 --> 00:04.000\nM-208\n"));
        assert_eq!(zhiku_core::time_of(&found[0].timing, 4, 9), Some((3_000, 4_000)));
    }

    #[test]
    fn vtt_notes_styles_and_names_are_no_words() {
        check(
            "WEBVTT\n\nSTYLE\n::cue { color: red }\n\nNOTE not said\n\nintro\n01:02.500 --> 01:05.000 align:start\n<v.loud Ann>Hello <c.x>there</c> <00:01:03.000>&amp; welcome</v>\n",
            &[(62_500, 65_000, "Ann: Hello there & welcome")],
        );
    }
}
