//! The characters of a page as PDFium finds them, in points from the top left of the unrotated crop box.

use pdfium_render::prelude::{PdfPage, PdfPageText, PdfPageTextChar, PdfPageTextRenderMode};

/// More characters than this on one page are no text that anyone reads.
const MAX_GLYPHS: usize = 500_000;

/// A box with y downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) x0: f32,
    pub(super) y0: f32,
    pub(super) x1: f32,
    pub(super) y1: f32,
}

impl Rect {
    pub(super) fn union(self, other: Self) -> Self {
        Self {
            x0: self.x0.min(other.x0),
            y0: self.y0.min(other.y0),
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
        }
    }

    /// The box after the turn that brings text of direction `turn` upright.
    pub(super) fn upright(self, turn: u8) -> Self {
        let (ax, ay) = turn_point(self.x0, self.y0, turn);
        let (bx, by) = turn_point(self.x1, self.y1, turn);
        Self { x0: ax.min(bx), y0: ay.min(by), x1: ax.max(bx), y1: ay.max(by) }
    }
}

/// Turns a point of the page into the frame in which text of direction `turn` (quarter turns, clockwise) runs to the right.
pub(super) fn turn_point(x: f32, y: f32, turn: u8) -> (f32, f32) {
    match turn & 3 {
        0 => (x, y),
        1 => (y, -x),
        2 => (-x, -y),
        _ => (-y, x),
    }
}

/// One visible character.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Glyph {
    pub(super) c: char,
    /// Advance box, clamped to the font size around the baseline.
    pub(super) rect: Rect,
    pub(super) baseline: (f32, f32),
    pub(super) size: f32,
    /// Text direction in quarter turns, clockwise.
    pub(super) turn: u8,
    pub(super) space_before: Space,
    pub(super) bold: bool,
    pub(super) look: Look,
}

/// What stands between a character and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    None,
    /// A gap that PDFium takes for a space.
    Inferred,
    /// A space character of the file.
    Written,
}

/// Whether a reader of the page sees the character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Visible,
    /// White: to be seen only on a dark ground.
    White,
    Hidden,
}

/// What one page holds.
pub(super) struct PageGlyphs {
    /// Width and height of the unrotated crop box.
    pub(super) page_size: [f32; 2],
    pub(super) glyphs: Vec<Glyph>,
    /// Characters whose meaning the font does not tell.
    pub(super) n_unmapped: usize,
    pub(super) truncated: bool,
}

/// What is looked up once per word: it costs more than the rest of a character.
#[derive(Clone, Copy)]
struct Style {
    bold: bool,
    look: Look,
    size: f32,
}

pub(super) fn read_glyphs(page: &PdfPage<'_>, text: &PdfPageText<'_>) -> PageGlyphs {
    let (left, top, width, height) = crop_box(page);
    let chars = text.chars();
    let mut out = PageGlyphs {
        page_size: [width, height],
        glyphs: Vec::new(),
        n_unmapped: 0,
        truncated: chars.len() > MAX_GLYPHS,
    };
    out.glyphs.reserve(chars.len().min(MAX_GLYPHS));
    let mut style: Option<Style> = None;
    let mut space_before = Space::None;
    let mut high_surrogate = None;
    for char in chars.iter().take(MAX_GLYPHS) {
        let Some(c) = decode(char.unicode_value(), &mut high_surrogate) else { continue };
        if c.is_whitespace() || c == '\u{200b}' {
            if space_before != Space::Written {
                space_before =
                    if char.is_generated().unwrap_or(true) { Space::Inferred } else { Space::Written };
            }
            style = None;
            continue;
        }
        if c == '\u{ad}'
            || c.is_control()
            || matches!(c, '\u{feff}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        {
            continue;
        }
        let Some((rect, baseline)) = place(&char, left, top) else { continue };
        let size = char.scaled_font_size().value.abs();
        let known = style.filter(|style| (style.size - size).abs() < 0.01);
        let style_now = known.unwrap_or_else(|| look_up_style(&char, size));
        style = Some(style_now);
        if is_unmapped(c) {
            out.n_unmapped += 1;
        }
        let turn =
            char.angle_radians().map_or(0, |angle| (angle / std::f32::consts::FRAC_PI_2).round() as i32 & 3)
                as u8;
        let size = if size > 0.1 { size } else { extent(rect, turn).max(1.0) };
        let outside = {
            let (x, y) = (f32::midpoint(rect.x0, rect.x1), f32::midpoint(rect.y0, rect.y1));
            x < -1.0 || y < -1.0 || x > width + 1.0 || y > height + 1.0
        };
        let look = if outside { Look::Hidden } else { style_now.look };
        let rect = clamp(rect, baseline, size, turn);
        out.glyphs.push(Glyph { c, rect, baseline, size, turn, space_before, bold: style_now.bold, look });
        space_before = Space::None;
    }
    out
}

