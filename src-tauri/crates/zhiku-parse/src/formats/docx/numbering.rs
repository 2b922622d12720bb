//! List numbering: what label stands before a paragraph.

use std::collections::{HashMap, HashSet};

use super::labels::number_label;
use super::styles::{NumberingRef, Styles};
use crate::formats::xml::{Element, parse_part};

const N_LEVELS: usize = 9;

#[derive(Clone, Debug)]
struct Level {
    start: i64,
    format: String,
    /// `%1.%2` with the numbers of the levels to be put in.
    text: String,
    /// All numbers in digits, whatever their own level says.
    is_legal: bool,
    /// The level whose advance starts this one anew; `None` = the one above.
    restart: Option<usize>,
}

#[derive(Debug, Default)]
struct AbstractNumbering {
    levels: HashMap<usize, Level>,
    style_link: Option<String>,
}

#[derive(Debug, Default)]
struct Numbering {
    abstract_id: String,
    overrides: HashMap<usize, Override>,
}

#[derive(Debug, Default)]
struct Override {
    start: Option<i64>,
    level: Option<Level>,
}

#[derive(Debug, Default)]
pub(super) struct Definitions {
    abstracts: HashMap<String, AbstractNumbering>,
    numberings: HashMap<String, Numbering>,
}

/// The numbers that have been given so far.
#[derive(Debug, Default)]
pub(super) struct Counters {
    by_abstract: HashMap<String, [Option<i64>; N_LEVELS]>,
    /// Numberings whose start values have been applied.
    started: HashSet<(String, usize)>,
}

/// What stands before a list paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Bullet,
    /// As written: `1.`, `（一）`, `第三条`.
    Number(String),
}

impl Definitions {
    pub(super) fn read(xml: &str) -> Self {
        let (Some(root), _) = parse_part(xml) else { return Self::default() };
        let mut definitions = Self::default();
        for element in root.elements() {
            match &*element.name {
                "abstractNum" => {
                    if let Some(id) = element.attr("abstractNumId") {
                        let levels =
                            element.elements().filter(|e| &*e.name == "lvl").filter_map(level).collect();
                        let style_link = element.child_val("numStyleLink").map(str::to_owned);
                        definitions.abstracts.insert(id.to_owned(), AbstractNumbering { levels, style_link });
                    }
                }
                "num" => {
                    if let (Some(id), Some(abstract_id)) =
                        (element.attr("numId"), element.child_val("abstractNumId"))
                    {
                        let overrides = element
                            .elements()
                            .filter(|e| &*e.name == "lvlOverride")
                            .filter_map(level_override);
                        let numbering =
                            Numbering { abstract_id: abstract_id.to_owned(), overrides: overrides.collect() };
                        definitions.numberings.insert(id.to_owned(), numbering);
                    }
                }
                _ => {}
            }
        }
        definitions
    }

    /// Counts the paragraph and gives its label.
    pub(super) fn label(
        &self,
        styles: &Styles,
        counters: &mut Counters,
        paragraph: &NumberingRef,
    ) -> Option<Label> {
        let numbering = self.numberings.get(&paragraph.num_id)?;
        let (abstract_id, levels) = self.resolve(styles, &numbering.abstract_id)?;
        let at = paragraph.level.min(N_LEVELS - 1);
        let find = |index: usize| {
            numbering.overrides.get(&index).and_then(|o| o.level.as_ref()).or_else(|| levels.get(&index))
        };
        let level = find(at)?;
        let starts = counters.by_abstract.entry(abstract_id.to_owned()).or_default();
        if let Some(start) = numbering.overrides.get(&at).and_then(|o| o.start)
            && counters.started.insert((paragraph.num_id.clone(), at))
        {
            starts[at] = Some(start.saturating_sub(1));
        }
        starts[at] = Some(starts[at].map_or(level.start, |n| n.saturating_add(1)));
        for (deeper, number) in starts.iter_mut().enumerate().skip(at + 1) {
            let restarts = find(deeper).is_none_or(|level| level.restart.is_none_or(|above| above > at));
            if restarts {
                *number = None;
            }
        }
        if level.format == "bullet" {
            return Some(Label::Bullet);
        }
        let mut text = String::new();
        let mut chars = level.text.chars().peekable();
        while let Some(c) = chars.next() {
            match chars.peek().and_then(|digit| digit.to_digit(10)).filter(|digit| c == '%' && *digit > 0) {
                Some(digit) => {
                    chars.next();
                    let index = digit as usize - 1;
                    let format = match find(index) {
                        Some(other) if !level.is_legal => other.format.as_str(),
                        _ => "decimal",
                    };
                    let first = find(index).map_or(1, |level| level.start);
                    text.push_str(&number_label(starts[index.min(N_LEVELS - 1)].unwrap_or(first), format));
                }
                None => text.push(c),
            }
        }
        let text = text.trim().to_owned();
        (!text.is_empty()).then_some(Label::Number(text))
    }

    /// A numbering may point to a style that points to the real one.
    fn resolve<'a>(&'a self, styles: &Styles, id: &'a str) -> Option<(&'a str, &'a HashMap<usize, Level>)> {
        let found = self.abstracts.get(id)?;
        let Some(link) = &found.style_link else { return Some((id, &found.levels)) };
        let num_id = styles.numbering(link)?.num_id;
        let linked = &self.numberings.get(&num_id)?.abstract_id;
        self.abstracts.get(linked).map(|linked_to| (linked.as_str(), &linked_to.levels))
    }
}

fn level(element: &Element) -> Option<(usize, Level)> {
    let index = element.attr("ilvl")?.parse().ok()?;
    Some((
        index,
        Level {
            start: element.child_val("start").and_then(|start| start.parse().ok()).unwrap_or(1),
            format: number_format(element),
            text: element.child_val("lvlText").unwrap_or("").to_owned(),
            is_legal: element.is_on("isLgl"),
            restart: element.child_val("lvlRestart").and_then(|level| level.parse().ok()),
        },
    ))
}

/// Newer formats stand in a markup-compatibility choice around the old element.
fn number_format(level: &Element) -> String {
    let direct = level.child_val("numFmt");
    let fallback = || level.child("AlternateContent")?.child("Fallback")?.child_val("numFmt");
    direct.or_else(fallback).unwrap_or("decimal").to_owned()
}

fn level_override(element: &Element) -> Option<(usize, Override)> {
    let index = element.attr("ilvl")?.parse().ok()?;
    let start = element.child_val("startOverride").and_then(|start| start.parse().ok());
    let level = element.child("lvl").and_then(level).map(|(_, level)| level);
    Some((index, Override { start, level }))
}
