//! The pages of a TIFF: its directories form a chain, and decoders read the first one. A page is had by making its directory
//! the first.

use std::borrow::Cow;

/// More pages than this are not looked at.
const MAX_PAGES: usize = 2_000;

/// How many pages a file has; 1 for what is no TIFF.
pub(super) fn count(bytes: &[u8]) -> u32 {
    directories(bytes).len().max(1) as u32
}

/// The file with its page `index` in front.
pub(super) fn page(bytes: &[u8], index: u32) -> Option<Cow<'_, [u8]>> {
    if index == 0 {
        return Some(Cow::Borrowed(bytes));
    }
    let directory = *directories(bytes).get(index as usize)?;
    let mut file = bytes.to_vec();
    let start = if is_little(bytes)? { directory.to_le_bytes() } else { directory.to_be_bytes() };
    file.get_mut(4..8)?.copy_from_slice(&start);
    Some(Cow::Owned(file))
}

fn is_little(bytes: &[u8]) -> Option<bool> {
    match bytes.get(..4)? {
        b"II*\0" => Some(true),
        b"MM\0*" => Some(false),
        _ => None,
    }
}

/// Where the directories begin, in the order of the chain.
fn directories(bytes: &[u8]) -> Vec<u32> {
    let Some(is_little) = is_little(bytes) else { return Vec::new() };
    let number = |at: usize, n_bytes: usize| {
        let raw = bytes.get(at..at.checked_add(n_bytes)?)?;
        let add = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
        Some(if is_little { raw.iter().rev().fold(0, add) } else { raw.iter().fold(0, add) })
    };
    let mut found: Vec<u32> = Vec::new();
    let mut next = number(4, 4);
    while let Some(start) = next.filter(|start| *start != 0) {
        let Some(n_entries) = number(start as usize, 2) else { break };
        // A chain may run in a circle.
        if found.contains(&start) || found.len() >= MAX_PAGES {
            break;
        }
        found.push(start);
        next = number(start as usize + 2 + n_entries as usize * 12, 4);
    }
    found
}
