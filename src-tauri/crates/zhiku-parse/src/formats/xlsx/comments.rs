//! What reviewers wrote in a sheet: the old notes and the threaded comments.

use std::collections::{BTreeMap, HashMap};

use crate::error::ParseError;
use crate::formats::blocks::tidy_line;
use crate::formats::ooxml::package::Package;
use crate::formats::sheet::Place;
use crate::formats::xml::{Element, parse_part};

pub(super) fn of_sheet(
    package: &mut Package<'_>,
    path: &str,
) -> Result<BTreeMap<Place, Vec<String>>, ParseError> {
    let mut found: BTreeMap<Place, Vec<String>> = BTreeMap::new();
    let relations = package.relations_of(path)?;
    if !relations.iter().any(|relation| matches!(relation.kind.as_str(), "comments" | "threadedComment")) {
        return Ok(found);
    }
    let persons = persons(package)?;
    let mut read = |kind: &str, each: &mut dyn FnMut(&Element)| -> Result<(), ParseError> {
        for relation in relations.iter().filter(|relation| relation.kind == kind) {
            if let Some(root) = package.container.text(&relation.target)?.and_then(|xml| parse_part(&xml).0) {
                each(&root);
            }
        }
        Ok(())
    };
    read("threadedComment", &mut |root| {
        for comment in root.elements() {
            let author = comment.attr("personId").and_then(|id| persons.get(id)).map(String::as_str);
            let text = comment.child("text").map(Element::all_text).unwrap_or_default();
            add(&mut found, comment.attr("ref"), author, &text);
        }
    })?;
    read("comments", &mut |root| {
        let authors: Vec<String> =
            root.child("authors").into_iter().flat_map(Element::elements).map(Element::text).collect();
        for comment in root.child("commentList").into_iter().flat_map(Element::elements) {
            let author = comment.attr("authorId").and_then(|id| authors.get(id.parse::<usize>().ok()?));
            // The old copy of a threaded comment names its author like this.
            if author.is_some_and(|author| author.starts_with("tc={")) {
                continue;
            }
            let mut texts = Vec::new();
            if let Some(text) = comment.child("text") {
                text.find_all("t", &mut texts);
            }
            let text: String = texts.into_iter().map(Element::text).collect();
            add(&mut found, comment.attr("ref"), author.map(String::as_str), &text);
        }
    })?;
    Ok(found)
}

fn add(found: &mut BTreeMap<Place, Vec<String>>, place: Option<&str>, author: Option<&str>, text: &str) {
    let Some(place) = place.and_then(Place::parse) else { return };
    let text = tidy_line(text);
    // Excel begins a note with its author's name.
    let author = author.map(tidy_line).filter(|author| !author.is_empty());
    let text = match &author {
        Some(author) => {
            text.strip_prefix(author.as_str()).map_or(text.as_str(), |rest| rest.trim_start_matches(':'))
        }
        None => text.as_str(),
    };
    if text.trim().is_empty() {
        return;
    }
    let text = text.trim();
    found.entry(place).or_default().push(match author {
        Some(author) => format!("[Comment on {place} by {author}: {text}]"),
        None => format!("[Comment on {place}: {text}]"),
    });
}

fn persons(package: &mut Package<'_>) -> Result<HashMap<String, String>, ParseError> {
    let root = package.related("person")?.and_then(|xml| parse_part(&xml).0);
    let person =
        |element: &Element| Some((element.attr("id")?.to_owned(), tidy_line(element.attr("displayName")?)));
    Ok(root.map(|root| root.elements().filter_map(person).collect()).unwrap_or_default())
}
