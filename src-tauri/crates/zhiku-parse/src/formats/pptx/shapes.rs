//! What stands on a slide, in the order in which it is read: the title, then from top to bottom and left to right.

use crate::formats::blocks::tidy_line;
use crate::formats::reading_order::{self, Area};
use crate::formats::xml::Element;

/// A group's own coordinates, as they lie on the slide.
#[derive(Clone, Copy)]
struct Frame {
    scale: (f64, f64),
    shift: (f64, f64),
}

const WHOLE_SLIDE: Frame = Frame { scale: (1.0, 1.0), shift: (0.0, 0.0) };

/// The shapes below a tree, groups opened. A shape without a place of its own keeps its turn behind the one before it.
pub(super) fn in_reading_order(tree: &Element) -> Vec<&Element> {
    let mut found = Vec::new();
    collect(tree, WHOLE_SLIDE, &mut found);
    let (titles, rest): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(shape, _)| matches!(placeholder(shape), Some("title" | "ctrTitle")));
    titles.into_iter().map(|(shape, _)| shape).chain(reading_order::sort(rest)).collect()
}

/// The role that the slide's layout gives a shape.
pub(super) fn placeholder(shape: &Element) -> Option<&str> {
    let properties = shape.elements().find(|element| element.name.starts_with("nv"))?;
    let mark = properties.at(&["nvPr", "ph"])?;
    Some(mark.attr("type").unwrap_or("body"))
}

/// The description that somebody gave a picture.
pub(super) fn description(shape: &Element) -> Option<String> {
    let properties = shape.elements().find(|element| element.name.starts_with("nv"))?;
    let text = tidy_line(properties.child("cNvPr")?.attr("descr")?);
    crate::formats::docx::says_something(&text).then_some(text)
}

fn collect<'e>(tree: &'e Element, frame: Frame, found: &mut Vec<(&'e Element, Option<Area>)>) {
    for shape in tree.elements() {
        match &*shape.name {
            "sp" | "pic" | "graphicFrame" => {
                let is_furniture = matches!(placeholder(shape), Some("sldNum" | "dt" | "ftr" | "hdr"));
                if !is_furniture && !is_hidden(shape) {
                    found.push((shape, place(shape, frame)));
                }
            }
            "grpSp" if !is_hidden(shape) => collect(shape, group_frame(shape, frame), found),
            // The same shape for new and for old programs.
            "AlternateContent" => {
                if let Some(choice) = shape.elements().next() {
                    collect(choice, frame, found);
                }
            }
            _ => {}
        }
    }
}

fn is_hidden(shape: &Element) -> bool {
    let properties = shape.elements().find(|element| element.name.starts_with("nv"));
    let hidden = properties.and_then(|properties| properties.child("cNvPr")?.attr("hidden"));
    matches!(hidden, Some("1" | "true"))
}

fn transform(shape: &Element) -> Option<&Element> {
    shape.child("xfrm").or_else(|| shape.at(&["spPr", "xfrm"])).or_else(|| shape.at(&["grpSpPr", "xfrm"]))
}

fn pair(element: Option<&Element>, names: [&str; 2]) -> Option<(f64, f64)> {
    let element = element?;
    Some((element.attr(names[0])?.parse().ok()?, element.attr(names[1])?.parse().ok()?))
}

fn place(shape: &Element, frame: Frame) -> Option<Area> {
    let transform = transform(shape)?;
    let (x, y) = pair(transform.child("off"), ["x", "y"])?;
    let (width, height) = pair(transform.child("ext"), ["cx", "cy"])?;
    Some(Area {
        x: x * frame.scale.0 + frame.shift.0,
        y: y * frame.scale.1 + frame.shift.1,
        width: width * frame.scale.0,
        height: height * frame.scale.1,
    })
}

fn group_frame(group: &Element, outer: Frame) -> Frame {
    let inner = || {
        let area = place(group, outer)?;
        let transform = transform(group)?;
        let (x, y) = pair(transform.child("chOff"), ["x", "y"])?;
        let (width, height) = pair(transform.child("chExt"), ["cx", "cy"])?;
        let scale = (area.width / width.max(1.0), area.height / height.max(1.0));
        Some(Frame { scale, shift: (area.x - x * scale.0, area.y - y * scale.1) })
    };
    inner().unwrap_or(outer)
}
