//! JSON and JSON Lines: one line per value, with the path that leads to it.
//!
//! What a reader sees of the file is these lines, and a locator counts characters there. Keys keep the file's order. A
//! file that is no valid JSON is read as the text it is, with a warning.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use zhiku_core::{DocumentKind, Locator, ParsedUnit, UnitKind};

use super::blocks::tidy_line;
use super::render::text_unit;
use super::whole::{Whole, decode_source, no_such_place, slice_chars, warning};
use crate::detect::extension;
use crate::encoding::looks_like_text;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

/// A unit is closed between two records once it is this long, and is never longer than …
const GOOD_CHARS: usize = 1_500;
/// … this, unless one value is.
const MAX_UNIT_CHARS: usize = 4_000;
/// Between two records of the lines that locators count in.
const BETWEEN_RECORDS: &str = "\n\n";

pub(super) struct Json;

impl DocumentParser for Json {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Json
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        matches!(
            extension(name).as_deref(),
            Some("json" | "jsonl" | "ndjson" | "geojson" | "json5" | "jsonc")
        ) && looks_like_text(head)
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let (decoded, lossy) = decode_source(source, None)?;
        let (records, fault) = records(&decoded.text, source.name);
        let mut warnings: Vec<_> = lossy.into_iter().collect();
        warnings.extend(fault.map(|fault| warning("json_invalid", fault)));
        Whole { units: units(&records), warnings }.send(DocumentKind::Json, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        let Locator::Chars { char_start, char_end } = locator else {
            return Err(no_such_place(source, locator));
        };
        let (decoded, _) = decode_source(source, None)?;
        let text = records(&decoded.text, source.name).0.join(BETWEEN_RECORDS);
        slice_chars(&text, *char_start, *char_end)
            .map(str::to_owned)
            .ok_or_else(|| no_such_place(source, locator))
    }
}

