//! What styles say about the role of a text: title, heading, numbered or bulleted, hidden.

use std::collections::{HashMap, HashSet};

use crate::formats::xml::Element;

/// A style that is its own ancestor ends here.
const MAX_ANCESTORS: usize = 20;

#[derive(Default)]
pub(super) struct Styles {
    parents: HashMap<String, String>,
    levels: HashMap<String, u8>,
    /// List styles by name: whether each level is numbered.
    lists: HashMap<String, Vec<bool>>,
    hidden: HashSet<String>,
}

impl Styles {
    /// Reads the styles of one file; those read first win.
    pub(super) fn read(&mut self, root: &Element) {
        for group in root.elements().filter(|element| matches!(&*element.name, "automatic-styles" | "styles"))
        {
            for style in group.elements() {
                self.style(style);
            }
        }
    }

    fn style(&mut self, style: &Element) {
        let Some(name) = style.attr("name") else { return };
        match &*style.name {
            "style" => {
                if let Some(parent) = style.attr("parent-style-name") {
                    self.parents.entry(name.to_owned()).or_insert_with(|| parent.to_owned());
                }
                let level = style.attr("default-outline-level").and_then(|level| level.parse().ok());
                if let Some(level) = level.filter(|level| *level > 0) {
                    self.levels.entry(name.to_owned()).or_insert(level);
                }
                let is_hidden = style.elements().any(|properties| {
                    properties.attr("visibility") == Some("hidden")
                        || properties.attr("display") == Some("false")
                });
                if is_hidden {
                    self.hidden.insert(name.to_owned());
                }
            }
            "list-style" => {
                let mut levels = Vec::new();
                for level in style.elements() {
                    let n = level.attr("level").and_then(|n| n.parse::<usize>().ok()).unwrap_or(1);
                    if (1..=20).contains(&n) {
                        levels.resize(levels.len().max(n), false);
                        levels[n - 1] = &*level.name == "list-level-style-number"
                            && level.attr("num-format").is_some_and(|format| !format.is_empty());
                    }
                }
                self.lists.entry(name.to_owned()).or_insert(levels);
            }
            _ => {}
        }
    }

    /// Level 0 is the document's title.
    pub(super) fn heading_level(&self, style: &str) -> Option<u8> {
        let mut name = style;
        for _ in 0..MAX_ANCESTORS {
            if name == "Title" {
                return Some(0);
            }
            if let Some(level) = self.levels.get(name) {
                return Some(*level);
            }
            name = self.parents.get(name)?;
        }
        None
    }

    pub(super) fn is_numbered(&self, list: &str, depth: usize) -> bool {
        self.lists.get(list).and_then(|levels| levels.get(depth)).copied().unwrap_or(false)
    }

    pub(super) fn is_hidden(&self, style: Option<&str>) -> bool {
        style.is_some_and(|style| self.hidden.contains(style))
    }
}
