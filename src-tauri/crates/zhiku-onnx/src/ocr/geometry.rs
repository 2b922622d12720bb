//! Points and slanted rectangles on a page. y grows downwards, angles clockwise in radians.

use std::f32::consts::FRAC_PI_2;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

impl Point {
    pub(crate) fn new(x: f32, y: f32) -> Self {
        Self { x, y }
    }

    /// About the origin.
    pub(crate) fn turned(self, angle: f32) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { x: self.x * cos - self.y * sin, y: self.x * sin + self.y * cos }
    }
}

/// A rectangle whose lower and upper sides run at `angle`, which is within an eighth of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SlantedBox {
    pub(crate) centre: Point,
    /// Along `angle`.
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) angle: f32,
}

impl SlantedBox {
    /// Upper left, upper right, lower right, lower left.
    pub(crate) fn corners(&self) -> [Point; 4] {
        let (w, h) = (self.width / 2.0, self.height / 2.0);
        [(-w, -h), (w, -h), (w, h), (-w, h)].map(|(x, y)| {
            let corner = Point::new(x, y).turned(self.angle);
            Point::new(corner.x + self.centre.x, corner.y + self.centre.y)
        })
    }

    /// Left, top, right, bottom of the upright rectangle around it.
    pub(crate) fn bounds(&self) -> [f32; 4] {
        let (sin, cos) = (self.angle.sin().abs(), self.angle.cos().abs());
        let w = f32::midpoint(self.width * cos, self.height * sin);
        let h = f32::midpoint(self.width * sin, self.height * cos);
        [self.centre.x - w, self.centre.y - h, self.centre.x + w, self.centre.y + h]
    }

    pub(crate) fn contains(&self, point: Point) -> bool {
        let from_centre = Point::new(point.x - self.centre.x, point.y - self.centre.y).turned(-self.angle);
        from_centre.x.abs() <= self.width / 2.0 && from_centre.y.abs() <= self.height / 2.0
    }

    /// Every side moved outwards.
    #[must_use]
    pub(crate) fn grown(self, by: f32) -> Self {
        Self { width: self.width + 2.0 * by, height: self.height + 2.0 * by, ..self }
    }

    #[must_use]
    pub(crate) fn scaled(self, by: f32) -> Self {
        Self {
            centre: Point::new(self.centre.x * by, self.centre.y * by),
            width: self.width * by,
            height: self.height * by,
            angle: self.angle,
        }
    }
}

/// The convex hull by Andrew's monotone chain, without points on its edges.
pub(crate) fn convex_hull(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let mut hull: Vec<Point> = Vec::with_capacity(points.len());
    let half = |hull: &mut Vec<Point>, point: Point, start: usize| {
        while hull.len() >= start + 2 && turn(hull[hull.len() - 2], hull[hull.len() - 1], point) <= 0.0 {
            hull.pop();
        }
        hull.push(point);
    };
    for &point in &points {
        half(&mut hull, point, 0);
    }
    let start = hull.len() - 1;
    for &point in points.iter().rev().skip(1) {
        half(&mut hull, point, start);
    }
    hull.pop();
    hull
}

fn turn(a: Point, b: Point, c: Point) -> f32 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

/// The rectangle of the least area around a convex hull: one of its sides lies on a side of the hull.
pub(crate) fn least_box(hull: &[Point]) -> SlantedBox {
    let edges = hull.iter().zip(hull.iter().cycle().skip(1));
    edges
        .map(|(a, b)| box_at(hull, within_an_eighth((b.y - a.y).atan2(b.x - a.x))))
        .min_by(|a, b| (a.width * a.height).total_cmp(&(b.width * b.height)))
        .unwrap_or_else(|| box_at(hull, 0.0))
}

/// The rectangle at a given angle around some points.
pub(crate) fn box_at(points: &[Point], angle: f32) -> SlantedBox {
    let mut bounds = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
    for point in points {
        let Point { x, y } = point.turned(-angle);
        bounds = [bounds[0].min(x), bounds[1].min(y), bounds[2].max(x), bounds[3].max(y)];
    }
    if points.is_empty() {
        bounds = [0.0; 4];
    }
    let [left, top, right, bottom] = bounds;
    let centre = Point::new(f32::midpoint(left, right), f32::midpoint(top, bottom)).turned(angle);
    SlantedBox { centre, width: right - left, height: bottom - top, angle }
}

/// The same direction but for quarter turns, within an eighth of a turn either way.
fn within_an_eighth(angle: f32) -> f32 {
    angle - (angle / FRAC_PI_2).round() * FRAC_PI_2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(a: f32, b: f32) -> bool {
        (a - b).abs() < 0.01
    }

    #[test]
    fn a_hull_leaves_out_what_lies_inside_and_on_edges() {
        let square = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (2.0, 0.0), (2.0, 2.0)];
        let hull = convex_hull(square.iter().map(|&(x, y)| Point::new(x, y)).collect());
        assert_eq!(hull.len(), 4);
        assert_eq!(convex_hull(vec![Point::new(1.0, 1.0); 3]), vec![Point::new(1.0, 1.0)]);
    }

    proptest! {
        #[test]
        fn the_least_box_of_a_slanted_rectangle_is_itself(
            angle in -0.7_f32..0.7, width in 20.0_f32..400.0, ratio in 0.1_f32..0.9, x in -50.0_f32..900.0,
        ) {
            let own = SlantedBox { centre: Point::new(x, 300.0), width, height: width * ratio, angle };
            let found = least_box(&convex_hull(own.corners().to_vec()));
            prop_assert!((found.width - own.width).abs() < 0.1 && (found.height - own.height).abs() < 0.1);
            prop_assert!(near(found.angle, angle) && (found.centre.x - x).abs() < 0.1);
            prop_assert!(found.contains(own.centre) && !found.contains(own.grown(3.0).corners()[0]));
            let [left, top, right, bottom] = own.bounds();
            for corner in own.corners() {
                prop_assert!(corner.x > left - 0.1 && corner.x < right + 0.1);
                prop_assert!(corner.y > top - 0.1 && corner.y < bottom + 0.1);
            }
        }
    }

    #[test]
    fn a_box_scales_with_the_page() {
        let own = SlantedBox { centre: Point::new(10.0, 20.0), width: 8.0, height: 2.0, angle: 0.1 };
        let scaled = own.scaled(2.0);
        assert!(near(scaled.centre.y, 40.0) && near(scaled.width, 16.0) && near(scaled.angle, 0.1));
    }
}
