//! Server-sent events out of bytes that arrive in any portions (WHATWG HTML, section 9.2).
//!
//! Bytes are kept until their line is complete, so a character cut in half between two portions is whole again before it
//! is decoded. The fields `id` and `retry` are read and dropped: a chat reply is never resumed by reconnecting. An event
//! without its closing blank line at the end of the stream is dropped, as the standard says.

use std::collections::VecDeque;

/// One dispatched event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event` field; empty when the server sent none.
    pub name: String,
    /// The `data` lines, joined by line feeds.
    pub data: String,
}

/// Nothing a chat model sends comes near these; they bound memory against a server gone wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseLimits {
    pub line_bytes: usize,
    pub event_bytes: usize,
}

impl Default for SseLimits {
    fn default() -> Self {
        Self { line_bytes: 1 << 20, event_bytes: 4 << 20 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    #[error("a line of the event stream is longer than {0} bytes")]
    LineTooLong(usize),
    #[error("an event of the event stream is larger than {0} bytes")]
    EventTooLarge(usize),
}

/// Decodes incrementally: [`Self::push`] bytes, then take events with [`Self::next_event`].
#[derive(Debug, Default)]
pub struct SseDecoder {
    limits: SseLimits,
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    events: VecDeque<SseEvent>,
    /// The last byte was a carriage return: a line feed right after it belongs to the same line end.
    after_return: bool,
    past_first_line: bool,
}

impl SseDecoder {
    pub fn new(limits: SseLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Takes the next portion. After an error the stream is unusable; events completed before it can still be taken.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        for &byte in bytes {
            let was_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if was_return => {}
                b'\n' | b'\r' => self.end_line()?,
                _ => self.extend_line(byte)?,
            }
        }
        Ok(())
    }

    pub fn next_event(&mut self) -> Option<SseEvent> {
        self.events.pop_front()
    }

    fn extend_line(&mut self, byte: u8) -> Result<(), SseError> {
        if self.line.len() >= self.limits.line_bytes {
            return Err(SseError::LineTooLong(self.limits.line_bytes));
        }
        self.line.push(byte);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), SseError> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = bytes.as_slice();
        if !std::mem::replace(&mut self.past_first_line, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        let taken = self.take_line(&String::from_utf8_lossy(line));
        self.line = bytes;
        self.line.clear();
        taken
    }

    fn take_line(&mut self, line: &str) -> Result<(), SseError> {
        if line.is_empty() {
            self.dispatch();
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => self.add_data(value)?,
            "event" => value.clone_into(&mut self.event.name),
            // Comments (empty field), `id`, `retry` and unknown fields.
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &str) -> Result<(), SseError> {
        if self.event.data.len() + value.len() + 1 > self.limits.event_bytes {
            return Err(SseError::EventTooLarge(self.limits.event_bytes));
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.event.data.push('\n');
        }
        self.event.data.push_str(value);
        Ok(())
    }

    fn dispatch(&mut self) {
        let event = std::mem::take(&mut self.event);
        if std::mem::replace(&mut self.has_data, false) {
            self.events.push_back(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Outcome = (Vec<(String, String)>, Result<(), SseError>);

    fn decode<'a>(limits: SseLimits, portions: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
        let mut decoder = SseDecoder::new(limits);
        let result = portions.into_iter().try_for_each(|portion| decoder.push(portion));
        let events =
            std::iter::from_fn(|| decoder.next_event()).map(|event| (event.name, event.data)).collect();
        (events, result)
    }

    fn check(stream: &str, expect: &[(&str, &str)]) {
        let (events, result) = decode(SseLimits::default(), [stream.as_bytes()]);
        let expect: Vec<_> =
            expect.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect();
        assert_eq!((events, result), (expect, Ok(())), "{stream:?}");
    }

    #[test]
    fn fields_comments_and_line_ends() {
        check("data: a\n\n", &[("", "a")]);
        check("event: ping\ndata: {}\n\ndata: b\n\n", &[("ping", "{}"), ("", "b")]);
        check("data:a\r\n\r\ndata:b\r\rdata:c\n\n", &[("", "a"), ("", "b"), ("", "c")]);
        check("data: one\ndata: two\ndata\n\n", &[("", "one\ntwo\n")]);
        check(": keep-alive\n\nid: 7\nretry: 5\nunknown: x\ndata:  two spaces\n\n", &[("", " two spaces")]);
        check("\u{feff}data: after a mark\n\n", &[("", "after a mark")]);
        check("event: named but empty\n\ndata: next\n\n", &[("", "next")]);
        check("data\n\n", &[("", "")]);
    }

    #[test]
    fn an_event_without_its_blank_line_is_dropped() {
        check("data: whole\n\ndata: cut", &[("", "whole")]);
        check("data: whole\n\ndata: cut\n", &[("", "whole")]);
    }

    #[test]
    fn limits_hold_and_what_came_before_stays() {
        let limits = SseLimits { line_bytes: 16, event_bytes: 20 };
        let (events, result) = decode(limits, [b"data: ok\n\ndata: 0123456789abc".as_slice()]);
        assert_eq!(events, [(String::new(), "ok".to_owned())]);
        assert_eq!(result, Err(SseError::LineTooLong(16)));
        let (_, result) = decode(limits, [b"data: 0123456789\ndata: 0123456789\n\n".as_slice()]);
        assert_eq!(result, Err(SseError::EventTooLarge(20)));
    }

    #[test]
    fn bytes_that_are_not_utf8_become_replacement_characters() {
        let (events, _) = decode(SseLimits::default(), [b"data: a\xFFb\n\n".as_slice()]);
        assert_eq!(events, [(String::new(), "a\u{fffd}b".to_owned())]);
    }

    fn stream_text() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just("data: ".as_bytes().to_vec()),
            Just("event: ".as_bytes().to_vec()),
            Just("\n".as_bytes().to_vec()),
            Just("\r".as_bytes().to_vec()),
            Just("\r\n\r\n".as_bytes().to_vec()),
            Just(": comment".as_bytes().to_vec()),
            Just("\u{feff}".as_bytes().to_vec()),
            Just("知库🗄é".as_bytes().to_vec()),
            proptest::collection::vec(any::<u8>(), 0..12),
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(stream in stream_text(), cuts in proptest::collection::vec(0usize..400, 0..40)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let portions = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]);
            let limits = SseLimits { line_bytes: 64, event_bytes: 96 };
            let whole = decode(limits, [stream.as_slice()]);
            prop_assert_eq!(&decode(limits, portions), &whole);
            prop_assert_eq!(&decode(limits, stream.chunks(1)), &whole);
        }
    }
}
