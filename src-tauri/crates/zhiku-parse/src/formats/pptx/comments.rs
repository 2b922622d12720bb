//! What reviewers wrote on a slide, in the old and the threaded notation.

use std::collections::HashMap;

use crate::error::ParseError;
use crate::formats::blocks::{Block, tidy_line};
use crate::formats::ooxml::package::{Package, Relation};
use crate::formats::xml::{Element, parse_part};

/// Names by id.
pub(super) type Authors = HashMap<String, String>;

pub(super) fn authors(package: &mut Package<'_>) -> Result<Authors, ParseError> {
    let mut authors = Authors::new();
    for kind in ["commentAuthors", "authors"] {
        let Some(root) = package.related(kind)?.and_then(|xml| parse_part(&xml).0) else { continue };
        for author in root.elements() {
            if let (Some(id), Some(name)) = (author.attr("id"), author.attr("name")) {
                authors.insert(id.to_owned(), tidy_line(name));
            }
        }
    }
    Ok(authors)
}

/// The comments on a slide as notes at its end.
pub(super) fn of_slide(
    package: &mut Package<'_>,
    relations: &[Relation],
    authors: &Authors,
) -> Result<Vec<Block>, ParseError> {
    let mut notes = Vec::new();
    for relation in relations.iter().filter(|relation| relation.kind == "comments") {
        let Some(root) = package.container.text(&relation.target)?.and_then(|xml| parse_part(&xml).0) else {
            continue;
        };
        let mut comments = Vec::new();
        root.find_all("cm", &mut comments);
        for comment in comments {
            notes.extend(note(comment, authors));
            let mut replies = Vec::new();
            comment.find_all("reply", &mut replies);
            notes.extend(replies.into_iter().filter_map(|reply| note(reply, authors)));
        }
    }
    Ok(notes)
}

fn note(comment: &Element, authors: &Authors) -> Option<Block> {
    let body = comment.child("text").or_else(|| comment.child("txBody"))?;
    let text = tidy_line(&body.all_text());
    let author = comment.attr("authorId").and_then(|id| authors.get(id));
    let note = match author {
        Some(author) => format!("[Comment by {author}: {text}]"),
        None => format!("[Comment: {text}]"),
    };
    (!text.is_empty()).then_some(Block::Note(note))
}
