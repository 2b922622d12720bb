//! The pictures on a page of text, as its reader sees them.
//!
//! The page is drawn and the picture cut out: masks, turns, colours and pictures that the producer sliced into strips are
//! then as on paper. Words that the page writes over a picture are painted out, since they are the page's own text. A page
//! that is recognised as a whole is not asked for its pictures.

use std::collections::HashSet;
use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, ImageError, Rgb, RgbImage, imageops};
use pdfium_render::prelude::{PdfMatrix, PdfPage, PdfPageObject, PdfPageObjectCommon, PdfPageObjectsCommon};
use sha2::{Digest, Sha256};
use zhiku_core::{BBox, LayoutLine};

use super::glyphs::crop_box;
use super::picture::draw;
use crate::error::ParseError;
use crate::formats::pictures::{Pictures, may_hold_words};
use crate::parser::UnitSink;
use crate::picture::PictureFrame;

/// Half an inch: what is drawn smaller is a logo or a bullet, however many pixels it has.
const MIN_POINTS: f32 = 36.0;
/// A picture on so much of the page is its ground, or the scan that the text was made from.
const WHOLE_PAGE_SHARE: f32 = 0.8;
/// Strips of one picture lie this close to each other.
const STRIP_GAP: f32 = 1.5;
const MAX_OBJECTS: usize = 2_000;
const MAX_DEPTH: usize = 4;
/// As sharp as the picture itself, but no sharper than print and no coarser than recognition needs.
const PIXELS_PER_POINT: std::ops::RangeInclusive<f32> = 2.0..=300.0 / 72.0;
/// A larger PNG is a photograph, which takes a tenth as JPEG.
const MAX_PNG_BYTES: usize = 1024 * 1024;
const JPEG_QUALITY: u8 = 90;

/// The pictures of one document so far.
#[derive(Default)]
pub(super) struct PagePictures {
    pictures: Pictures,
    /// What was drawn already: a letterhead comes once.
    drawn: HashSet<[u8; 32]>,
}