/// Left, top (y upwards), width, height of the unrotated crop box; US Letter for a page that states none.
pub(super) fn crop_box(page: &PdfPage<'_>) -> (f32, f32, f32, f32) {
    let bounds = page.boundaries().bounding().map(|found| found.bounds);
    match bounds {
        Ok(b) if b.width().value > 0.0 && b.height().value > 0.0 => {
            (b.left().value, b.top().value, b.width().value, b.height().value)
        }
        _ => (0.0, 792.0, 612.0, 792.0),
    }
}

fn decode(value: u32, high_surrogate: &mut Option<u32>) -> Option<char> {
    match value {
        0xd800..=0xdbff => {
            *high_surrogate = Some(value);
            None
        }
        0xdc00..=0xdfff => {
            let high = high_surrogate.take()?;
            char::from_u32(0x10000 + ((high - 0xd800) << 10) + (value - 0xdc00))
        }
        // PDFium's mark for a hyphen at the end of a line.
        2 | 0xfffe => Some('-'),
        0 => Some('\u{fffd}'),
        other => char::from_u32(other),
    }
}

fn place(char: &PdfPageTextChar<'_>, left: f32, top: f32) -> Option<(Rect, (f32, f32))> {
    let bounds = char.loose_bounds().or_else(|_| char.tight_bounds()).ok()?;
    let rect = Rect {
        x0: bounds.left().value - left,
        y0: top - bounds.top().value,
        x1: bounds.right().value - left,
        y1: top - bounds.bottom().value,
    };
    let sane = [rect.x0, rect.y0, rect.x1, rect.y1].iter().all(|v| v.is_finite() && v.abs() < 1e6);
    if !sane {
        return None;
    }
    let baseline = char.origin().map_or((rect.x0, rect.y1), |(x, y)| (x.value - left, top - y.value));
    Some((rect, baseline))
}

fn look_up_style(char: &PdfPageTextChar<'_>, size: f32) -> Style {
    let name = char.font_name();
    let bold = ["Bold", "bold", "Black", "Heavy", "Semibold", "Demi"].iter().any(|mark| name.contains(mark));
    let invisible = matches!(
        char.render_mode(),
        Ok(PdfPageTextRenderMode::Invisible | PdfPageTextRenderMode::InvisibleClipping)
    );
    let look = if invisible {
        Look::Hidden
    } else {
        char.fill_color().map_or(Look::Visible, |color| {
            let white = color.red() > 247 && color.green() > 247 && color.blue() > 247;
            if color.alpha() < 8 {
                Look::Hidden
            } else if white {
                Look::White
            } else {
                Look::Visible
            }
        })
    };
    Style { bold, look, size }
}

/// Replacement characters and private-use code points other than the symbol fonts' block, which holds bullets.
fn is_unmapped(c: char) -> bool {
    matches!(c, '\u{fffd}' | '\u{e000}'..='\u{efff}' | '\u{f100}'..='\u{f8ff}' | '\u{f0000}'..='\u{10fffd}')
}

fn extent(rect: Rect, turn: u8) -> f32 {
    if turn & 1 == 0 { rect.y1 - rect.y0 } else { rect.x1 - rect.x0 }
}

/// Some fonts claim boxes several lines high: what counts is the font size around the baseline.
fn clamp(rect: Rect, baseline: (f32, f32), size: f32, turn: u8) -> Rect {
    let (up, down) = (size * 0.95, size * 0.3);
    match turn & 3 {
        0 => Rect {
            y0: rect.y0.max(baseline.1 - up).min(baseline.1),
            y1: rect.y1.min(baseline.1 + down).max(baseline.1),
            ..rect
        },
        1 => Rect {
            x0: rect.x0.max(baseline.0 - down).min(baseline.0),
            x1: rect.x1.min(baseline.0 + up).max(baseline.0),
            ..rect
        },
        2 => Rect {
            y0: rect.y0.max(baseline.1 - down).min(baseline.1),
            y1: rect.y1.min(baseline.1 + up).max(baseline.1),
            ..rect
        },
        _ => Rect {
            x0: rect.x0.max(baseline.0 - up).min(baseline.0),
            x1: rect.x1.min(baseline.0 + down).max(baseline.0),
            ..rect
        },
    }
}
