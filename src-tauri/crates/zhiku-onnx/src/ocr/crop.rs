//! Cuts a slanted box out of a page and makes it level.

use super::geometry::{Point, SlantedBox};
use super::model_input::Strip;
use super::view::View;

/// Pixels that one pixel of a strip is averaged over per direction, at most: enough for letters 200 pixels high.
const MOST_SAMPLES: usize = 4;

/// What is in the box, `height` pixels high and as wide as its shape asks for, at most `most_width`.
pub(crate) fn cut_out(view: &View<'_>, slanted: &SlantedBox, height: usize, most_width: usize) -> Strip {
    let shape = slanted.width / slanted.height.max(1.0);
    let width = ((height as f32 * shape).ceil() as usize).clamp(1, most_width);
    let (step_x, step_y) = (slanted.width / width as f32, slanted.height / height as f32);
    let samples = (step_x.max(step_y).ceil() as usize).clamp(1, MOST_SAMPLES);
    let (sin, cos) = slanted.angle.sin_cos();
    let mut colours = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let mut sum = [0.0; 3];
            for sample in 0..samples * samples {
                let share = |at: usize| (at as f32 + 0.5) / samples as f32;
                let along = (x as f32 + share(sample % samples)) * step_x - slanted.width / 2.0;
                let down = (y as f32 + share(sample / samples)) * step_y - slanted.height / 2.0;
                let point = Point::new(
                    slanted.centre.x + along * cos - down * sin,
                    slanted.centre.y + along * sin + down * cos,
                );
                for (sum, value) in sum.iter_mut().zip(view.sample(point)) {
                    *sum += value;
                }
            }
            colours.push(sum.map(|sum| sum / (samples * samples) as f32));
        }
    }
    Strip { width, colours }
}

#[cfg(test)]
mod tests {
    use zhiku_core::recognition::Picture;

    use super::*;

    #[test]
    fn a_slanted_box_comes_out_level() {
        // White above a line that falls to the right, black below it.
        let angle = 0.2_f32;
        let mut picture = Picture { width: 200, height: 100, rgb: Vec::new() };
        for y in 0..100 {
            for x in 0..200 {
                let black = (y as f32 - 50.0) > (x as f32 - 100.0) * angle.tan();
                picture.rgb.extend([if black { 0 } else { 255 }; 3]);
            }
        }
        let own = SlantedBox { centre: Point::new(100.0, 50.0), width: 120.0, height: 24.0, angle };
        let strip = cut_out(&View::new(&picture, 0), &own, 48, 1000);
        assert_eq!(strip.width, 240);
        for column in 0..240 {
            assert!(strip.colours[15 * 240 + column][0] > 250.0, "{column}");
            assert!(strip.colours[33 * 240 + column][0] < 5.0, "{column}");
        }
    }

    #[test]
    fn large_letters_are_averaged_and_endless_lines_squeezed() {
        // Stripes one pixel wide are grey at a quarter of the size.
        let rgb = (0..400 * 200).flat_map(|at| [if at % 2 == 0 { 0 } else { 255 }; 3]).collect();
        let picture = Picture { width: 400, height: 200, rgb };
        let own = SlantedBox { centre: Point::new(200.0, 100.0), width: 400.0, height: 192.0, angle: 0.0 };
        let strip = cut_out(&View::new(&picture, 0), &own, 48, 1000);
        assert_eq!(strip.width, 100);
        assert!(strip.colours[200..4000].iter().all(|colour| (colour[0] - 127.5).abs() < 2.0));
        assert_eq!(cut_out(&View::new(&picture, 0), &own, 48, 30).width, 30);
    }
}
