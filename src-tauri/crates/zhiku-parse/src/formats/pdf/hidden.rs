//! Text that the page holds but does not show.
//!
//! Invisible and off-page characters are known from the text layer. White ones may stand on a dark ground, so the page is
//! drawn once and looked at. A page whose whole text is invisible is said to
//! be of hidden text: the caller has it recognised anew where it shows a picture.

use pdfium_render::prelude::{PdfBitmapFormat, PdfPage, PdfPageRenderRotation, PdfRenderConfig};
use zhiku_core::Trust;

use super::glyphs::{Glyph, Look};

/// From this share of a page's characters on, hidden text is what the page consists of.
const MAKES_UP_THE_PAGE: f32 = 0.7;
const RENDER_WIDTH: i32 = 900;

/// What is left of a page's characters.
pub(super) struct Seen {
    pub(super) glyphs: Vec<Glyph>,
    pub(super) trust: Trust,
    /// How many characters were left out.
    pub(super) n_left_out: usize,
}

pub(super) fn separate(page: &PdfPage<'_>, mut glyphs: Vec<Glyph>, page_size: [f32; 2]) -> Seen {
    if glyphs.iter().any(|glyph| glyph.look == Look::White) {
        look_at_white(page, &mut glyphs, page_size);
    }
    let n_hidden = glyphs.iter().filter(|glyph| glyph.look == Look::Hidden).count();
    if n_hidden == 0 {
        return Seen { glyphs, trust: Trust::Normal, n_left_out: 0 };
    }
    if n_hidden as f32 >= MAKES_UP_THE_PAGE * glyphs.len() as f32 {
        return Seen { glyphs, trust: Trust::HiddenText, n_left_out: 0 };
    }
    glyphs.retain(|glyph| glyph.look != Look::Hidden);
    Seen { glyphs, trust: Trust::Normal, n_left_out: n_hidden }
}

/// Decides for each white character whether anything dark is behind it.
fn look_at_white(page: &PdfPage<'_>, glyphs: &mut [Glyph], page_size: [f32; 2]) {
    let picture = Picture::of(page, page_size);
    for glyph in glyphs.iter_mut().filter(|glyph| glyph.look == Look::White) {
        // Without a picture nothing can be said against the text.
        let shown = picture.as_ref().is_none_or(|picture| picture.has_contrast(glyph));
        glyph.look = if shown { Look::Visible } else { Look::Hidden };
    }
}

struct Picture {
    width: i32,
    height: i32,
    /// Four bytes per pixel.
    pixels: Vec<u8>,
    scale: f32,
    turn: u8,
    page_size: [f32; 2],
}

impl Picture {
    fn of(page: &PdfPage<'_>, page_size: [f32; 2]) -> Option<Self> {
        let config = PdfRenderConfig::new()
            .set_target_width(RENDER_WIDTH)
            .set_maximum_height(RENDER_WIDTH * 2)
            .set_format(PdfBitmapFormat::BGRA);
        let bitmap = page.render_with_config(&config).ok()?;
        let turn = match page.rotation().ok()? {
            PdfPageRenderRotation::None => 0,
            PdfPageRenderRotation::Degrees90 => 1,
            PdfPageRenderRotation::Degrees180 => 2,
            PdfPageRenderRotation::Degrees270 => 3,
        };
        let shown_width = if turn & 1 == 0 { page_size[0] } else { page_size[1] };
        let (width, height) = (bitmap.width(), bitmap.height());
        let pixels = bitmap.as_raw_bytes();
        let complete = pixels.len() >= (width.max(0) as usize) * (height.max(0) as usize) * 4;
        complete.then(|| Self {
            width,
            height,
            scale: width as f32 / shown_width.max(1.0),
            pixels,
            turn,
            page_size,
        })
    }

    fn has_contrast(&self, glyph: &Glyph) -> bool {
        let a = self.to_pixel(glyph.rect.x0, glyph.rect.y0);
        let b = self.to_pixel(glyph.rect.x1, glyph.rect.y1);
        let (x0, x1) = (a.0.min(b.0).max(0), a.0.max(b.0).min(self.width - 1));
        let (y0, y1) = (a.1.min(b.1).max(0), a.1.max(b.1).min(self.height - 1));
        (y0..=y1).any(|y| (x0..=x1).any(|x| self.darkest_channel(x, y) < 215))
    }

    fn darkest_channel(&self, x: i32, y: i32) -> u8 {
        let at = ((y * self.width + x) as usize) * 4;
        self.pixels.get(at..at + 3).and_then(|pixel| pixel.iter().min().copied()).unwrap_or(255)
    }

    fn to_pixel(&self, x: f32, y: f32) -> (i32, i32) {
        let [width, height] = self.page_size;
        let (x, y) = match self.turn {
            0 => (x, y),
            1 => (height - y, x),
            2 => (width - x, height - y),
            _ => (y, width - x),
        };
        ((x * self.scale) as i32, (y * self.scale) as i32)
    }
}
