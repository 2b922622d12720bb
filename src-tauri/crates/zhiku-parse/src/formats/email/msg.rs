//! Mails as Outlook saves them (MS-OXMSG): properties in streams of a compound file.

use std::io::{Cursor, Read};

use cfb::CompoundFile;

use super::{Mail, paragraphs};
use crate::encoding::decode;
use crate::error::ParseError;
use crate::formats::html::fragment_blocks;
use crate::formats::names::safe_name;
use crate::formats::sheet::number_format::{Epoch, NumberFormat};
use crate::formats::whole::warning;
use crate::parser::{ChildFile, Source};

/// One property is never larger; the whole file is at most as large as a file may be.
const MAX_BYTES: u64 = 200 * 1024 * 1024;

// Property ids of MS-OXPROPS.
const SUBJECT: u16 = 0x0037;
const SENDER_NAME: u16 = 0x0c1a;
const SENDER_ADDRESS: u16 = 0x0c1f;
const SENDER_SMTP: u16 = 0x5d01;
const DISPLAY_TO: u16 = 0x0e04;
const DISPLAY_CC: u16 = 0x0e03;
const BODY: u16 = 0x1000;
const BODY_HTML: u16 = 0x1013;
const SUBMIT_TIME: u16 = 0x0039;
const DELIVERY_TIME: u16 = 0x0e06;
const ATTACHED_DATA: u16 = 0x3701;
const ATTACHED_NAME: u16 = 0x3704;
const ATTACHED_LONG_NAME: u16 = 0x3707;
const ATTACHED_CONTENT_ID: u16 = 0x3712;

struct Msg<'a>(CompoundFile<Cursor<&'a [u8]>>);

pub(super) fn read(source: &Source<'_>) -> Result<Mail, ParseError> {
    let file = CompoundFile::open(Cursor::new(source.bytes));
    let mut msg = Msg(file.map_err(|err| ParseError::damaged(source.name, err))?);
    let subject = msg.text("", SUBJECT).unwrap_or_default();
    let address = msg.text("", SENDER_SMTP).or_else(|| msg.text("", SENDER_ADDRESS));
    let address = address.filter(|address| address.contains('@'));
    let from = match (msg.text("", SENDER_NAME), address) {
        (Some(name), Some(address)) if name != address => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default(),
    };
    let mut mail = Mail {
        headers: vec![
            ("From", from),
            ("To", msg.text("", DISPLAY_TO).unwrap_or_default()),
            ("Cc", msg.text("", DISPLAY_CC).unwrap_or_default()),
            ("Date", msg.time().unwrap_or_default()),
            ("Subject", subject.clone()),
        ],
        subject,
        ..Mail::default()
    };
    mail.body = match msg.text("", BODY).filter(|text| !text.trim().is_empty()) {
        Some(text) => paragraphs(&text),
        None => msg.html().map(|html| fragment_blocks(&html)).unwrap_or_default(),
    };
    let folders: Vec<String> = msg
        .0
        .read_root_storage()
        .filter(|entry| entry.is_storage() && entry.name().starts_with("__attach_version1.0_"))
        .map(|entry| format!("/{}", entry.name()))
        .collect();
    for folder in folders {
        match msg.attachment(&folder) {
            Some(child) => mail.attachments.push(child),
            None => mail.warnings.push(warning(
                "embedded_file_left_out",
                "a mail or object attached to the mail was left out",
            )),
        }
    }
    Ok(mail)
}

impl Msg<'_> {
    fn bytes(&mut self, folder: &str, id: u16, kind: &str) -> Option<Vec<u8>> {
        let stream = self.0.open_stream(format!("{folder}/__substg1.0_{id:04X}{kind}")).ok()?;
        let mut bytes = Vec::new();
        stream.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// A text, in UTF-16 or in the code page of whoever wrote it.
    fn text(&mut self, folder: &str, id: u16) -> Option<String> {
        if let Some(bytes) = self.bytes(folder, id, "001F") {
            let text = encoding_rs::UTF_16LE.decode_without_bom_handling(&bytes).0;
            return Some(text.trim_end_matches('\0').to_owned());
        }
        let bytes = self.bytes(folder, id, "001E")?;
        let decoded = decode(&bytes, None).map(|decoded| decoded.text);
        let text = decoded.unwrap_or_else(|| String::from_utf8_lossy(&bytes).into_owned());
        Some(text.trim_end_matches('\0').to_owned())
    }

    fn html(&mut self) -> Option<String> {
        let bytes = self.bytes("", BODY_HTML, "0102");
        bytes
            .and_then(|bytes| decode(&bytes, None).map(|decoded| decoded.text))
            .or_else(|| self.text("", BODY_HTML))
    }

    /// When it was sent, else when it arrived; UTC.
    fn time(&mut self) -> Option<String> {
        let mut properties = Vec::new();
        let stream = self.0.open_stream("/__properties_version1.0").ok()?;
        stream.take(1024 * 1024).read_to_end(&mut properties).ok()?;
        // A header of 32 bytes, then 16 bytes for each property: type, id, flags, value.
        let entries = properties.get(32..)?;
        let ticks = |wanted: u16| {
            let entry = entries.chunks_exact(16).find(|entry| {
                entry[..2] == 0x0040_u16.to_le_bytes() && entry[2..4] == wanted.to_le_bytes()
            })?;
            Some(u64::from_le_bytes(entry[8..].try_into().ok()?))
        };
        let ticks = ticks(SUBMIT_TIME).or_else(|| ticks(DELIVERY_TIME))?;
        // 100 ns since 1601, which is 109205 days before day 0 of the sheets' calendar.
        let days = ticks as f64 / 864_000_000_000.0 - 109_205.0;
        Some(NumberFormat::parse("yyyy-mm-dd\"T\"hh:mm:ss\"Z\"").show(days, Epoch::Year1900))
    }

    fn attachment(&mut self, folder: &str) -> Option<ChildFile> {
        let bytes = self.bytes(folder, ATTACHED_DATA, "0102").filter(|bytes| !bytes.is_empty())?;
        let name = self.text(folder, ATTACHED_LONG_NAME).or_else(|| self.text(folder, ATTACHED_NAME));
        let embedded = self.text(folder, ATTACHED_CONTENT_ID).is_some_and(|id| !id.is_empty())
            && image::guess_format(&bytes).is_ok();
        Some(ChildFile { name: safe_name(name.as_deref().unwrap_or("attachment")), bytes, embedded })
    }
}
