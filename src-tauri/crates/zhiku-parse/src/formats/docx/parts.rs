//! The parts around the document: styles, numbering, notes and comments.

use std::collections::HashMap;

use zhiku_core::ParseWarning;

use super::numbering::Definitions;
use super::styles::Styles;
use crate::error::ParseError;
use crate::formats::ooxml::package::Package;
use crate::formats::whole::warning;
use crate::formats::xml::{Element, parse_part};

#[derive(Default)]
pub(super) struct Parts {
    pub styles: Styles,
    pub numbering: Definitions,
    pub footnotes: HashMap<String, Element>,
    pub endnotes: HashMap<String, Element>,
    pub comments: HashMap<String, Element>,
    pub warnings: Vec<ParseWarning>,
}

impl Parts {
    pub(super) fn read(package: &mut Package<'_>) -> Result<Self, ParseError> {
        let mut parts = Self::default();
        if let Some(xml) = parts.optional(package, "styles")? {
            parts.styles = Styles::read(&xml);
        }
        if let Some(xml) = parts.optional(package, "numbering")? {
            parts.numbering = Definitions::read(&xml);
        }
        parts.footnotes = parts.notes(package, "footnotes", "footnote")?;
        parts.endnotes = parts.notes(package, "endnotes", "endnote")?;
        parts.comments = parts.notes(package, "comments", "comment")?;
        Ok(parts)
    }

    /// A part that the text can do without: when it is broken, that is a warning.
    fn optional(&mut self, package: &mut Package<'_>, kind: &str) -> Result<Option<String>, ParseError> {
        match package.related(kind) {
            Err(ParseError::Damaged { detail, .. }) => {
                self.warnings
                    .push(warning("part_unreadable", format!("could not read the {kind}: {detail}")));
                Ok(None)
            }
            other => other,
        }
    }

    fn notes(
        &mut self,
        package: &mut Package<'_>,
        kind: &str,
        name: &str,
    ) -> Result<HashMap<String, Element>, ParseError> {
        let Some(xml) = self.optional(package, kind)? else { return Ok(HashMap::new()) };
        let (Some(root), faults) = parse_part(&xml) else { return Ok(HashMap::new()) };
        if faults.is_damaged {
            self.warnings.push(warning("part_unreadable", format!("the {kind} break off")));
        }
        let is_text = |element: &&Element| {
            &*element.name == name
                && !matches!(
                    element.attr("type"),
                    Some("separator" | "continuationSeparator" | "continuationNotice")
                )
        };
        let with_id = |element: &Element| Some((element.attr("id")?.to_owned(), element.clone()));
        Ok(root.elements().filter(is_text).filter_map(with_id).collect())
    }
}
