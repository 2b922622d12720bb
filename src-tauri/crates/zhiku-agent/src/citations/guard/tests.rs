use proptest::prelude::*;

use super::*;

fn visible(pieces: &[Piece]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Marks(numbers) => numbers.iter().fold(String::new(), |text, n| text + &format!("[{n}]")),
        })
        .collect()
}

fn run<'a>(deltas: impl IntoIterator<Item = &'a str>) -> (String, Vec<String>) {
    let mut guard = MarkerGuard::new(3);
    let mut out = String::new();
    for delta in deltas {
        out.push_str(&visible(&guard.push(delta)));
    }
    out.push_str(&visible(&guard.finish()));
    (out, guard.removed().to_vec())
}

fn check(text: &str, expect: &str, removed: &[&str]) {
    let (out, gone) = run([text]);
    assert_eq!(
        (out.as_str(), gone.iter().map(String::as_str).collect::<Vec<_>>()),
        (expect, removed.to_vec())
    );
}

#[test]
fn marks_in_every_spelling_are_read() {
    check("甲[1]。乙【2】；丙［３］", "甲[1]。乙[2]；丙[3]", &[]);
    check("a [1, 2] b [1-3] c [D2] d [^1] e 【3†source】", "a [1][2] b [1][2][3] c [2] d [1] e [3]", &[]);
    check("see [来源 2] and [Source 1]", "see [2] and [1]", &[]);
}

#[test]
fn marks_of_nothing_are_removed_and_recorded() {
    check("The limit is 220 [9].", "The limit is 220.", &["[9]"]);
    check("上限为 220 元[4][1]。", "上限为 220 元[1]。", &["[4]"]);
    check("x [2, 7] y", "x [2] y", &["[2, 7]"]);
    check("x [0] [99999999999999999999999]", "x", &["[0]", "[99999999999999999999999]"]);
}

#[test]
fn nested_brackets_leave_no_mark_behind() {
    check("a [[9]9] b", "a  b", &["[9]", "[9]"]);
    check("a [[1]9] b", "a [[1]9] b", &[]);
    check("a [x [9] y] b", "a [x  y] b", &["[9]"]);
}

#[test]
fn other_brackets_pass() {
    check("[ ] task, [text](url), a[i], [2024年]", "[ ] task, [text](url), a[i], [2024年]", &[]);
    check("cut off [1", "cut off", &["[1"]);
    check("open [note", "open [note", &[]);
}

fn marks_of(text: &str) -> Vec<usize> {
    let pattern = regex::Regex::new(r"[\[［【]\s*(\d+)\s*[\]］】]").expect("pattern");
    pattern.captures_iter(text).filter_map(|captures| captures[1].parse().ok()).collect()
}

proptest! {
    #[test]
    fn the_cut_of_the_stream_changes_nothing(
        text in "[a中。 \\[\\]【】［］0-9,.]{0,40}",
        cuts in proptest::collection::vec(0usize..41, 0..8),
    ) {
        let chars: Vec<char> = text.chars().collect();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(chars.len())).collect();
        cuts.push(0);
        cuts.push(chars.len());
        cuts.sort_unstable();
        let deltas: Vec<String> = cuts.windows(2).map(|pair| chars[pair[0]..pair[1]].iter().collect()).collect();
        let (whole, _) = run([text.as_str()]);
        let (pieces, _) = run(deltas.iter().map(String::as_str));
        prop_assert_eq!(&whole, &pieces);
        prop_assert!(marks_of(&whole).iter().all(|n| (1..=3).contains(n)), "{}", whole);
    }
}
