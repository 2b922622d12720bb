//! Picture files: a unit that awaits recognition, one per page of a TIFF.
//!
//! Only the size is read while parsing; pixels are decoded when recognition asks for them, upright as the camera meant it.
//! A picture of one page is located by pixels ([`Locator::Region`]), a page of several by [`Locator::Page`], whose boxes
//! count pixels of that page. Deliberately absent: animation (the first frame counts).

mod tiff_pages;

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, metadata::Orientation};
use zhiku_core::recognition::Picture;
use zhiku_core::{BBox, DocumentKind, Locator, ParsedUnit, Process, Trust, UnitKind, UnitLayout};

use super::container::limit;
use super::whole::no_such_place;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};
use crate::picture::{PictureFrame, SourcePicture};

/// Larger pictures are refused before they are decoded.
const MAX_PIXELS: u64 = 60_000_000;
const MAX_DECODED_BYTES: u64 = 640 * 1024 * 1024;

pub(super) struct Image;

impl DocumentParser for Image {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Image
    }

    fn sniff(&self, head: &[u8], _name: &str) -> bool {
        format(head).is_some()
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let n_pages = tiff_pages::count(source.bytes);
        let page_count = (n_pages > 1).then_some(n_pages);
        if let Some(n_pages) = page_count {
            sink.page_count(n_pages)?;
        }
        for page in 0..n_pages.max(1) {
            let bytes = tiff_pages::page(source.bytes, page).ok_or_else(|| missing(source))?;
            let [width, height] = upright_size(&bytes, source.name)?;
            sink.unit(unit(page_count.map(|_| page), width, height))?;
        }
        Ok(ParsedSummary { kind: DocumentKind::Image, page_count })
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        page_of(source, locator).map(|_| String::new())
    }

    fn picture(&self, source: &Source<'_>, place: &Locator) -> Result<SourcePicture, ParseError> {
        let page = page_of(source, place)?;
        let bytes = tiff_pages::page(source.bytes, page).ok_or_else(|| missing(source))?;
        let image = decode(&bytes, source.name)?;
        let (width, height) = (image.width(), image.height());
        let picture = Picture { width, height, rgb: on_white(&image) };
        Ok(SourcePicture { picture, frame: PictureFrame::of_picture(width, height) })
    }
}

fn format(head: &[u8]) -> Option<ImageFormat> {
    use ImageFormat::{Bmp, Gif, Jpeg, Png, Tiff, WebP};
    let format = image::guess_format(head).ok()?;
    // "BM" alone is also the beginning of many a text.
    let is_bmp = head.get(6..10) == Some(&[0; 4]);
    (matches!(format, Png | Jpeg | Tiff | WebP | Gif) || format == Bmp && is_bmp).then_some(format)
}

fn missing(source: &Source<'_>) -> ParseError {
    ParseError::damaged(source.name, "its pages cannot be found")
}

fn page_of(source: &Source<'_>, locator: &Locator) -> Result<u32, ParseError> {
    let n_pages = tiff_pages::count(source.bytes);
    match locator {
        Locator::Region { .. } if n_pages <= 1 => Ok(0),
        Locator::Page { page_index, .. } if n_pages > 1 && *page_index < n_pages => Ok(*page_index),
        _ => Err(no_such_place(source, locator)),
    }
}

fn unit(page: Option<u32>, width: u32, height: u32) -> ParsedUnit {
    let boxes = vec![BBox([0.0, 0.0, width as f32, height as f32])];
    let locator = match page {
        Some(page_index) => Locator::Page { page_index, page_label: (page_index + 1).to_string(), boxes },
        None => Locator::Region { boxes },
    };
    ParsedUnit {
        kind: if page.is_some() { UnitKind::Page } else { UnitKind::Image },
        locator,
        text: String::new(),
        process: Process::Ocr,
        trust: Trust::Normal,
        heading_path: Vec::new(),
        layout: Some(UnitLayout { page_size: [width as f32, height as f32], lines: Vec::new() }),
        confidence: None,
        timing: Vec::new(),
    }
}

fn decoder<'a>(bytes: &'a [u8], name: &str) -> Result<impl ImageDecoder + 'a, ParseError> {
    let mut reader = ImageReader::new(Cursor::new(bytes));
    let format = format(bytes).ok_or_else(|| ParseError::damaged(name, "it is no picture"))?;
    reader.set_format(format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(|err| ParseError::damaged(name, err))?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(limit(name, "pixels"));
    }
    if width == 0 || height == 0 {
        return Err(ParseError::Empty { name: name.to_owned() });
    }
    Ok(decoder)
}

