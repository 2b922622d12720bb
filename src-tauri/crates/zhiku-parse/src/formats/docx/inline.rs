//! What stands within a paragraph: runs, fields, links, tracked changes, notes, drawings, formulas.

use super::body::{FieldPart, NoteKind, Reader};
use super::math;
use crate::formats::blocks::{Block, tidy_line};
use crate::formats::xml::{Element, Ns};

impl Reader<'_> {
    /// Appends the text of an element's children.
    pub(super) fn inline(&mut self, parent: &Element, out: &mut String) {
        for element in parent.elements() {
            self.inline_element(element, out);
        }
    }

    fn inline_element(&mut self, element: &Element, out: &mut String) {
        match (element.ns, &*element.name) {
            (Ns::Word, "r") => self.run(element, out),
            (Ns::Word, "sdt") => self.content_control(element, out),
            (
                Ns::Word,
                "ins" | "moveTo" | "hyperlink" | "fldSimple" | "smartTag" | "customXml" | "dir" | "bdo"
                | "sdtContent",
            ) => {
                self.inline(element, out);
            }
            (Ns::Word, "p" | "tbl") => {
                // A paragraph within a paragraph is malformed, yet its words are there.
                self.inline(element, out);
                out.push(' ');
            }
            (Ns::Math, "oMath" | "oMathPara") if self.is_shown() => out.push_str(&math::inline(element)),
            (Ns::Other, "AlternateContent") => self.alternatives(element, out),
            // Properties; and `del`, `moveFrom`: text that a tracked change took out.
            _ => {}
        }
    }

    fn run(&mut self, run: &Element, out: &mut String) {
        if run.child("rPr").is_some_and(|properties| properties.is_on("vanish")) {
            let n_chars: usize =
                run.elements().filter(|e| &*e.name == "t").map(|e| e.text().trim().chars().count()).sum();
            self.n_hidden_chars += n_chars;
            return;
        }
        for element in run.elements() {
            self.run_child(element, out);
        }
    }

    fn run_child(&mut self, element: &Element, out: &mut String) {
        if (element.ns, &*element.name) == (Ns::Word, "fldChar") {
            self.field_mark(element, out);
            return;
        }
        if !self.is_shown() {
            return;
        }
        match (element.ns, &*element.name) {
            (Ns::Word, "t") => out.push_str(&element.text()),
            (Ns::Word, "tab" | "ptab") => out.push(' '),
            (Ns::Word, "br") => {
                let breaks_page = element.attr("type").is_some_and(|kind| kind != "textWrapping");
                out.push(if breaks_page { ' ' } else { '\n' });
            }
            (Ns::Word, "cr") => out.push('\n'),
            (Ns::Word, "noBreakHyphen") => out.push('-'),
            (Ns::Word, "sym") => out.extend(symbol(element)),
            (Ns::Word, "footnoteReference") => self.note(NoteKind::Footnote, element, out),
            (Ns::Word, "endnoteReference") => self.note(NoteKind::Endnote, element, out),
            (Ns::Word, "commentReference") => self.note(NoteKind::Comment, element, out),
            (Ns::Word, "drawing" | "pict" | "object") => self.drawing(element, out),
            (Ns::Word, "ruby") => {
                if let Some(base) = element.child("rubyBase") {
                    self.inline(base, out);
                }
            }
            (Ns::Math, "oMath" | "oMathPara") => out.push_str(&math::inline(element)),
            (Ns::Other, "AlternateContent") => self.alternatives(element, out),
            _ => {}
        }
    }

    /// Whether text belongs to the document: a field's code does not, its result does.
    fn is_shown(&self) -> bool {
        !self.fields.contains(&FieldPart::Code)
    }

    fn field_mark(&mut self, element: &Element, out: &mut String) {
        match element.attr("fldCharType") {
            Some("begin") => {
                let check_box = element.child("ffData").and_then(|data| data.child("checkBox"));
                if let Some(check_box) = check_box.filter(|_| self.is_shown()) {
                    let is_checked = match check_box.child("checked") {
                        Some(_) => check_box.is_on("checked"),
                        None => check_box.is_on("default"),
                    };
                    out.push_str(mark(is_checked));
                }
                self.fields.push(FieldPart::Code);
            }
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    *field = FieldPart::Result;
                }
            }
            Some("end") => {
                self.fields.pop();
            }
            _ => {}
        }
    }

    fn content_control(&mut self, element: &Element, out: &mut String) {
        let properties = element.child("sdtPr");
        if let Some(check_box) = properties.and_then(|properties| properties.child("checkbox")) {
            out.push_str(mark(check_box.is_on("checked")));
            return;
        }
        // "Click here to enter text" is not text.
        if properties.is_some_and(|properties| properties.is_on("showingPlcHdr")) {
            return;
        }
        if let Some(content) = element.child("sdtContent") {
            self.inline(content, out);
        }
    }

    /// The same drawing in a new and an old notation: the first that brings out something is taken.
    fn alternatives(&mut self, element: &Element, out: &mut String) {
        let before = (out.len(), self.boxes.len());
        for alternative in element.elements() {
            for child in alternative.elements() {
                self.run_child(child, out);
                if (out.len(), self.boxes.len()) == before {
                    self.inline_element(child, out);
                }
            }
            if (out.len(), self.boxes.len()) != before {
                return;
            }
        }
    }

    fn note(&mut self, kind: NoteKind, element: &Element, out: &mut String) {
        let Some(id) = element.attr("id") else { return };
        let parts = self.parts;
        let notes = match kind {
            NoteKind::Footnote => &parts.footnotes,
            NoteKind::Endnote => &parts.endnotes,
            NoteKind::Comment => &parts.comments,
        };
        let Some(note) = notes.get(id) else { return };
        let n_known = self.note_labels.keys().filter(|(known, _)| *known != NoteKind::Comment).count();
        let key = (kind, id.to_owned());
        // A note that refers to itself, or one that is referred to twice, is written once.
        let known = self.note_labels.get(&key).copied();
        let label = known.unwrap_or(n_known + 1);
        if kind != NoteKind::Comment {
            out.extend(["[^", &label.to_string(), "]"]);
        }
        if known.is_some() {
            return;
        }
        self.note_labels.insert(key, label);
        let text = self.note_text(note);
        if text.is_empty() {
            return;
        }
        self.notes.push(Block::Note(
            match (kind, note.attr("author").map(tidy_line).filter(|author| !author.is_empty())) {
                (NoteKind::Comment, Some(author)) => format!("[Comment by {author}: {text}]"),
                (NoteKind::Comment, None) => format!("[Comment: {text}]"),
                _ => format!("[^{label}]: {text}"),
            },
        ));
    }

    /// Text boxes become blocks behind the paragraph; a picture leaves its description.
    fn drawing(&mut self, element: &Element, out: &mut String) {
        let n_boxes = self.boxes.len();
        let mut description = None;
        self.drawing_parts(element, &mut description);
        if self.boxes.len() == n_boxes
            && let Some(description) = description
        {
            out.extend([" ", &description, " "]);
        }
    }

    fn drawing_parts(&mut self, element: &Element, description: &mut Option<String>) {
        for child in element.elements() {
            match &*child.name {
                "txbxContent" => {
                    let fields = std::mem::take(&mut self.fields);
                    let mut blocks = self.blocks(child);
                    self.fields = fields;
                    self.boxes.append(&mut blocks);
                }
                "docPr" => {
                    *description = child.attr("descr").map(tidy_line).filter(|text| says_something(text));
                    self.drawing_parts(child, description);
                }
                "blip" => self.pictures.extend(child.foreign_attr("embed").map(str::to_owned)),
                "imagedata" => self.pictures.extend(child.foreign_attr("id").map(str::to_owned)),
                "AlternateContent" => {
                    let n_boxes = self.boxes.len();
                    for alternative in child.elements() {
                        self.drawing_parts(alternative, description);
                        if self.boxes.len() > n_boxes {
                            break;
                        }
                    }
                }
                _ => self.drawing_parts(child, description),
            }
        }
    }
}

