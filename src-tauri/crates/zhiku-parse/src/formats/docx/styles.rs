//! Paragraph styles, as far as they make headings and lists.

use std::collections::HashMap;

use crate::formats::xml::{Element, parse_part};

/// The list level that a paragraph or style belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NumberingRef {
    pub num_id: String,
    pub level: usize,
    /// How deep the item is shown: "List Bullet 2" is on level 0 of a list of its own, one step in.
    pub depth: usize,
}

#[derive(Debug, Default)]
struct Style {
    name: String,
    based_on: Option<String>,
    outline_level: Option<u8>,
    num_id: Option<String>,
    list_level: Option<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Styles {
    by_id: HashMap<String, Style>,
}

/// A chain of styles is followed no further than this.
const MAX_CHAIN: usize = 16;

impl Styles {
    pub(super) fn read(xml: &str) -> Self {
        let (Some(root), _) = parse_part(xml) else { return Self::default() };
        let by_id = root
            .elements()
            .filter(|element| &*element.name == "style")
            .filter_map(|element| Some((element.attr("styleId")?.to_owned(), style(element))))
            .collect();
        Self { by_id }
    }

    /// 0 for a title, 1 to 9 for headings.
    pub(super) fn heading_level(&self, id: &str) -> Option<u8> {
        let mut found = None;
        for style in self.chain(id) {
            if let Some(level) = heading_name(&style.name) {
                found = Some(level);
            } else if let Some(level) = style.outline_level {
                found = (level < 9).then_some(level + 1);
            } else {
                continue;
            }
            break;
        }
        // Documents without a style sheet still name their styles.
        found.or_else(|| if self.by_id.contains_key(id) { None } else { heading_name(id) })
    }

    /// The list that paragraphs of this style belong to.
    pub(super) fn numbering(&self, id: &str) -> Option<NumberingRef> {
        let num_id = self.chain(id).find_map(|style| style.num_id.clone())?;
        let level = self.chain(id).find_map(|style| style.list_level).unwrap_or(0);
        let depth = level.max(self.chain(id).map(|style| list_depth(&style.name)).max().unwrap_or(0));
        (num_id != "0").then_some(NumberingRef { num_id, level, depth })
    }

    fn chain<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a Style> + use<'a> {
        let first = self.by_id.get(id);
        std::iter::successors(first, |style| self.by_id.get(style.based_on.as_deref()?)).take(MAX_CHAIN)
    }
}

fn style(element: &Element) -> Style {
    let properties = element.child("pPr");
    let numbering = properties.and_then(|properties| properties.child("numPr"));
    Style {
        name: element.child_val("name").unwrap_or("").to_owned(),
        based_on: element.child_val("basedOn").map(str::to_owned),
        outline_level: properties
            .and_then(|p| p.child_val("outlineLvl"))
            .and_then(|level| level.parse().ok()),
        num_id: numbering.and_then(|numbering| numbering.child_val("numId")).map(str::to_owned),
        list_level: numbering
            .and_then(|numbering| numbering.child_val("ilvl"))
            .and_then(|level| level.parse().ok()),
    }
}

/// 1 for "List Bullet 2" and "列表编号 2", 0 for everything else.
fn list_depth(name: &str) -> usize {
    let name = name.to_lowercase();
    let is_list = name.starts_with("list ") || name.starts_with("列表");
    let number =
        name.chars().next_back().and_then(|c| c.to_digit(10)).filter(|n| is_list && (2..=5).contains(n));
    number.map_or(0, |n| n as usize - 1)
}

/// "Heading" as Word and WPS call it.
const HEADING_WORDS: [&str; 12] = [
    "heading",
    "标题",
    "標題",
    "見出し",
    "제목",
    "überschrift",
    "titre",
    "título",
    "titolo",
    "заголовок",
    "kop",
    "nagłówek",
];

/// The level that a style's name gives, in the languages Word and WPS write it.
fn heading_name(name: &str) -> Option<u8> {
    let name = name.to_lowercase();
    let name = name.trim();
    if matches!(name, "title" | "标题" | "標題" | "表題" | "titel" | "titre" | "título" | "заголовок")
    {
        return Some(0);
    }
    let digits = HEADING_WORDS.iter().find_map(|word| name.strip_prefix(word))?.trim_start();
    digits.parse().ok().filter(|level| (1..=9).contains(level))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_known_by_outline_level_inheritance_and_localised_names() {
        let styles = Styles::read(
            r#"<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
            <w:style w:styleId="1"><w:name w:val="标题 1"/></w:style>
            <w:style w:styleId="a"><w:name w:val="Clause"/><w:basedOn w:val="1"/></w:style>
            <w:style w:styleId="b"><w:name w:val="Chapter"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
            <w:style w:styleId="c"><w:name w:val="Body"/><w:basedOn w:val="c"/></w:style>
            <w:style w:styleId="d"><w:name w:val="Flat"/><w:basedOn w:val="1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
            </w:styles>"#,
        );
        let levels: Vec<_> =
            ["1", "a", "b", "c", "d", "Heading3", "Title"].map(|id| styles.heading_level(id)).to_vec();
        assert_eq!(levels, vec![Some(1), Some(1), Some(2), None, None, Some(3), Some(0)]);
    }
}
