//! A picture looked at after quarter turns, and how it is sampled.

use zhiku_core::locator::BBox;
use zhiku_core::recognition::Picture;

use super::geometry::{Point, SlantedBox};

/// Red, green, blue, 0 to 255.
pub(crate) type Colour = [f32; 3];

/// A picture as it is seen after turning it counter-clockwise, so that words turned by as much clockwise stand upright.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    picture: &'a Picture,
    /// Clockwise turns of what shall be upright, 0 to 3.
    turns: u8,
}

impl<'a> View<'a> {
    /// `picture.rgb` must have the length that its size says.
    pub(crate) fn new(picture: &'a Picture, turns: u8) -> Self {
        Self { picture, turns: turns % 4 }
    }

    pub(crate) fn turned(self, further: u8) -> Self {
        Self::new(self.picture, self.turns + further)
    }

    pub(crate) fn turns(&self) -> u8 {
        self.turns
    }

    pub(crate) fn width(&self) -> usize {
        if self.turns.is_multiple_of(2) { self.picture.width as usize } else { self.picture.height as usize }
    }

    pub(crate) fn height(&self) -> usize {
        if self.turns.is_multiple_of(2) { self.picture.height as usize } else { self.picture.width as usize }
    }

    /// The pixel in column `x` and row `y` of the view; beyond its edges that of the edge.
    pub(crate) fn pixel(&self, x: isize, y: isize) -> Colour {
        let x = x.clamp(0, self.width() as isize - 1) as usize;
        let y = y.clamp(0, self.height() as isize - 1) as usize;
        let (width, height) = (self.picture.width as usize, self.picture.height as usize);
        let (column, row) = match self.turns {
            0 => (x, y),
            1 => (width - 1 - y, x),
            2 => (width - 1 - x, height - 1 - y),
            _ => (y, height - 1 - x),
        };
        let at = (row * width + column) * 3;
        match self.picture.rgb.get(at..at + 3) {
            Some(rgb) => [f32::from(rgb[0]), f32::from(rgb[1]), f32::from(rgb[2])],
            None => [0.0; 3],
        }
    }

    /// Between pixels: bilinear. Pixel centres are at halves.
    pub(crate) fn sample(&self, point: Point) -> Colour {
        let (x, y) = (point.x - 0.5, point.y - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (right_share, lower_share) = (x - left, y - top);
        let (left, top) = (left as isize, top as isize);
        let mix = |a: Colour, b: Colour, share: f32| -> Colour {
            std::array::from_fn(|channel| a[channel] + (b[channel] - a[channel]) * share)
        };
        let upper = mix(self.pixel(left, top), self.pixel(left + 1, top), right_share);
        let lower = mix(self.pixel(left, top + 1), self.pixel(left + 1, top + 1), right_share);
        mix(upper, lower, lower_share)
    }

    /// A point of the view in the picture itself.
    fn in_picture(&self, point: Point) -> Point {
        let (width, height) = (self.picture.width as f32, self.picture.height as f32);
        match self.turns {
            0 => point,
            1 => Point::new(width - point.y, point.x),
            2 => Point::new(width - point.x, height - point.y),
            _ => Point::new(point.y, height - point.x),
        }
    }

    /// The upright box around a rectangle of the view, in the picture and within it.
    pub(crate) fn bbox(&self, slanted: &SlantedBox) -> BBox {
        let [left, top, right, bottom] = slanted.bounds();
        let (a, b) = (self.in_picture(Point::new(left, top)), self.in_picture(Point::new(right, bottom)));
        let (width, height) = (self.picture.width as f32, self.picture.height as f32);
        BBox([
            a.x.min(b.x).clamp(0.0, width),
            a.y.min(b.y).clamp(0.0, height),
            a.x.max(b.x).clamp(0.0, width),
            a.y.max(b.y).clamp(0.0, height),
        ])
    }
}

/// A part of a view after scaling the whole, `width * height` colours in rows. Each is the mean of the pixels it stands
/// for, weighted by a triangle as wide as a scaled pixel, or bilinear when enlarging.
pub(crate) fn scaled_part(
    view: &View<'_>,
    scale: f32,
    (left, top): (isize, isize),
    (width, height): (usize, usize),
) -> Vec<Colour> {
    let columns: Vec<Weights> = (0..width).map(|x| Weights::new(left + x as isize, scale)).collect();
    let rows: Vec<Weights> = (0..height).map(|y| Weights::new(top + y as isize, scale)).collect();
    let mut narrowed = NarrowedRows { view, columns: &columns, kept: Vec::new() };
    let mut part = Vec::with_capacity(width * height);
    for row in &rows {
        narrowed.forget_above(row.first);
        let mut sums = vec![[0.0; 3]; width];
        for (offset, &weight) in row.weights.iter().enumerate() {
            let colours = narrowed.row(row.first + offset as isize);
            for (sum, colour) in sums.iter_mut().zip(colours) {
                for channel in 0..3 {
                    sum[channel] += colour[channel] * weight;
                }
            }
        }
        part.append(&mut sums);
    }
    part
}

/// Which pixels a scaled pixel is made of, and in what shares.
struct Weights {
    first: isize,
    weights: Vec<f32>,
}

impl Weights {
    fn new(position: isize, scale: f32) -> Self {
        let centre = (position as f32 + 0.5) / scale - 0.5;
        let reach = (1.0 / scale).max(1.0);
        let first = (centre - reach).floor() as isize + 1;
        let last = (centre + reach).ceil() as isize - 1;
        let mut weights: Vec<f32> =
            (first..=last).map(|at| (1.0 - (at as f32 - centre).abs() / reach).max(0.0)).collect();
        let sum: f32 = weights.iter().sum();
        for weight in &mut weights {
            *weight /= sum;
        }
        Self { first, weights }
    }
}

/// Rows of the view scaled in width only, kept while rows of the part still need them.
struct NarrowedRows<'a> {
    view: &'a View<'a>,
    columns: &'a [Weights],
    kept: Vec<(isize, Vec<Colour>)>,
}