fn mark(is_checked: bool) -> &'static str {
    if is_checked { "[x] " } else { "[ ] " }
}

/// File names and the descriptions that Word makes up are no descriptions.
pub(in crate::formats) fn says_something(description: &str) -> bool {
    let lower = description.to_lowercase();
    let is_file = [".png", ".jpg", ".jpeg", ".gif", ".emf", ".wmf", ".bmp", ".svg", ".webp"]
        .iter()
        .any(|end| lower.ends_with(end));
    let is_address = lower.starts_with("http:") || lower.starts_with("https:");
    !description.is_empty()
        && !is_file
        && !is_address
        && !lower.contains("automatically generated")
        && !lower.contains("自动生成")
}

/// The letters A–Z and a–z of the font Symbol.
const GREEK: &str = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ";
const GREEK_SMALL: &str = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ";

/// A character given by font and code. Symbol fonts put theirs into the private area.
fn symbol(element: &Element) -> Option<char> {
    let code = u32::from_str_radix(element.attr("char")?, 16).ok()?;
    let font = element.attr("font").unwrap_or("").to_lowercase();
    let low = code & 0xff;
    if !(0xf000..=0xf0ff).contains(&code) && code > 0xff {
        return char::from_u32(code);
    }
    if font.contains("wingdings") {
        return match low {
            0xfe | 0x78 | 0xfd | 0x54 | 0x53 => Some('☒'),
            0xfc | 0x50 => Some('✓'),
            0xa8 | 0x6f | 0x71 | 0x72 | 0xa3 | 0x30 => Some('☐'),
            0xfb | 0x4f => Some('✗'),
            0x6c | 0x9f => Some('•'),
            0xe0 | 0xf0 | 0xe8 => Some('→'),
            0x4a => Some('☺'),
            _ => None,
        };
    }
    match low {
        0x41..=0x5a if font.contains("symbol") => GREEK.chars().nth(low as usize - 0x41),
        0x61..=0x7a if font.contains("symbol") => GREEK_SMALL.chars().nth(low as usize - 0x61),
        0xb0 => Some('°'),
        0xb1 => Some('±'),
        0xb4 if font.contains("symbol") => Some('×'),
        0xb7 => Some('·'),
        0xa3 if font.contains("symbol") => Some('≤'),
        0xb3 if font.contains("symbol") => Some('≥'),
        0xb9 if font.contains("symbol") => Some('≠'),
        0x20..=0x7e => char::from_u32(low),
        _ => None,
    }
}
