//! Internet mail (RFC 5322, MIME), through mail-parser.

use mail_parser::{Address, Message, MessageParser, MimeHeaders, PartType};

use super::{Mail, paragraphs};
use crate::error::ParseError;
use crate::formats::html::fragment_blocks;
use crate::formats::names::safe_name;
use crate::parser::{ChildFile, Source};

pub(super) fn read(source: &Source<'_>) -> Result<Mail, ParseError> {
    let message = MessageParser::default().parse(source.bytes);
    let message = message.ok_or_else(|| ParseError::damaged(source.name, "it has no mail headers"))?;
    let people = |address: Option<&Address<'_>>| address.map(addresses).unwrap_or_default();
    let subject = message.subject().unwrap_or_default().to_owned();
    let mut mail = Mail {
        headers: vec![
            ("From", people(message.from())),
            ("To", people(message.to())),
            ("Cc", people(message.cc())),
            ("Date", message.date().map(mail_parser::DateTime::to_rfc3339).unwrap_or_default()),
            ("Subject", subject.clone()),
        ],
        subject,
        ..Mail::default()
    };
    for part in message.text_bodies() {
        match &part.body {
            PartType::Text(text) => mail.body.extend(paragraphs(text)),
            PartType::Html(html) => mail.body.extend(fragment_blocks(html)),
            _ => {}
        }
    }
    mail.attachments = attachments(&message);
    Ok(mail)
}

fn addresses(list: &Address<'_>) -> String {
    let one = |name: Option<&str>, address: Option<&str>| match (name, address) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    };
    list.iter().map(|found| one(found.name(), found.address())).collect::<Vec<_>>().join(", ")
}

fn attachments(message: &Message<'_>) -> Vec<ChildFile> {
    let child = |(n, part): (usize, &mail_parser::MessagePart<'_>)| {
        let (bytes, fallback) = match &part.body {
            PartType::Message(inner) => {
                (inner.raw_message.to_vec(), format!("{}.eml", inner.subject().unwrap_or("message")))
            }
            _ => (part.contents().to_vec(), format!("attachment {}", n + 1)),
        };
        let name = safe_name(part.attachment_name().unwrap_or(&fallback));
        // What the mail shows within its text has an id to be shown by.
        let embedded =
            part.content_id().is_some() && part.content_type().is_some_and(|kind| kind.ctype() == "image");
        (!bytes.is_empty()).then_some(ChildFile { name, bytes, embedded })
    };
    message.attachments().enumerate().filter_map(child).collect()
}
