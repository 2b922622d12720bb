use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::OnceLock;

use zhiku_core::locator::BBox;
use zhiku_core::model::Priority;
use zhiku_core::recognition::{Picture, RecognizedLine, TextRecognizer};
use zhiku_core::{BudgetLimits, ErrorCode, RunContext};
use zhiku_models::{ModelStore, Role};
use zhiku_onnx::{OcrFiles, OcrRecognizer};

use crate::{fixture, model_file};

/// Of the characters of a page, how many may be wrong, missing or too many.
const MOST_ERRORS: f64 = 0.02;
/// Boxes may be this much larger than the ink, in pixels; lines are some 30 high.
const SLACK: f32 = 22.0;

fn files() -> Option<OcrFiles> {
    let runtime = model_file(Role::OnnxRuntime, None)?;
    model_file(Role::Ocr, None)?;
    let models = ModelStore::open_default().expect("store").require(Role::Ocr).expect("is there");
    Some(OcrFiles::named(runtime, |name| models.file(name)))
}

/// Loaded once for all tests.
fn recognizer() -> Option<&'static OcrRecognizer> {
    static RECOGNIZER: OnceLock<Option<OcrRecognizer>> = OnceLock::new();
    let threads = NonZeroUsize::MIN.saturating_add(1);
    RECOGNIZER.get_or_init(|| Some(OcrRecognizer::open(&files()?, threads).expect("opens"))).as_ref()
}

fn recognize(recognizer: &OcrRecognizer, picture: &Picture) -> Vec<RecognizedLine> {
    recognizer.recognize(picture, Priority::Background, &RunContext::background()).expect("recognizes")
}

fn scan(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/scans").join(name)
}

fn picture(name: &str) -> Picture {
    let decoded = image::open(scan(name)).expect("picture").into_rgb8();
    Picture { width: decoded.width(), height: decoded.height(), rgb: decoded.into_raw() }
}

#[derive(serde::Deserialize)]
struct Truth {
    quarter_turns: u8,
    lines: Vec<TrueLine>,
}

#[derive(serde::Deserialize)]
struct TrueLine {
    text: String,
    bbox: BBox,
}

fn truth(name: &str) -> Truth {
    let stem = name.split('.').next().expect("stem");
    let text = std::fs::read_to_string(scan(&format!("{stem}.json"))).expect("truth");
    serde_json::from_str(&text).expect("truth")
}

/// What is compared: no white space, and full-width forms as the others.
fn letters(text: &str) -> Vec<char> {
    let folded = |c: char| match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        _ => c,
    };
    text.chars().filter(|c| !c.is_whitespace()).map(folded).collect()
}

fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}

/// Reads a fixture: few wrong characters, in the order of the page, each line at its place.
fn check(name: &str) {
    let Some(recognizer) = recognizer() else { return };
    let (lines, truth) = (recognize(recognizer, &picture(name)), truth(name));
    let join = |texts: Vec<&str>| letters(&texts.concat());
    let got = join(lines.iter().map(|line| line.text.as_str()).collect());
    let want = join(truth.lines.iter().map(|line| line.text.as_str()).collect());
    let errors = edit_distance(&got, &want);
    let rate = errors as f64 / want.len() as f64;
    eprintln!("{name}: {errors} of {} characters wrong, {:.2} %", want.len(), rate * 100.0);
    let listing: Vec<String> =
        lines.iter().map(|line| format!("{:.2} {} {:?}", line.confidence, line.text, line.bbox.0)).collect();
    assert!(rate <= MOST_ERRORS, "{name}: {rate:.3}\n{}", listing.join("\n"));
    assert!(lines.iter().all(|line| line.quarter_turns == truth.quarter_turns), "{name}");
    for expected in &truth.lines {
        let BBox([left, top, right, bottom]) = expected.bbox;
        let own =
            lines.iter().min_by_key(|line| edit_distance(&letters(&line.text), &letters(&expected.text)));
        let BBox(found) = own.expect("lines").bbox;
        let differences = [left - found[0], top - found[1], found[2] - right, found[3] - bottom];
        assert!(
            differences.iter().all(|difference| (-SLACK..SLACK).contains(difference)),
            "{name}: {} is at {found:?}, not at {:?}",
            expected.text,
            expected.bbox.0
        );
    }
}