impl NarrowedRows<'_> {
    fn forget_above(&mut self, first: isize) {
        self.kept.retain(|(y, _)| *y >= first);
    }

    fn row(&mut self, y: isize) -> &[Colour] {
        let there = self.kept.iter().position(|(kept, _)| *kept == y);
        let at = there.unwrap_or_else(|| {
            self.kept.push((y, self.narrow(y)));
            self.kept.len() - 1
        });
        &self.kept[at].1
    }

    fn narrow(&self, y: isize) -> Vec<Colour> {
        let narrowed = |column: &Weights| {
            let mut sum = [0.0; 3];
            for (offset, &weight) in column.weights.iter().enumerate() {
                let colour = self.view.pixel(column.first + offset as isize, y);
                for channel in 0..3 {
                    sum[channel] += colour[channel] * weight;
                }
            }
            sum
        };
        self.columns.iter().map(narrowed).collect()
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the values are exact sums of powers of two")]
mod tests {
    use super::*;

    /// Red is the column and green the row.
    fn picture(width: u32, height: u32) -> Picture {
        let rgb = (0..height).flat_map(|y| (0..width).flat_map(move |x| [x as u8, y as u8, 0])).collect();
        Picture { width, height, rgb }
    }

    #[test]
    fn views_show_the_picture_upright_and_give_its_places_back() {
        let picture = picture(5, 3);
        let corner = |turns| {
            let view = View::new(&picture, turns);
            let colour = view.pixel(0, 0);
            (view.width(), view.height(), colour[0] as u32, colour[1] as u32)
        };
        // Words turned clockwise once begin at the upper right and run down.
        assert_eq!([0, 1, 2, 3].map(corner), [(5, 3, 0, 0), (3, 5, 4, 0), (5, 3, 4, 2), (3, 5, 0, 2)]);
        for turns in 0..4 {
            let view = View::new(&picture, turns);
            let first = SlantedBox { centre: Point::new(0.5, 0.5), width: 1.0, height: 1.0, angle: 0.0 };
            let BBox([left, top, right, bottom]) = view.bbox(&first);
            let colour = view.pixel(0, 0);
            assert_eq!([left, top, right, bottom], [colour[0], colour[1], colour[0] + 1.0, colour[1] + 1.0]);
        }
    }

    #[test]
    fn samples_between_pixels_are_mixed_and_edges_go_on() {
        let picture = picture(5, 3);
        let view = View::new(&picture, 0);
        assert_eq!(view.sample(Point::new(2.0, 1.25)), [1.5, 0.75, 0.0]);
        assert_eq!(view.sample(Point::new(-9.0, 99.0)), [0.0, 2.0, 0.0]);
    }

    #[test]
    fn scaling_keeps_gradients_and_parts_fit_together() {
        let picture = picture(64, 64);
        let view = View::new(&picture, 0);
        let whole = scaled_part(&view, 0.5, (0, 0), (32, 32));
        assert!((whole[10 * 32 + 20][0] - 40.5).abs() < 0.01 && (whole[10 * 32 + 20][1] - 20.5).abs() < 0.01);
        let part = scaled_part(&view, 0.5, (8, 16), (4, 4));
        assert_eq!(part[5], whole[17 * 32 + 9]);
        assert_eq!(scaled_part(&view, 1.0, (3, 4), (1, 1)), vec![[3.0, 4.0, 0.0]]);
    }
}
