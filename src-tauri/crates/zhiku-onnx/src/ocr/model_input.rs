//! Colours as all three networks take them: planes of blue, green and red, from -1 to 1.

use super::view::Colour;

/// One plane after the other, each in rows.
pub(crate) fn planes(colours: &[Colour]) -> Vec<f32> {
    let mut planes = Vec::with_capacity(colours.len() * 3);
    for channel in [2, 1, 0] {
        planes.extend(colours.iter().map(|colour| level(colour[channel])));
    }
    planes
}

fn level(value: f32) -> f32 {
    value / 127.5 - 1.0
}

/// Strips of one height and different widths, padded on the right with middle grey to `width`:
/// `[strips, 3, height, width]`.
pub(crate) fn padded_planes(strips: &[&Strip], height: usize, width: usize) -> Vec<f32> {
    let mut planes = Vec::with_capacity(strips.len() * 3 * height * width);
    for strip in strips {
        for channel in [2, 1, 0] {
            for row in strip.colours.chunks_exact(strip.width) {
                planes.extend(row.iter().map(|colour| level(colour[channel])));
                planes.extend(std::iter::repeat_n(0.0, width - strip.width));
            }
        }
    }
    planes
}

/// A line cut out of a page and made level.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strip {
    /// At least 1.
    pub(crate) width: usize,
    /// In rows.
    pub(crate) colours: Vec<Colour>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_begin_with_blue_and_padding_is_grey() {
        assert_eq!(planes(&[[0.0, 127.5, 255.0], [255.0, 0.0, 0.0]]), [1.0, -1.0, 0.0, -1.0, -1.0, 1.0]);
        let strip = Strip { width: 1, colours: vec![[255.0; 3]; 2] };
        assert_eq!(padded_planes(&[&strip], 2, 2)[..4], [1.0, 0.0, 1.0, 0.0]);
    }
}
