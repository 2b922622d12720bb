//! Tables, charts and SmartArt.

use super::text;
use crate::error::ParseError;
use crate::formats::blocks::{Block, tidy_line};
use crate::formats::ooxml::package::{Package, Relation};
use crate::formats::table::Grid;
use crate::formats::xml::{Element, parse_part};

/// More points of one series are no chart that anyone reads.
const MAX_POINTS: usize = 500;

pub(super) fn blocks(
    frame: &Element,
    relations: &[Relation],
    package: &mut Package<'_>,
) -> Result<Vec<Block>, ParseError> {
    let Some(data) = frame.at(&["graphic", "graphicData"]) else { return Ok(Vec::new()) };
    if let Some(table) = data.child("tbl") {
        return Ok(vec![self::table(table)]);
    }
    let mut related = |id: Option<&str>| {
        let relation = id.and_then(|id| relations.iter().find(|relation| relation.id == id));
        match relation {
            Some(relation) => {
                Ok(package.container.text(&relation.target)?.and_then(|xml| parse_part(&xml).0))
            }
            None => Ok(None),
        }
    };
    if let Some(reference) = data.child("chart") {
        let part: Option<Element> = related(reference.foreign_attr("id"))?;
        return Ok(part.map(|part| chart(&part)).unwrap_or_default());
    }
    if let Some(reference) = data.child("relIds") {
        let part: Option<Element> = related(reference.foreign_attr("dm"))?;
        return Ok(part.map(|part| smart_art(&part)).unwrap_or_default());
    }
    Ok(Vec::new())
}

fn table(table: &Element) -> Block {
    let mut grid = Grid::default();
    for row in table.elements().filter(|element| &*element.name == "tr") {
        grid.start_row();
        for cell in row.elements().filter(|element| &*element.name == "tc") {
            let number = |name: &str| cell.attr(name).and_then(|n| n.parse().ok()).unwrap_or(1);
            let is_on = |name: &str| matches!(cell.attr(name), Some("1" | "true"));
            // The cells that a merged one covers are there, but empty.
            if is_on("hMerge") || is_on("vMerge") {
                continue;
            }
            grid.cell(&text::of_cell(cell), number("gridSpan"), number("rowSpan"));
        }
        grid.end_row();
    }
    Block::Table(grid.into_rows())
}

/// A chart's title and its numbers: a row per category, a column per series.
pub(in crate::formats) fn chart(part: &Element) -> Vec<Block> {
    let Some(chart) = part.find("chart") else { return Vec::new() };
    let mut blocks = Vec::new();
    let title = chart.child("title").map(|title| {
        let mut paragraphs = Vec::new();
        title.find_all("p", &mut paragraphs);
        tidy_line(&paragraphs.into_iter().map(text::paragraph_text).collect::<Vec<_>>().join(" "))
    });
    blocks.extend(title.filter(|title| !title.is_empty()).map(Block::Paragraph));
    let mut series = Vec::new();
    if let Some(plot) = chart.child("plotArea") {
        plot.find_all("ser", &mut series);
    }
    let categories = series.iter().find_map(|series| {
        let points = points(series.child("cat").or_else(|| series.child("xVal"))?);
        (!points.is_empty()).then_some(points)
    });
    let categories = categories.unwrap_or_default();
    let columns: Vec<(String, Vec<String>)> = series
        .iter()
        .map(|series| {
            let name = series.child("tx").map(points).unwrap_or_default().concat();
            let values = series.child("val").or_else(|| series.child("yVal")).map(points);
            (name, values.unwrap_or_default())
        })
        .collect();
    let n_rows = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0).max(categories.len());
    if columns.is_empty() || n_rows == 0 {
        return blocks;
    }
    let mut rows = vec![
        std::iter::once(String::new())
            .chain(columns.iter().map(|(name, _)| name.clone()))
            .collect::<Vec<_>>(),
    ];
    let cell = |values: &[String], n: usize| values.get(n).cloned().unwrap_or_default();
    rows.extend((0..n_rows).map(|n| {
        std::iter::once(cell(&categories, n))
            .chain(columns.iter().map(|(_, values)| cell(values, n)))
            .collect()
    }));
    blocks.push(Block::Table(rows));
    blocks
}

/// The cached points of a reference, or the literal ones.
fn points(reference: &Element) -> Vec<String> {
    let mut found = Vec::new();
    reference.find_all("pt", &mut found);
    if found.is_empty() {
        let value = reference.find("v").map(Element::text);
        return value.into_iter().collect();
    }
    let mut points: Vec<String> = Vec::new();
    for point in found {
        let index = point.attr("idx").and_then(|n| n.parse().ok()).unwrap_or(points.len());
        if index < MAX_POINTS {
            points.resize(points.len().max(index + 1), String::new());
            points[index] =
                tidy_line(&shown_number(&point.child("v").map(Element::text).unwrap_or_default()));
        }
    }
    points
}

/// Binary fractions such as 4.2999999999999998 as they are meant.
fn shown_number(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if value.len() > 12 && value.contains('.') => {
            crate::formats::sheet::number_format::general(number)
        }
        _ => value.to_owned(),
    }
}

/// The words of a diagram's points, in the order in which the file lists them.
fn smart_art(part: &Element) -> Vec<Block> {
    let mut points = Vec::new();
    part.find_all("pt", &mut points);
    let shown = points
        .into_iter()
        .filter(|point| !matches!(point.attr("type"), Some("pres" | "parTrans" | "sibTrans" | "doc")));
    shown
        .filter_map(|point| {
            let mut paragraphs = Vec::new();
            point.child("t")?.find_all("p", &mut paragraphs);
            let texts: Vec<String> = paragraphs.into_iter().map(text::paragraph_text).collect();
            let text = tidy_line(&texts.join(" "));
            (!text.is_empty()).then(|| Block::Item { depth: 0, label: "-".to_owned(), text })
        })
        .collect()
}
