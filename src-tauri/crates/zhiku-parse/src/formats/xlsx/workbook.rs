//! What the sheets of a workbook share: their names, the strings and the number formats.

use std::collections::HashMap;
use std::io::BufReader;

use quick_xml::events::Event;
use quick_xml::reader::Reader;

use super::cells::{entity, text_of};
use crate::error::ParseError;
use crate::formats::container::limit;
use crate::formats::ooxml::package::Package;
use crate::formats::sheet::number_format::{Epoch, NumberFormat};
use crate::formats::sheet::units::Visibility;
use crate::formats::xml::{Element, parse_part};

/// All shared strings together.
const MAX_STRING_BYTES: usize = 400 * 1024 * 1024;

pub(super) struct Workbook {
    pub sheets: Vec<Sheet>,
    pub strings: Vec<Box<str>>,
    pub epoch: Epoch,
    formats: Vec<NumberFormat>,
    /// The format of each cell style.
    styles: Vec<usize>,
}

pub(super) struct Sheet {
    pub name: String,
    pub visibility: Visibility,
    pub path: String,
}

impl Workbook {
    pub(super) fn read(package: &mut Package<'_>) -> Result<Self, ParseError> {
        let text = package.main_text()?;
        let Some(root) = parse_part(&text).0 else {
            return Err(ParseError::damaged(package.container.name, "its list of sheets cannot be read"));
        };
        let is_on = |value: Option<&str>| matches!(value, Some("1" | "true"));
        let from_1904 = root.child("workbookPr").is_some_and(|properties| is_on(properties.attr("date1904")));
        let mut book = Self {
            sheets: sheets(&root, package),
            strings: strings(package)?,
            epoch: if from_1904 { Epoch::Year1904 } else { Epoch::Year1900 },
            formats: Vec::new(),
            styles: Vec::new(),
        };
        if let Some(styles) = package.related("styles")?.and_then(|xml| parse_part(&xml).0) {
            book.read_styles(&styles);
        }
        Ok(book)
    }

    /// A number as a cell of style `style` shows it.
    pub(super) fn show(&self, value: f64, style: usize) -> String {
        let format = self.styles.get(style).and_then(|format| self.formats.get(*format));
        format.map_or_else(
            || crate::formats::sheet::number_format::general(value),
            |format| format.show(value, self.epoch),
        )
    }

    fn read_styles(&mut self, root: &Element) {
        let mut codes: HashMap<u32, &str> = HashMap::new();
        for format in root.child("numFmts").into_iter().flat_map(Element::elements) {
            if let (Some(id), Some(code)) =
                (format.attr("numFmtId").and_then(|id| id.parse().ok()), format.attr("formatCode"))
            {
                codes.insert(id, code);
            }
        }
        let mut known: HashMap<u32, usize> = HashMap::new();
        for style in root.child("cellXfs").into_iter().flat_map(Element::elements) {
            let id = style.attr("numFmtId").and_then(|id| id.parse().ok()).unwrap_or(0);
            let index = *known.entry(id).or_insert_with(|| {
                let format =
                    codes.get(&id).map_or_else(|| NumberFormat::built_in(id), |c| NumberFormat::parse(c));
                self.formats.push(format);
                self.formats.len() - 1
            });
            self.styles.push(index);
        }
    }
}

fn sheets(root: &Element, package: &Package<'_>) -> Vec<Sheet> {
    let entries = root.child("sheets").into_iter().flat_map(Element::elements);
    let sheet = |entry: &Element| {
        let id = entry.foreign_attr("id")?;
        let relation = package.relations.iter().find(|relation| relation.id == id)?;
        let visibility = match entry.attr("state") {
            Some("hidden" | "veryHidden") => Visibility::Hidden,
            _ => Visibility::Shown,
        };
        // A sheet may also be a chart.
        (relation.kind == "worksheet").then(|| Sheet {
            name: entry.attr("name").unwrap_or_default().to_owned(),
            visibility,
            path: relation.target.clone(),
        })
    };
    entries.filter_map(sheet).collect()
}

/// The strings that cells refer to by number; readings of Asian words (`rPh`) are left out.
fn strings(package: &mut Package<'_>) -> Result<Vec<Box<str>>, ParseError> {
    let Some(path) = package.relations.iter().find(|relation| relation.kind == "sharedStrings") else {
        return Ok(Vec::new());
    };
    let path = path.target.clone();
    let name = package.container.name;
    let Some(part) = package.container.stream(&path)? else { return Ok(Vec::new()) };
    let mut reader = Reader::from_reader(BufReader::with_capacity(64 * 1024, part));
    let mut buffer = Vec::new();
    let mut strings = Vec::new();
    let mut text = String::new();
    let (mut in_text, mut n_readings, mut n_bytes) = (false, 0_usize, 0_usize);
    loop {
        buffer.clear();
        // What was read before a fault stays.
        let Ok(event) = reader.read_event_into(&mut buffer) else { break };
        match event {
            Event::Start(start) => match start.local_name().as_ref() {
                "si" => text.clear(),
                "t" => in_text = n_readings == 0,
                "rPh" => n_readings += 1,
                _ => {}
            },
            Event::Empty(start) if start.local_name().as_ref() == "si" => strings.push(Box::from("")),
            Event::End(end) => match end.local_name().as_ref() {
                "si" => {
                    n_bytes += text.len();
                    if n_bytes > MAX_STRING_BYTES {
                        return Err(limit(name, "unpacked size"));
                    }
                    strings.push(Box::from(text.as_str()));
                }
                "t" => in_text = false,
                "rPh" => n_readings = n_readings.saturating_sub(1),
                _ => {}
            },
            Event::Text(piece) if in_text => text_of(&piece, &mut text),
            Event::GeneralRef(reference) if in_text => text.extend(entity(&reference)),
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(strings)
}