/// Width and height of a picture file that recognition can read.
pub(super) fn size_of_picture(bytes: &[u8]) -> Option<[u32; 2]> {
    upright_size(bytes, "").ok()
}

fn upright_size(bytes: &[u8], name: &str) -> Result<[u32; 2], ParseError> {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    let mut decoder = decoder(bytes, name)?;
    let (width, height) = decoder.dimensions();
    let is_turned =
        matches!(decoder.orientation(), Ok(Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH));
    Ok(if is_turned { [height, width] } else { [width, height] })
}

fn decode(bytes: &[u8], name: &str) -> Result<DynamicImage, ParseError> {
    let mut decoder = decoder(bytes, name)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(|err| ParseError::damaged(name, err))?;
    image.apply_orientation(orientation);
    Ok(image)
}

/// Transparent pixels stand on white, as on paper.
fn on_white(image: &DynamicImage) -> Vec<u8> {
    if !image.color().has_alpha() {
        return image.to_rgb8().into_raw();
    }
    let rgba = image.to_rgba8();
    let mut rgb = Vec::with_capacity(rgba.len() / 4 * 3);
    for pixel in rgba.pixels() {
        let [red, green, blue, alpha] = pixel.0.map(u32::from);
        let over = |channel: u32| ((channel * alpha + 255 * (255 - alpha)) / 255) as u8;
        rgb.extend([over(red), over(green), over(blue)]);
    }
    rgb
}

#[cfg(test)]
mod tests {
    use image::{ImageEncoder, Rgb, RgbImage, Rgba, RgbaImage};

    use super::*;
    use crate::parser::ParsedDocument;

    fn written(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).expect("writes");
        bytes.into_inner()
    }

    fn parse(bytes: &[u8]) -> ParsedDocument {
        let mut document = ParsedDocument::default();
        Image.parse(&Source::new(bytes, "a"), &mut document).expect("parses");
        document
    }

    #[test]
    fn every_format_awaits_recognition_and_shows_its_pixels() {
        let image = DynamicImage::ImageRgb8(RgbImage::from_pixel(30, 20, Rgb([200, 10, 10])));
        for format in
            [ImageFormat::Png, ImageFormat::Tiff, ImageFormat::WebP, ImageFormat::Bmp, ImageFormat::Gif]
        {
            let bytes = written(&image, format);
            let document = parse(&bytes);
            assert!(document.units[0].awaits_recognition(), "{format:?}");
            let source = Source::new(&bytes, "a");
            let found = Image.picture(&source, &document.units[0].locator).expect("a picture");
            assert_eq!((found.picture.width, found.picture.height), (30, 20), "{format:?}");
            assert!(found.picture.rgb[0] > 180 && found.picture.rgb[1] < 40, "{format:?}");
        }
    }

    #[test]
    fn transparency_is_white_and_a_turned_photo_stands_upright() {
        let clear = DynamicImage::ImageRgba8(RgbaImage::from_pixel(2, 1, Rgba([0, 0, 0, 0])));
        let bytes = written(&clear, ImageFormat::Png);
        let place = parse(&bytes).units[0].locator.clone();
        let found = Image.picture(&Source::new(&bytes, "a"), &place).expect("a picture");
        assert_eq!(found.picture.rgb, [255; 6]);

        // EXIF with the one entry that the camera was held upright (orientation 6).
        let exif =
            [&b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"[..], &[6, 0, 0, 0, 0, 0, 0, 0]].concat();
        let mut bytes = Vec::new();
        let mut encoder = image::codecs::jpeg::JpegEncoder::new(&mut bytes);
        encoder.set_exif_metadata(exif).expect("takes it");
        encoder.write_image(&[128; 40 * 10 * 3], 40, 10, image::ExtendedColorType::Rgb8).expect("writes");
        let place = parse(&bytes).units[0].locator.clone();
        assert_eq!(place, Locator::Region { boxes: vec![BBox([0.0, 0.0, 10.0, 40.0])] });
        let found = Image.picture(&Source::new(&bytes, "a"), &place).expect("a picture");
        assert_eq!((found.picture.width, found.picture.height), (10, 40));
    }

    #[test]
    fn a_picture_of_too_many_pixels_is_refused_before_it_is_decoded() {
        let mut bytes = written(&DynamicImage::new_rgb8(1, 1), ImageFormat::Bmp);
        bytes[18..22].copy_from_slice(&40_000_u32.to_le_bytes());
        bytes[22..26].copy_from_slice(&40_000_u32.to_le_bytes());
        let parsed = Image.parse(&Source::new(&bytes, "a"), &mut ParsedDocument::default());
        assert!(parsed.is_err());
    }
}
