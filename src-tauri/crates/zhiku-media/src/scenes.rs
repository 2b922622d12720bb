//! Which key frames begin a new scene: decided on thumbnails, without the video.

/// Size of a thumbnail: small enough for hours of video, large enough for the lines of a slide to show.
pub(crate) const WIDTH: usize = 64;
pub(crate) const HEIGHT: usize = 36;
pub(crate) const THUMBNAIL_BYTES: usize = WIDTH * HEIGHT;

/// A cell of the thumbnail has changed when its grey differs by more than this of 255 …
const CELL_CHANGE: u8 = 8;
/// … and the scene when more than this share of the cells has.
const SCENE_CHANGE: f32 = 0.02;
/// A scene that is gone sooner is a flicker, a cross-fade or somebody passing by.
const SHORTEST_MS: u64 = 1_000;

/// Where a scene begins among the key frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scene {
    /// Time of the key frame that shows it.
    pub(crate) frame_ms: u64,
    /// Time of the key frame before it: the change lies between the two.
    pub(crate) before_ms: u64,
    /// Share of the cells that changed; 1 for the first scene.
    pub(crate) change: f32,
}

/// Share of the cells that differ.
pub(crate) fn difference(a: &[u8], b: &[u8]) -> f32 {
    let changed = a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > CELL_CHANGE).count();
    changed as f32 / a.len().max(1) as f32
}

/// Takes key frames in order and keeps the beginnings of scenes.
#[derive(Debug, Default)]
pub(crate) struct SceneChooser {
    scenes: Vec<Scene>,
    /// Thumbnail of the current scene.
    shown: Vec<u8>,
    before_ms: u64,
}

impl SceneChooser {
    pub(crate) fn push(&mut self, frame_ms: u64, thumbnail: &[u8]) {
        let change = if self.scenes.is_empty() { 1.0 } else { difference(&self.shown, thumbnail) };
        if change > SCENE_CHANGE {
            self.shown = thumbnail.to_vec();
            let scene = Scene { frame_ms, before_ms: self.before_ms, change };
            match self.scenes.last_mut() {
                // What is replaced so soon was only passing: the later picture stands for both.
                Some(last) if frame_ms.saturating_sub(last.frame_ms) < SHORTEST_MS => {
                    *last = Scene { before_ms: last.before_ms, change: last.change.max(change), ..scene };
                }
                _ => self.scenes.push(scene),
            }
        }
        self.before_ms = frame_ms;
    }

    /// At most `most` scenes in order of time, those with the greatest changes; and how many there were.
    pub(crate) fn strongest(mut self, most: usize) -> (Vec<Scene>, usize) {
        let found = self.scenes.len();
        self.scenes.sort_by(|a, b| b.change.total_cmp(&a.change).then(a.frame_ms.cmp(&b.frame_ms)));
        self.scenes.truncate(most);
        self.scenes.sort_by_key(|scene| scene.frame_ms);
        (self.scenes, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each letter is a picture of its own; a key frame per `step_ms`.
    fn check(frames: &str, step_ms: u64, most: usize, expected: &[u64]) {
        let mut chooser = SceneChooser::default();
        for (i, letter) in frames.bytes().enumerate() {
            let thumbnail: Vec<u8> =
                (0..THUMBNAIL_BYTES).map(|cell| (cell as u8).wrapping_mul(letter) & 0xf0).collect();
            chooser.push(i as u64 * step_ms, &thumbnail);
        }
        let times: Vec<u64> = chooser.strongest(most).0.iter().map(|scene| scene.frame_ms).collect();
        assert_eq!(times, expected, "{frames}");
    }

    #[test]
    fn each_change_begins_a_scene() {
        check("", 2000, 9, &[]);
        check("AAAA", 2000, 9, &[0]);
        check("AABBBC", 2000, 9, &[0, 4000, 10_000]);
    }

    #[test]
    fn flicker_is_one_scene() {
        check("AAAABCDDDD", 400, 9, &[0, 2400]);
    }

    #[test]
    fn a_few_cells_are_no_change() {
        let (quiet, mut moved) = (vec![100; THUMBNAIL_BYTES], vec![100; THUMBNAIL_BYTES]);
        moved[..40].fill(200);
        assert!(difference(&quiet, &moved) < SCENE_CHANGE);
        moved[..100].fill(200);
        assert!(difference(&quiet, &moved) > SCENE_CHANGE);
    }

    #[test]
    fn of_too_many_the_strongest_stay() {
        let mut chooser = SceneChooser::default();
        for (at, n_changed) in [(0, 0), (2000, 500), (4000, 100), (6000, 900)] {
            let mut thumbnail = vec![(at / 100) as u8; THUMBNAIL_BYTES];
            thumbnail[n_changed..].fill(0);
            chooser.push(at, &thumbnail);
        }
        let (scenes, found) = chooser.strongest(2);
        assert_eq!((scenes.len(), scenes[0].frame_ms, found), (2, 0, 4));
    }
}