impl PagePictures {
    /// Hands on the pictures of a page whose text is in `lines`. What cannot be drawn is left out.
    pub(super) fn send(
        &mut self,
        page: &PdfPage<'_>,
        index: u32,
        lines: &[LayoutLine],
        sink: &mut dyn UnitSink,
    ) -> Result<(), ParseError> {
        let found: Vec<Placed> =
            of_page(page).into_iter().filter(|placed| self.drawn.insert(placed.digest)).collect();
        let Some(scale) = found.iter().map(|placed| placed.pixels_per_point).reduce(f32::max) else {
            return Ok(());
        };
        let scale = scale.clamp(*PIXELS_PER_POINT.start(), *PIXELS_PER_POINT.end());
        let Ok(drawn) = draw(page, scale) else { return Ok(()) };
        let [width, height] = drawn.frame.picture_size;
        let Some(mut whole) = RgbImage::from_raw(width, height, drawn.picture.rgb) else { return Ok(()) };
        for line in lines {
            paint_out(&mut whole, pixels(drawn.frame, line.bbox));
        }
        let place = format!("page {}", index + 1);
        for placed in found {
            let [x0, y0, x1, y1] = pixels(drawn.frame, placed.area);
            let cut = imageops::crop_imm(&whole, x0, y0, x1 - x0, y1 - y0).to_image();
            if may_hold_words([cut.width(), cut.height()])
                && let Ok(bytes) = encode(&cut)
            {
                self.pictures.send(Some(&place), bytes, sink)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self, sink: &mut dyn UnitSink) -> Result<(), ParseError> {
        self.pictures.finish(sink)
    }
}

/// A picture on the page; strips of one picture are one.
struct Placed {
    /// In points from the top left of the crop box.
    area: BBox,
    pixels_per_point: f32,
    /// Of the pixels as they are stored.
    digest: [u8; 32],
}

fn of_page(page: &PdfPage<'_>) -> Vec<Placed> {
    let (left, top, width, height) = crop_box(page);
    let mut found = Vec::new();
    for object in page.objects().iter().take(MAX_OBJECTS) {
        collect(&object, &[], &mut found);
    }
    for placed in &mut found {
        let [x0, y0, x1, y1] = placed.area.0;
        placed.area = BBox([
            (x0 - left).clamp(0.0, width),
            (top - y1).clamp(0.0, height),
            (x1 - left).clamp(0.0, width),
            (top - y0).clamp(0.0, height),
        ]);
    }
    let mut found = join_strips(found);
    found.retain(|placed| {
        let (w, h) = size(placed.area);
        w.min(h) >= MIN_POINTS && w * h < WHOLE_PAGE_SHARE * width * height
    });
    found
}

/// Pictures below an object, in points of the page from its bottom left. `outer` are the forms around it, outermost first.
fn collect(object: &PdfPageObject<'_>, outer: &[PdfMatrix], found: &mut Vec<Placed>) {
    if found.len() >= MAX_OBJECTS {
        return;
    }
    if let Some(form) = object.as_x_object_form_object().filter(|_| outer.len() < MAX_DEPTH) {
        let Ok(matrix) = form.matrix() else { return };
        let outer = [outer, &[matrix]].concat();
        for inner in form.as_range().take(MAX_OBJECTS).filter_map(|at| form.get(at).ok()) {
            collect(&inner, &outer, found);
        }
        return;
    }
    let Some(image) = object.as_image_object() else { return };
    let Ok(corners) = image.bounds() else { return };
    let corners = outer.iter().rev().fold(corners, |corners, matrix| corners.transform(*matrix));
    let area =
        BBox([corners.left(), corners.bottom(), corners.right(), corners.top()].map(|side| side.value));
    let n_pixels = image.width().unwrap_or(0).max(image.height().unwrap_or(0)) as f32;
    let (w, h) = size(area);
    let digest = match image.get_raw_image() {
        Ok(raw) => Sha256::digest(raw.as_bytes()).into(),
        // Without pixels to compare it counts as new wherever it stands.
        Err(_) => Sha256::digest(format!("{area:?}")).into(),
    };
    found.push(Placed { area, pixels_per_point: n_pixels / w.max(h).max(1.0), digest });
}

fn size(area: BBox) -> (f32, f32) {
    let [x0, y0, x1, y1] = area.0;
    (x1 - x0, y1 - y0)
}

/// Joins pictures that continue each other over their whole side.
fn join_strips(pictures: Vec<Placed>) -> Vec<Placed> {
    let mut joined: Vec<Placed> = Vec::new();
    for next in pictures {
        match joined.iter_mut().rev().take(8).find(|before| continues(before.area, next.area)) {
            Some(before) => {
                before.area = before.area.union(next.area);
                before.pixels_per_point = before.pixels_per_point.max(next.pixels_per_point);
                before.digest = Sha256::digest([before.digest, next.digest].concat()).into();
            }
            None => joined.push(next),
        }
    }
    joined
}

fn continues(a: BBox, b: BBox) -> bool {
    let near = |a: f32, b: f32| (a - b).abs() <= STRIP_GAP;
    let ([ax0, ay0, ax1, ay1], [bx0, by0, bx1, by1]) = (a.0, b.0);
    let beside = near(ay0, by0) && near(ay1, by1) && (near(ax1, bx0) || near(bx1, ax0));
    let below = near(ax0, bx0) && near(ax1, bx1) && (near(ay1, by0) || near(by1, ay0));
    beside || below
}

/// A box of the page in whole pixels of its drawing.
fn pixels(frame: PictureFrame, area: BBox) -> [u32; 4] {
    let [x0, y0, x1, y1] = frame.to_pixels(area).0;
    let [width, height] = frame.picture_size;
    let (x0, y0) = (x0.floor().max(0.0) as u32, y0.floor().max(0.0) as u32);
    let (x1, y1) = ((x1.ceil().max(0.0) as u32).min(width), (y1.ceil().max(0.0) as u32).min(height));
    [x0.min(x1), y0.min(y1), x1, y1]
}

/// Gives a box the colour of its left edge, row by row: the ground that the words stand on.
fn paint_out(whole: &mut RgbImage, [x0, y0, x1, y1]: [u32; 4]) {
    for y in y0..y1 {
        let ground: Rgb<u8> = *whole.get_pixel(x0.saturating_sub(1), y);
        for x in x0..x1 {
            whole.put_pixel(x, y, ground);
        }
    }
}

fn encode(picture: &RgbImage) -> Result<Vec<u8>, ImageError> {
    let (width, height) = picture.dimensions();
    let mut png = Cursor::new(Vec::new());
    PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Adaptive).write_image(
        picture.as_raw(),
        width,
        height,
        ExtendedColorType::Rgb8,
    )?;
    let png = png.into_inner();
    if png.len() <= MAX_PNG_BYTES {
        return Ok(png);
    }
    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, JPEG_QUALITY).write_image(
        picture.as_raw(),
        width,
        height,
        ExtendedColorType::Rgb8,
    )?;
    Ok(jpeg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(area: [f32; 4]) -> Placed {
        Placed { area: BBox(area), pixels_per_point: 2.0, digest: [0; 32] }
    }

    fn check(pictures: &[[f32; 4]], expect: &[[f32; 4]]) {
        let joined = join_strips(pictures.iter().map(|area| placed(*area)).collect());
        assert_eq!(joined.iter().map(|placed| placed.area.0).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn strips_are_one_picture_and_neighbours_are_not() {
        check(
            &[[0.0, 0.0, 90.0, 10.0], [0.0, 10.2, 90.0, 20.0], [0.0, 20.0, 90.0, 24.0]],
            &[[0.0, 0.0, 90.0, 24.0]],
        );
        check(&[[0.0, 0.0, 40.0, 50.0], [40.0, 0.0, 80.0, 50.0]], &[[0.0, 0.0, 80.0, 50.0]]);
        check(
            &[[0.0, 0.0, 90.0, 10.0], [0.0, 30.0, 90.0, 40.0], [0.0, 40.0, 60.0, 50.0]],
            &[[0.0, 0.0, 90.0, 10.0], [0.0, 30.0, 90.0, 40.0], [0.0, 40.0, 60.0, 50.0]],
        );
    }

    #[test]
    fn words_over_a_picture_take_the_colour_of_its_ground() {
        let mut picture = RgbImage::from_pixel(8, 4, Rgb([7, 8, 9]));
        picture.put_pixel(4, 2, Rgb([255; 3]));
        paint_out(&mut picture, [2, 1, 6, 3]);
        assert!(picture.pixels().all(|pixel| pixel.0 == [7, 8, 9]));
    }
}
