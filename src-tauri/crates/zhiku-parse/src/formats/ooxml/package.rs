//! The package of an Office document: its main part and the relations between parts. External relations are not followed.

use crate::error::ParseError;
use crate::formats::container::{Container, resolve};
use crate::formats::ole;
use crate::formats::xml::{Element, parse_part};
use crate::parser::Source;

/// What the main part of a kind of document is.
pub(in crate::formats) struct MainPart {
    /// Where it is when the package does not say.
    pub path: &'static str,
    /// For messages: "Word document".
    pub what: &'static str,
}

/// A part's reference to another.
#[derive(Clone, Debug)]
pub(in crate::formats) struct Relation {
    pub id: String,
    /// The last segment of its type: "styles", "slide", "image".
    pub kind: String,
    /// A path within the package.
    pub target: String,
}

pub(in crate::formats) struct Package<'a> {
    pub container: Container<'a>,
    pub main: String,
    pub relations: Vec<Relation>,
    what: &'static str,
}

impl<'a> Package<'a> {
    pub(in crate::formats) fn open(source: &Source<'a>, main: &MainPart) -> Result<Self, ParseError> {
        if let Some(refusal) = ole::refusal(source, main.what) {
            return Err(refusal);
        }
        let container = Container::open(source)?;
        let mut package = Self { container, main: String::new(), relations: Vec::new(), what: main.what };
        package.main = package.find_main(main)?;
        package.relations = package.relations_of(&package.main.clone())?;
        Ok(package)
    }

    /// The main part's XML.
    pub(in crate::formats) fn main_text(&mut self) -> Result<String, ParseError> {
        let missing = ParseError::damaged(self.container.name, "the main part is missing");
        self.container.text(&self.main.clone())?.ok_or(missing)
    }

    /// The part that the main part relates to as `kind` ("styles", "footnotes" …).
    pub(in crate::formats) fn related(&mut self, kind: &str) -> Result<Option<String>, ParseError> {
        let target = self.relations.iter().find(|relation| relation.kind == kind);
        match target.map(|relation| relation.target.clone()) {
            Some(target) => self.container.text(&target),
            None => Ok(None),
        }
    }

    pub(in crate::formats) fn relations_of(&mut self, part: &str) -> Result<Vec<Relation>, ParseError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let path = format!("{folder}/_rels/{file}.rels");
        let Some(xml) = self.container.text(path.trim_start_matches('/'))? else { return Ok(Vec::new()) };
        let (root, _) = parse_part(&xml);
        let relation = |element: &Element| {
            let kind = element.attr("Type")?.rsplit('/').next()?.to_owned();
            let is_internal = element.attr("TargetMode").is_none_or(|mode| mode != "External");
            let target = element.attr("Target").filter(|_| is_internal)?;
            let id = element.attr("Id").unwrap_or_default().to_owned();
            Some(Relation { id, kind, target: resolve(folder, target) })
        };
        Ok(root.map(|root| root.elements().filter_map(relation).collect()).unwrap_or_default())
    }

    /// The path of the picture that `id` stands for among a part's relations.
    pub(in crate::formats) fn picture(&self, relations: &[Relation], id: &str) -> Option<String> {
        let relation = relations.iter().find(|relation| relation.id == id && relation.kind == "image")?;
        self.container.holds(&relation.target).then(|| relation.target.clone())
    }

    fn find_main(&mut self, main: &MainPart) -> Result<String, ParseError> {
        let relations = self.relations_of("")?;
        let stated = relations.into_iter().find(|relation| relation.kind == "officeDocument");
        [stated.map(|relation| relation.target), Some(main.path.to_owned())]
            .into_iter()
            .flatten()
            .find(|path| self.container.holds(path))
            .ok_or_else(|| ParseError::damaged(self.container.name, format!("it holds no {}", self.what)))
    }
}
