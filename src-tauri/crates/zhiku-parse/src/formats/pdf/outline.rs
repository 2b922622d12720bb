//! The outline ("bookmarks") as a heading path for each page.

use pdfium_render::prelude::{PdfBookmark, PdfDestinationViewSettings, PdfDocument};

const MAX_ENTRIES: usize = 10_000;
const MAX_DEPTH: usize = 12;
const MAX_TITLE_CHARS: usize = 200;

/// Entries in the order of their pages.
pub(super) struct Outline {
    entries: Vec<Entry>,
}

struct Entry {
    page_index: u32,
    /// Distance from the page's bottom, if the entry points to a place on the page.
    y: Option<f32>,
    path: Vec<String>,
}

impl Outline {
    pub(super) fn of(document: &PdfDocument<'_>) -> Self {
        let mut entries = Vec::new();
        let mut path: Vec<String> = Vec::new();
        let mut n_seen = 0;
        // An explicit stack: a malicious outline is deep or runs in circles.
        let mut stack: Vec<(PdfBookmark<'_>, usize)> =
            document.bookmarks().root().map(|root| (root, 0)).into_iter().collect();
        while let Some((bookmark, depth)) = stack.pop() {
            n_seen += 1;
            if n_seen > MAX_ENTRIES {
                break;
            }
            path.truncate(depth);
            path.push(clean_title(&bookmark.title().unwrap_or_default()));
            if let Some(entry) = to_entry(&bookmark, &path) {
                entries.push(entry);
            }
            if let Some(next) = bookmark.next_sibling() {
                stack.push((next, depth));
            }
            if depth + 1 < MAX_DEPTH
                && let Some(child) = bookmark.first_child()
            {
                stack.push((child, depth + 1));
            }
        }
        entries.sort_by_key(|entry| entry.page_index);
        Self { entries }
    }

    /// The headings above the first line of a page: the last entry before it, or one that starts at its top.
    pub(super) fn path_at(&self, page_index: u32, page_height: f32) -> Vec<String> {
        let first_here = self.entries.partition_point(|entry| entry.page_index < page_index);
        let at_top = self.entries[first_here..]
            .iter()
            .take_while(|entry| entry.page_index == page_index)
            .take_while(|entry| entry.y.is_none_or(|y| y > 0.8 * page_height))
            .last();
        let before = || first_here.checked_sub(1).map(|n| &self.entries[n]);
        at_top.or_else(before).map(|entry| entry.path.clone()).unwrap_or_default()
    }
}

fn to_entry(bookmark: &PdfBookmark<'_>, path: &[String]) -> Option<Entry> {
    let destination = bookmark.destination()?;
    let page_index = u32::try_from(destination.page_index().ok()?).ok()?;
    let y = match destination.view_settings() {
        Ok(PdfDestinationViewSettings::SpecificCoordinatesAndZoom(_, y, _)) => y.map(|y| y.value),
        Ok(PdfDestinationViewSettings::FitPageHorizontallyToWindow(y)) => y.map(|y| y.value),
        _ => None,
    };
    Some(Entry { page_index, y, path: path.iter().filter(|title| !title.is_empty()).cloned().collect() })
}

fn clean_title(title: &str) -> String {
    let words: Vec<&str> =
        title.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(MAX_TITLE_CHARS).collect()
}
