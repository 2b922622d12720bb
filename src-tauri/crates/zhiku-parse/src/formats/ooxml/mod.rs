//! What Word, Excel and PowerPoint files have in common: parts in a ZIP container that refer to each other.

pub(super) mod package;
