//! XML parts as small trees, depth bounded. Namespaces are resolved, so any prefix will do; document type declarations
//! are skipped and entities other than XML's own five stay unresolved.

use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

/// Deeper elements are left out; real documents stay below 60.
const MAX_DEPTH: usize = 200;

/// The vocabularies that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ns {
    /// WordprocessingML, transitional or strict.
    Word,
    Math,
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Element {
    pub ns: Ns,
    pub name: Box<str>,
    attrs: Vec<Attr>,
    pub children: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
struct Attr {
    name: Box<str>,
    value: Box<str>,
    has_prefix: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    /// An attribute by its local name.
    pub(super) fn attr(&self, name: &str) -> Option<&str> {
        self.attrs.iter().find(|attr| &*attr.name == name).map(|attr| &*attr.value)
    }

    /// An attribute that another vocabulary gives the element: `r:id` beside `id`.
    pub(super) fn foreign_attr(&self, name: &str) -> Option<&str> {
        self.attrs.iter().find(|attr| attr.has_prefix && &*attr.name == name).map(|attr| &*attr.value)
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.elements().find(|element| &*element.name == name)
    }

    /// The `val` attribute of a child.
    pub(super) fn child_val(&self, name: &str) -> Option<&str> {
        self.child(name)?.attr("val")
    }

    /// Whether a switch such as `<w:vanish/>` is on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.child(name).is_some_and(|element| {
            element.attr("val").is_none_or(|val| !matches!(val, "0" | "false" | "off"))
        })
    }

    /// The element at the end of a path of names.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Element> {
        path.iter().try_fold(self, |element, name| element.child(name))
    }

    /// The first element of this name below this one, in document order.
    pub(super) fn find(&self, name: &str) -> Option<&Element> {
        self.elements().find_map(
            |element| {
                if &*element.name == name { Some(element) } else { element.find(name) }
            },
        )
    }

    /// All elements of this name below this one, in document order; none within another of them.
    pub(super) fn find_all<'e>(&'e self, name: &str, found: &mut Vec<&'e Element>) {
        for element in self.elements() {
            if &*element.name == name {
                found.push(element);
            } else {
                element.find_all(name, found);
            }
        }
    }

    /// All text below this element.
    pub(super) fn all_text(&self) -> String {
        let mut text = String::new();
        self.append_text(&mut text);
        text
    }

    fn append_text(&self, out: &mut String) {
        for node in &self.children {
            match node {
                Node::Text(text) => out.push_str(text),
                Node::Element(element) => element.append_text(out),
            }
        }
    }

    /// The text directly in this element.
    pub(super) fn text(&self) -> String {
        let texts = self.children.iter().filter_map(|node| match node {
            Node::Text(text) => Some(text.as_str()),
            Node::Element(_) => None,
        });
        texts.collect()
    }
}

/// What went wrong while reading a part; what was read before stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub is_damaged: bool,
    pub n_too_deep: usize,
}

/// A whole part as one tree.
pub(super) fn parse_part(xml: &str) -> (Option<Element>, Faults) {
    let mut root = None;
    let faults = read(xml, 0, &mut |element| root = Some(element));
    (root, faults)
}

/// Hands over the children of `<w:body>` one by one, so that a long document is never one tree.
pub(super) fn for_each_body_child(xml: &str, each: &mut dyn FnMut(Element)) -> Faults {
    read(xml, 2, each)
}

/// Calls `each` for every element that stands at `depth` (0 = root).
fn read(xml: &str, depth: usize, each: &mut dyn FnMut(Element)) -> Faults {
    let mut reader = NsReader::from_str(xml);
    let mut stack: Vec<Element> = Vec::new();
    // Open elements in all, of which the first `depth` are not kept.
    let mut n_open = 0_usize;
    let mut faults = Faults::default();
    loop {
        let Ok((ns, event)) = reader.read_resolved_event() else {
            faults.is_damaged = true;
            break;
        };
        match event {
            Event::Start(start) => {
                let element = element(namespace(&ns), &start);
                // The parser counts its own depth in 16 bits.
                if n_open > 60_000 {
                    faults.is_damaged = true;
                    break;
                }
                if n_open >= depth && n_open < MAX_DEPTH {
                    stack.push(element);
                } else if n_open == MAX_DEPTH {
                    faults.n_too_deep += 1;
                }
                n_open += 1;
            }
            Event::Empty(start) => {
                let element = element(namespace(&ns), &start);
                if n_open >= depth && n_open < MAX_DEPTH {
                    deliver(&mut stack, element, each);
                }
            }
            Event::End(_) => {
                n_open = n_open.saturating_sub(1);
                if n_open >= depth
                    && n_open < MAX_DEPTH
                    && let Some(element) = stack.pop()
                {
                    deliver(&mut stack, element, each);
                }
            }
            Event::Text(text) => push_text(&mut stack, n_open, &text.xml10_content()),
            Event::CData(text) => push_text(&mut stack, n_open, &text.xml10_content()),
            Event::GeneralRef(entity) => {
                let resolved = match entity.resolve_char_ref() {
                    Ok(Some(c)) => Some(c),
                    _ => predefined(&entity),
                };
                if let Some(c) = resolved {
                    push_text(&mut stack, n_open, c.encode_utf8(&mut [0; 4]));
                }
            }
            Event::Eof => {
                faults.is_damaged |= n_open > 0;
                break;
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    // A part that breaks off: what stands in the open elements is still text.
    while let Some(element) = stack.pop() {
        deliver(&mut stack, element, each);
    }
    faults
}

fn deliver(stack: &mut [Element], element: Element, each: &mut dyn FnMut(Element)) {
    match stack.last_mut() {
        Some(parent) => parent.children.push(Node::Element(element)),
        None => each(element),
    }
}

fn push_text(stack: &mut [Element], n_open: usize, text: &str) {
    if n_open > MAX_DEPTH {
        return;
    }
    if let Some(parent) = stack.last_mut() {
        match parent.children.last_mut() {
            Some(Node::Text(last)) => last.push_str(text),
            _ => parent.children.push(Node::Text(text.to_owned())),
        }
    }
}

fn element(ns: Ns, start: &BytesStart<'_>) -> Element {
    let mut attributes = start.attributes();
    let attrs = attributes.with_checks(false).flatten().map(|attr| {
        let value = attr.normalized_value(quick_xml::XmlVersion::Implicit1_0);
        let value = value.map_or_else(|_| attr.value.to_string(), std::borrow::Cow::into_owned);
        Attr {
            name: Box::from(attr.key.local_name().as_ref()),
            value: value.into_boxed_str(),
            has_prefix: attr.key.prefix().is_some(),
        }
    });
    let attrs = attrs.collect();
    Element { ns, name: Box::from(start.local_name().as_ref()), attrs, children: Vec::new() }
}

fn namespace(resolved: &ResolveResult<'_>) -> Ns {
    let ResolveResult::Bound(namespace) = resolved else { return Ns::Other };
    match namespace.0 {
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        | "http://purl.oclc.org/ooxml/wordprocessingml/main" => Ns::Word,
        "http://schemas.openxmlformats.org/officeDocument/2006/math"
        | "http://purl.oclc.org/ooxml/officeDocument/math" => Ns::Math,
        _ => Ns::Other,
    }
}

pub(super) fn predefined(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "apos" => Some('\''),
        "quot" => Some('"'),
        _ => None,
    }
}
