//! Takes keys out of text that a person or a log will see.
//!
//! Two nets: the exact key in use, and the shapes that keys have. Foreign servers echo what was sent to them, so every
//! message that holds a foreign word goes through here before it becomes an error.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::secret::Secret;

/// What stands where a key stood.
pub const MASK: &str = "[redacted]";

/// Keys shorter than this are not looked for by value: they would hit ordinary words.
const SHORTEST_EXACT: usize = 6;

/// Group 1, where there is one, is kept: it names the field whose value is masked.
static SHAPES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // Authorization: Bearer …, Basic …
        r"(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=\-]{8,}",
        // x-api-key: …, "api_key": "…", ?api-key=…, access_token=…, password: …
        r#"(?i)\b((?:x-)?(?:api[_\-]?key|access[_\-]?token|auth[_\-]?token|client[_\-]?secret|secret[_\-]?key|password)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'&,;}\\]{6,}"#,
        // sk-…, sk-ant-…, sk-proj-…, and shortened forms such as sk-ab***yz
        r"\b()(?:sk|pk|rk)-[A-Za-z0-9_\-*]{8,}",
        // keys of Google, GitHub, Hugging Face, Groq, xAI
        r"\b()(?:AIza[A-Za-z0-9_\-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,})",
        // user:password@ in the address of a proxy or a server
        r"(://)[^/\s:@]+:[^/\s@]+@",
    ]
    .into_iter()
    .filter_map(|shape| Regex::new(shape).ok())
    .collect()
});

/// Masks everything in `text` that has the shape of a key.
pub fn redact_shapes(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    for shape in SHAPES.iter() {
        if let Cow::Owned(masked) = shape.replace_all(&text, |hit: &Captures<'_>| {
            let tail = if hit[0].ends_with('@') { "@" } else { "" };
            format!("{}{MASK}{tail}", &hit[1])
        }) {
            text = Cow::Owned(masked);
        }
    }
    text.into_owned()
}

/// Masks one key by its value, and everything that has the shape of a key.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    secret: Option<Secret>,
}

impl Redactor {
    pub fn new(secret: Option<Secret>) -> Self {
        Self { secret }
    }

    pub fn redact(&self, text: &str) -> String {
        let key = self.secret.as_ref().map(Secret::expose).filter(|key| key.len() >= SHORTEST_EXACT);
        match key {
            Some(key) => redact_shapes(&text.replace(key, MASK).replace(&percent_encoded(key), MASK)),
            None => redact_shapes(text),
        }
    }
}

fn percent_encoded(key: &str) -> String {
    key.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shapes_compile() {
        assert_eq!(SHAPES.len(), 5);
    }

    #[test]
    fn key_shapes_are_masked_and_their_names_kept() {
        let cases = [
            ("Authorization: Bearer abcdefgh12345678", "Authorization: Bearer [redacted]"),
            ("x-api-key: 0123456789abcdef", "x-api-key: [redacted]"),
            (r#"{"api_key": "0123456789abcdef", "n": 1}"#, r#"{"api_key": "[redacted]", "n": 1}"#),
            (r#"{\"api_key\":\"0123456789abcdef\"}"#, r#"{\"api_key\":\"[redacted]\"}"#),
            ("GET /v1/models?api-key=0123456789abcdef&x=1", "GET /v1/models?api-key=[redacted]&x=1"),
            (
                "Incorrect API key provided: sk-proj-ab***************yz.",
                "Incorrect API key provided: [redacted].",
            ),
            ("sk-ant-api03-AAAA_bbbb-CCCC is no key", "[redacted] is no key"),
            ("http://alice:hunter2@proxy.example:8080", "http://[redacted]@proxy.example:8080"),
            ("key AIzaSyA1234567890abcdefghijklmn", "key [redacted]"),
        ];
        for (text, expect) in cases {
            assert_eq!(redact_shapes(text), expect);
        }
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "task-management of the bearer bonds",
            "密码：见附件",
            "risk-assessment-of-suppliers",
            "http://a.example:80/b@c",
        ] {
            assert_eq!(redact_shapes(text), text);
        }
    }

    #[test]
    fn the_key_in_use_is_masked_whatever_its_shape() {
        let redactor = Redactor::new(Some(Secret::new("we/ird key+1")));
        assert_eq!(
            redactor.redact("got we/ird key+1, url ?k=we%2Fird%20key%2B1"),
            "got [redacted], url ?k=[redacted]"
        );
        assert_eq!(format!("{redactor:?}"), "Redactor { secret: Some(Secret(hidden)) }");
    }
}
