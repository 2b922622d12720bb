//! Pictures of places in a source, and the way back from a picture's pixels to the place.

use zhiku_core::BBox;
use zhiku_core::recognition::Picture;

/// A picture of a page or a picture file, upright as a reader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct SourcePicture {
    pub picture: Picture,
    pub frame: PictureFrame,
}

/// How a picture lies on its source.
///
/// A page of a PDF is drawn turned as readers turn it; its locator counts points from the top left of the unrotated crop
/// box. With the page of `page_size` turned by `quarter_turns` clockwise and drawn `picture_size` pixels large, pixels are
/// scaled to points and turned back by [`Self::to_source`]. For a picture file both sizes are the same and nothing is
/// turned: its locator counts pixels of the upright picture.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PictureFrame {
    /// Width and height of the source in its own units, before it is turned.
    pub page_size: [f32; 2],
    /// Width and height of the picture in pixels.
    pub picture_size: [u32; 2],
    /// By which the source is turned for its reader, clockwise; 0 to 3.
    pub quarter_turns: u8,
}

impl PictureFrame {
    /// A picture that is its own source.
    pub fn of_picture(width: u32, height: u32) -> Self {
        Self { page_size: [width as f32, height as f32], picture_size: [width, height], quarter_turns: 0 }
    }

    /// A box in pixels of the picture as a box of the locator's convention, kept within the source.
    pub fn to_source(self, pixels: BBox) -> BBox {
        let [width, height] = self.page_size;
        let shown = if self.quarter_turns.is_multiple_of(2) { [width, height] } else { [height, width] };
        let scale = [0, 1].map(|axis| shown[axis] / self.picture_size[axis].max(1) as f32);
        let [x0, y0, x1, y1] = pixels.0;
        let [(ax, ay), (bx, by)] = [(x0, y0), (x1, y1)].map(|(x, y)| {
            let (x, y) = (x * scale[0], y * scale[1]);
            match self.quarter_turns & 3 {
                0 => (x, y),
                1 => (y, height - x),
                2 => (width - x, height - y),
                _ => (width - y, x),
            }
        });
        BBox([
            ax.min(bx).clamp(0.0, width),
            ay.min(by).clamp(0.0, height),
            ax.max(bx).clamp(0.0, width),
            ay.max(by).clamp(0.0, height),
        ])
    }

    /// A box of the source in pixels of the picture: the way back of [`Self::to_source`].
    pub fn to_pixels(self, source: BBox) -> BBox {
        let [width, height] = self.page_size;
        let shown = if self.quarter_turns.is_multiple_of(2) { [width, height] } else { [height, width] };
        let scale = [0, 1].map(|axis| self.picture_size[axis] as f32 / shown[axis].max(f32::EPSILON));
        let [x0, y0, x1, y1] = source.0;
        let [(ax, ay), (bx, by)] = [(x0, y0), (x1, y1)].map(|(x, y)| {
            let (x, y) = match self.quarter_turns & 3 {
                0 => (x, y),
                1 => (height - y, x),
                2 => (width - x, height - y),
                _ => (y, width - x),
            };
            (x * scale[0], y * scale[1])
        });
        BBox([ax.min(bx), ay.min(by), ax.max(bx), ay.max(by)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of 100 by 200 points, drawn at two pixels per point; a box at its top left as the reader sees it.
    fn check(quarter_turns: u8, expect: [f32; 4]) {
        let picture_size = if quarter_turns.is_multiple_of(2) { [200, 400] } else { [400, 200] };
        let frame = PictureFrame { page_size: [100.0, 200.0], picture_size, quarter_turns };
        let pixels = BBox([20.0, 10.0, 60.0, 30.0]);
        assert_eq!(frame.to_source(pixels), BBox(expect));
        assert_eq!(frame.to_pixels(BBox(expect)), pixels);
    }

    #[test]
    fn boxes_are_scaled_and_turned_back_to_the_unrotated_page() {
        check(0, [10.0, 5.0, 30.0, 15.0]);
        check(1, [5.0, 170.0, 15.0, 190.0]);
        check(2, [70.0, 185.0, 90.0, 195.0]);
        check(3, [85.0, 10.0, 95.0, 30.0]);
    }

    #[test]
    fn a_picture_file_keeps_its_pixels_and_boxes_stay_inside() {
        let frame = PictureFrame::of_picture(640, 480);
        assert_eq!(frame.to_source(BBox([-5.0, 7.0, 700.0, 90.0])), BBox([0.0, 7.0, 640.0, 90.0]));
    }
}