/// A value whose keys keep their order.
enum Value {
    Plain(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Plain(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Plain("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }
}

/// The lines of each record, and what is wrong with the file. A list of objects is a record each; else the entries of the
/// outermost object.
fn records(text: &str, name: &str) -> (Vec<String>, Option<String>) {
    let is_lines = matches!(extension(name).as_deref(), Some("jsonl" | "ndjson"));
    if !is_lines {
        return match serde_json::from_str::<Value>(text) {
            Ok(value) => (value_records(value), None),
            Err(_) if lines_are_values(text) => line_records(text),
            Err(err) => (plain_records(text), Some(format!("the file is no valid JSON: {err}"))),
        };
    }
    line_records(text)
}

fn lines_are_values(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(3).collect();
    lines.len() > 1 && lines.iter().all(|line| matches!(serde_json::from_str(line), Ok(Value::Map(_))))
}

fn line_records(text: &str) -> (Vec<String>, Option<String>) {
    let mut records = Vec::new();
    let mut fault = None;
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str::<Value>(line) {
            Ok(value) => records.push(lines_of(&value, "")),
            Err(err) => {
                fault.get_or_insert_with(|| format!("line {} is no valid JSON: {err}", n + 1));
                records.push(tidy_line(line));
            }
        }
    }
    records.retain(|record| !record.is_empty());
    (records, fault)
}

fn plain_records(text: &str) -> Vec<String> {
    text.split("\n\n")
        .map(|part| part.trim_matches('\n').trim_end().to_owned())
        .filter(|p| !p.trim().is_empty())
        .collect()
}

fn value_records(value: Value) -> Vec<String> {
    let records: Vec<String> = match value {
        Value::List(values) => {
            values.iter().enumerate().map(|(n, value)| lines_of(value, &format!("[{n}]"))).collect()
        }
        Value::Map(entries) => entries.iter().flat_map(|(key, value)| entry_records(key, value)).collect(),
        Value::Plain(text) => vec![tidy_line(&text)],
    };
    records.into_iter().filter(|record| !record.is_empty()).collect()
}

/// `{"items": [{…}, {…}]}`: the items are the records.
fn entry_records(key: &str, value: &Value) -> Vec<String> {
    let path = joined("", key);
    match value {
        Value::List(values) if values.iter().any(|value| matches!(value, Value::Map(_))) => {
            values.iter().enumerate().map(|(n, value)| lines_of(value, &format!("{path}[{n}]"))).collect()
        }
        value => vec![lines_of(value, &path)],
    }
}

/// `path: value` for every value below.
fn lines_of(value: &Value, path: &str) -> String {
    let mut lines = Vec::new();
    append(value, path, &mut lines);
    lines.join("\n")
}

fn append(value: &Value, path: &str, lines: &mut Vec<String>) {
    match value {
        Value::Plain(text) => {
            let text = tidy_line(text);
            lines.push(if path.is_empty() { text } else { format!("{path}: {text}") });
        }
        Value::List(values) => {
            let plain: Option<Vec<String>> = values
                .iter()
                .map(|value| match value {
                    Value::Plain(text) if text.chars().count() <= 60 => Some(tidy_line(text)),
                    _ => None,
                })
                .collect();
            if let Some(plain) = plain.filter(|plain| plain.len() <= 40) {
                let text = plain.join(", ");
                lines.push(if path.is_empty() { text } else { format!("{path}: {text}") });
                return;
            }
            for (n, value) in values.iter().enumerate() {
                append(value, &format!("{path}[{n}]"), lines);
            }
        }
        Value::Map(entries) => {
            for (key, value) in entries {
                append(value, &joined(path, key), lines);
            }
        }
    }
}

fn joined(path: &str, key: &str) -> String {
    let key = tidy_line(key);
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

fn units(records: &[String]) -> Vec<ParsedUnit> {
    let mut units = Vec::new();
    let mut text = String::new();
    let (mut start, mut n_chars) = (0_usize, 0_usize);
    let mut flush = |text: &mut String, start: usize, n_chars: usize| {
        if n_chars > 0 {
            let locator = Locator::Chars { char_start: start as u32, char_end: (start + n_chars) as u32 };
            units.push(text_unit(UnitKind::Section, locator, std::mem::take(text), Vec::new()));
        }
    };
    let mut at = 0;
    for (n, record) in records.iter().enumerate() {
        for (m, line) in record.split('\n').enumerate() {
            let between = match (n, m) {
                (0, 0) => "",
                (_, 0) => BETWEEN_RECORDS,
                _ => "\n",
            };
            let n_line = line.chars().count();
            let is_full = n_chars + n_line > MAX_UNIT_CHARS || (m == 0 && n_chars > GOOD_CHARS);
            at += between.len();
            if is_full || n_chars == 0 {
                flush(&mut text, start, n_chars);
                (start, n_chars) = (at, 0);
            } else {
                text.push_str(between);
                n_chars += between.len();
            }
            text.push_str(line);
            n_chars += n_line;
            at += n_line;
        }
    }
    flush(&mut text, start, n_chars);
    units.retain(|unit: &ParsedUnit| !unit.text.trim().is_empty());
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, text: &str, expect: &[&str]) {
        let (records, _) = records(text, name);
        assert_eq!(records, expect);
        let source = Source::new(text.as_bytes(), name);
        for unit in units(&records) {
            assert_eq!(Json.read_at(&source, &unit.locator), Ok(unit.text));
        }
    }

    #[test]
    fn each_value_stands_behind_its_path_in_the_files_order() {
        check(
            "a.json",
            r#"{"z": 1, "a": {"名": "瓷砖", "tags": ["x", "y"], "deep": [{"k": null}]}, "items": [{"n": 1.50}, {"n": true}]}"#,
            &["z: 1", "a.名: 瓷砖\na.tags: x, y\na.deep[0].k: null", "items[0].n: 1.5", "items[1].n: true"],
        );
        check("a.json", "[1, [2]]", &["[0]: 1", "[1]: 2"]);
        check("a.json", "\"just text\"", &["just text"]);
    }

    #[test]
    fn a_record_per_line_and_broken_lines_stay_readable() {
        check("a.jsonl", "{\"a\": 1}\n\n{broken\n{\"a\": 2}\n", &["a: 1", "{broken", "a: 2"]);
        check("a.json", "{\"a\": 1}\n{\"a\": 2}\n", &["a: 1", "a: 2"]);
        check("a.json", "{// no\n \"a\": 1}\n\nrest", &["{// no\n \"a\": 1}", "rest"]);
    }

    #[test]
    fn long_files_become_several_units() {
        let text: String = (0..2_000)
            .map(|n| format!("{{\"id\": {n}, \"名\": \"第{n}条\"}}\n"))
            .collect::<Vec<_>>()
            .concat();
        let (records, _) = records(&text, "a.jsonl");
        let units = units(&records);
        assert!(units.len() > 10);
        let source = Source::new(text.as_bytes(), "a.jsonl");
        assert_eq!(Json.read_at(&source, &units[7].locator).as_ref(), Ok(&units[7].text));
    }
}