#[test]
fn clean_pages_are_read() {
    check("clean_zh.png");
    check("clean_en.png");
}

#[test]
fn pages_turned_by_whole_quarters_are_read() {
    check("turned_90.png");
    check("turned_180.png");
    check("turned_270.png");
}

#[test]
fn slanted_pages_are_read() {
    check("slanted.png");
}

#[test]
fn noisy_pages_are_read() {
    check("noisy_mixed.jpg");
    check("noisy_zh.jpg");
}

#[test]
fn columns_are_read_one_after_the_other() {
    check("two_columns.png");
}

#[test]
fn a_strip_with_one_line_is_read_small_or_large() {
    let Some(recognizer) = recognizer() else { return };
    let page = image::open(scan("clean_zh.png")).expect("picture").into_rgb8();
    // The title.
    let title = image::imageops::crop_imm(&page, 100, 110, 500, 80).to_image();
    for (width, height) in [(200, 32), (500, 80), (2000, 320)] {
        let scaled = image::imageops::resize(&title, width, height, image::imageops::FilterType::Triangle);
        let lines = recognize(recognizer, &Picture { width, height, rgb: scaled.into_raw() });
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["仓库安全管理规定"], "{width} x {height}");
    }
}

/// Numbers that look random, the same on every run (xorshift, Marsaglia 2003).
fn noise(n: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 24) as u8
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn pictures_without_words_give_no_lines() {
    let Some(recognizer) = recognizer() else { return };
    let (width, height) = (640, 480);
    let n = width as usize * height as usize * 3;
    for (what, rgb) in [("white", vec![255; n]), ("black", vec![0; n]), ("noise", noise(n))] {
        assert_eq!(recognize(recognizer, &Picture { width, height, rgb }), vec![], "{what}");
    }
    assert_eq!(recognize(recognizer, &Picture { width: 0, height: 9, rgb: Vec::new() }), vec![]);
    assert_eq!(recognize(recognizer, &Picture { width: 1, height: 1, rgb: vec![0; 3] }), vec![]);
}

#[test]
fn a_run_that_is_cancelled_or_out_of_time_stops_between_steps() {
    let Some(recognizer) = recognizer() else { return };
    let page = picture("clean_en.png");
    let code =
        |ctx: &RunContext| recognizer.recognize(&page, Priority::Background, ctx).expect_err("stops").code;
    let cancelled = RunContext::background();
    cancelled.cancel.cancel();
    assert_eq!(code(&cancelled), ErrorCode::Cancelled);
    for checks in [1, 4] {
        let late = RunContext::new(BudgetLimits::default());
        late.budget.expire_after_checks(checks);
        assert_eq!(code(&late), ErrorCode::Timeout);
    }
}

#[test]
fn a_picture_of_the_wrong_length_is_refused() {
    let Some(recognizer) = recognizer() else { return };
    let picture = Picture { width: 10, height: 10, rgb: vec![0; 299] };
    let result = recognizer.recognize(&picture, Priority::Interactive, &RunContext::background());
    assert_eq!(result.expect_err("refused").code, ErrorCode::Internal);
}

#[test]
fn absent_and_damaged_ocr_files_are_told_apart() {
    let Some(good) = files() else { return };
    let fail = |files: OcrFiles| OcrRecognizer::open(&files, NonZeroUsize::MIN).err().expect("fails").code;
    let absent = OcrFiles { direction: fixture("absent.onnx"), ..good.clone() };
    assert_eq!(fail(absent), ErrorCode::ModelMissing);
    let no_model = OcrFiles { detection: fixture("token_ids.json"), ..good.clone() };
    assert_eq!(fail(no_model), ErrorCode::ModelDamaged);
    let no_characters = OcrFiles { recognition: good.direction.clone(), ..good };
    assert_eq!(fail(no_characters), ErrorCode::ModelDamaged);
}
