//! The encoding of a text file: byte order mark, then UTF-8, then what the bytes look like in each candidate.
//!
//! `chardetng` alone confuses short Chinese and Japanese texts, because almost every pair of bytes is a valid character in
//! GBK, Big5 and Shift-JIS alike. So each candidate is decoded and judged by how common its characters are; chardetng
//! decides what remains (Western, Cyrillic …). Start reading at [`decode`].

mod plausibility;

use encoding_rs::{BIG5, EUC_KR, Encoding, GB18030, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE};

use plausibility::plausibility;

/// How much of a file is decoded to tell its encoding.
const SAMPLE_BYTES: usize = 64 * 1024;
/// Mean plausibility below which a candidate is not taken; real text has more than 0.5, a wrong decoding less than 0.
const MIN_PLAUSIBILITY: f32 = 0.2;

/// A file as text: `\n` line ends, no byte order mark.
#[derive(Debug, PartialEq)]
pub(crate) struct Decoded {
    pub text: String,
    pub encoding: &'static Encoding,
    /// Bytes that are nothing in this encoding, each now U+FFFD.
    pub n_replaced: usize,
}

/// Decodes a text file; `None` when it is not text. `declared` is what the file says about itself (HTML `<meta>`); it is
/// believed when the bytes allow it.
pub(crate) fn decode(bytes: &[u8], declared: Option<&'static Encoding>) -> Option<Decoded> {
    let (encoding, bytes) = match Encoding::for_bom(bytes) {
        Some((encoding, n_mark)) => (encoding, &bytes[n_mark..]),
        None => (detect(bytes, declared)?, bytes),
    };
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    let n_replaced = text.chars().filter(|c| *c == '\u{fffd}').count();
    let n_chars = text.chars().count();
    // A text of which one part in ten cannot be read is not worth finding; nor is what is full of control characters.
    if n_replaced * 10 > n_chars || n_control(&text) * 50 > n_chars {
        return None;
    }
    Some(Decoded { text: unify_line_ends(&text), encoding, n_replaced })
}

/// Whether the first bytes of a file could be text.
pub(crate) fn looks_like_text(head: &[u8]) -> bool {
    !head.is_empty() && decode(sample(head), None).is_some()
}

fn detect(bytes: &[u8], declared: Option<&'static Encoding>) -> Option<&'static Encoding> {
    let sample = sample(bytes);
    if is_utf8(sample) && !sample.contains(&0) {
        return Some(UTF_8);
    }
    if let Some(encoding) = utf_16_without_mark(sample) {
        return Some(encoding);
    }
    // Nothing but UTF-16 has null bytes in a text.
    if sample.contains(&0) {
        return None;
    }
    if is_mostly_utf8(sample) {
        return Some(UTF_8);
    }
    if let Some(declared) = declared.filter(|encoding| is_valid(encoding, sample)) {
        return Some(declared);
    }
    let best = [GB18030, BIG5, SHIFT_JIS, EUC_KR]
        .into_iter()
        .filter(|encoding| is_valid(encoding, sample))
        .map(|encoding| (encoding, plausibility(&encoding.decode_without_bom_handling(sample).0)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    match best {
        Some((encoding, score)) if score >= MIN_PLAUSIBILITY => Some(encoding),
        _ => Some(guess_by_statistics(sample)),
    }
}

/// The beginning of a file, cut where a character of a two-byte encoding is unlikely to be torn.
fn sample(bytes: &[u8]) -> &[u8] {
    if bytes.len() <= SAMPLE_BYTES {
        return bytes;
    }
    let head = &bytes[..SAMPLE_BYTES];
    match head.iter().rposition(|byte| *byte == b'\n') {
        Some(end) if end > SAMPLE_BYTES / 2 => &head[..end - end % 2],
        _ => head,
    }
}

fn is_utf8(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // A sample, or a file, may end within a character.
        Err(err) => err.error_len().is_none() && err.valid_up_to() > 0,
    }
}

/// UTF-8 with a few broken bytes: many valid sequences of several bytes do not come about by accident.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let n_broken = text.chars().filter(|c| *c == '\u{fffd}').count();
    let n_sequences = text.chars().filter(|c| !c.is_ascii() && *c != '\u{fffd}').count();
    n_sequences >= 8 && n_broken * 20 < n_sequences
}

fn is_valid(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    let complete =
        |bytes: &[u8]| encoding.decode_without_bom_handling_and_without_replacement(bytes).is_some();
    complete(bytes) || (1..=3).any(|n| bytes.len() > n + 16 && complete(&bytes[..bytes.len() - n]))
}

/// UTF-16 whose byte order nobody stated. Text has at least a space, digit or line end somewhere (a null byte), or else
/// nothing but common characters.
fn utf_16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    if bytes.len() < 4 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let holds_null = bytes.contains(&0);
    let judge = |encoding: &'static Encoding| {
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
        if text.chars().any(|c| c == '\0' || c == '\u{ffff}') || n_control(&text) > 0 {
            return None;
        }
        let n_ascii = text.chars().filter(char::is_ascii).count();
        let n_chars = text.chars().count();
        let n_other = n_chars - n_ascii;
        let score = (n_ascii as f32 + n_other as f32 * plausibility(&text)) / n_chars.max(1) as f32;
        (holds_null && n_ascii > 0 || score > 0.8).then_some(score)
    };
    let (little, big) = (judge(UTF_16LE), judge(UTF_16BE));
    match (little, big) {
        (Some(l), Some(b)) if l.max(b) > 0.3 => Some(if l >= b { UTF_16LE } else { UTF_16BE }),
        (Some(l), None) if l > 0.3 => Some(UTF_16LE),
        (None, Some(b)) if b > 0.3 => Some(UTF_16BE),
        _ => None,
    }
}

fn guess_by_statistics(bytes: &[u8]) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, chardetng::Utf8Detection::Deny)
}

fn n_control(text: &str) -> usize {
    let is_bad = |c: char| {
        c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1a}' | '\u{85}')
    };
    text.chars().filter(|c| is_bad(*c)).count()
}

fn unify_line_ends(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}

#[cfg(test)]
mod tests;
