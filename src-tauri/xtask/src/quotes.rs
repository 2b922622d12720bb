//! `cargo xtask quotes`: asks questions about PDF files and holds every quote of the answers against the page as another
//! program reads it (poppler's `pdftotext`). A quote that is not there word for word, or lacks a number of the sentence that
//! cites it, is a fault.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::process::{built, command, output, root, succeeds};

/// Shorter quotes must be a whole sentence of the page.
const MIN_CHARS: usize = 20;

pub(crate) struct Options {
    /// Every PDF file below is imported.
    pub(crate) pdf: PathBuf,
    /// One JSON object with `text` a line.
    pub(crate) questions: PathBuf,
    /// The vault is made here, and found again by the next run; none is a throw-away folder.
    pub(crate) home: Option<PathBuf>,
    /// The program that answers; none is built here.
    pub(crate) program: Option<PathBuf>,
}

impl Options {
    /// The project's own stories.
    pub(crate) fn stories() -> Self {
        let stories = root().join("fixtures/stories");
        Self { questions: stories.join("questions.jsonl"), pdf: stories, home: None, program: None }
    }

    pub(crate) fn from_args(args: &[&str]) -> Result<Self> {
        let mut options = Self::stories();
        let mut args = args.iter();
        while let Some(name) = args.next() {
            let value = PathBuf::from(args.next().with_context(|| format!("{name} takes a value"))?);
            match *name {
                "--pdf" => options.pdf = value,
                "--questions" => options.questions = value,
                "--home" => options.home = Some(value),
                "--program" => options.program = Some(value),
                _ => bail!("unknown option {name}; there are --pdf, --questions, --home and --program"),
            }
        }
        Ok(options)
    }
}

pub(crate) fn quotes(options: &Options) -> Result<()> {
    if !succeeds(command("which", &["pdftotext"])) {
        eprintln!("skipped: quotes against another reader (needs pdftotext, Debian package poppler-utils)");
        return Ok(());
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => built("zhiku", &crate::test::TEST_FEATURES)?,
    };
    let scratch = std::env::temp_dir().join(format!("zhiku-quotes-{}", std::process::id()));
    let home = options.home.clone().unwrap_or_else(|| scratch.clone());
    let checked = check(options, &program, &home);
    if scratch.exists() {
        std::fs::remove_dir_all(&scratch)
            .with_context(|| format!("could not remove {}", scratch.display()))?;
    }
    let tally = checked?;
    eprintln!(
        "quotes: {} questions, {} answered, {} quotes of PDF pages, {} faults",
        tally.questions,
        tally.answered,
        tally.quotes,
        tally.faults.len()
    );
    if tally.quotes == 0 {
        bail!("no answer quoted a PDF page: nothing was checked");
    }
    if !tally.faults.is_empty() {
        bail!("quotes that do not hold:\n{}", tally.faults.join("\n"));
    }
    Ok(())
}

#[derive(Default)]
struct Tally {
    questions: usize,
    answered: usize,
    quotes: usize,
    faults: Vec<String>,
}

fn check(options: &Options, program: &Path, home: &Path) -> Result<Tally> {
    let files = pdf_files(&options.pdf)?;
    let zhiku = |args: &[&str]| {
        let mut asked = command(&program.to_string_lossy(), &["--home", &home.to_string_lossy(), "--json"]);
        asked.args(args);
        output(asked)
    };
    let paths: Vec<String> = files.values().map(|path| path.to_string_lossy().into_owned()).collect();
    let import: Vec<&str> = std::iter::once("import").chain(paths.iter().map(String::as_str)).collect();
    zhiku(&import).context("the import failed")?;
    let questions = std::fs::read_to_string(&options.questions)
        .with_context(|| format!("could not read {}", options.questions.display()))?;
    let mut pages = Pages::default();
    let mut tally = Tally::default();
    for line in questions.lines().filter(|line| !line.trim().is_empty()) {
        let question: Value = serde_json::from_str(line).context("a question is not JSON")?;
        let text = question["text"].as_str().context("a question has no text")?;
        // Having no evidence is an answer with an exit code of its own; `output` gives nothing for it.
        let Some(printed) = zhiku(&["ask", text, "--model", "extractive"]) else {
            tally.questions += 1;
            continue;
        };
        tally.add(&serde_json::from_str(&printed).context("an answer is not JSON")?, &files, &mut pages);
    }
    Ok(tally)
}

impl Tally {
    fn add(&mut self, answer: &Value, files: &BTreeMap<String, PathBuf>, pages: &mut Pages) {
        self.questions += 1;
        let citations = list(&answer["citations"]);
        self.answered += usize::from(!citations.is_empty());
        for citation in citations {
            let title = citation["title"].as_str().unwrap_or_default();
            let (Some(file), Some(page)) = (files.get(title), citation["locator"]["page_index"].as_u64())
            else {
                continue;
            };
            self.quotes += 1;
            let quote = citation["quote"].as_str().unwrap_or_default();
            let n = &citation["n"];
            let sentences = list(&answer["claims"])
                .iter()
                .filter(|claim| list(&claim["citations"]).contains(n))
                .filter_map(|claim| claim["text"].as_str());
            if let Some(fault) = fault(quote, sentences, &pages.of(file, page + 1)) {
                self.faults.push(format!("{title}, page {}: {fault}: {quote:?}", page + 1));
            }
        }
    }
}

/// What is wrong with a quote, if anything. `readings` are the page's text in different orders.
fn fault<'a>(quote: &str, sentences: impl Iterator<Item = &'a str>, readings: &[String]) -> Option<String> {
    let bare = squeezed(quote);
    if !readings.iter().any(|page| squeezed(page).contains(&bare)) {
        return Some("not on the page".to_owned());
    }
    if bare.chars().count() < MIN_CHARS && !readings.iter().any(|page| is_whole(&bare, page)) {
        return Some("a fragment".to_owned());
    }
    let known = numbers(quote);
    let missing: Vec<String> = sentences.flat_map(numbers).filter(|number| !known.contains(number)).collect();
    (!missing.is_empty()).then(|| format!("lacks {}", missing.join(", ")))
}

/// Whether a short quote begins where a line or sentence begins and ends where one ends.
fn is_whole(bare: &str, page: &str) -> bool {
    page.split(['\n', '\u{c}', '。', '！', '？', '；', '.', '!', '?', ';'])
        .any(|part| squeezed(part) == bare.trim_end_matches(['。', '！', '？', '；', '.', '!', '?', ';']))
}

/// NFKC, without white space and soft hyphens.
fn squeezed(text: &str) -> String {
    text.nfkc().filter(|c| !c.is_whitespace() && *c != '\u{ad}').collect()
}

fn numbers(text: &str) -> Vec<String> {
    let text: String = text.nfkc().collect();
    text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
        .map(|word| word.trim_matches(['.', ',']).to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Texts of pages as `pdftotext` reads them, by file and page from 1.
#[derive(Default)]
struct Pages(HashMap<(PathBuf, u64), Vec<String>>);

impl Pages {
    fn of(&mut self, file: &Path, page: u64) -> Vec<String> {
        let read = || {
            let (number, file) = (page.to_string(), file.to_string_lossy());
            [&["-q"][..], &["-q", "-layout"], &["-q", "-raw"]]
                .into_iter()
                .filter_map(|order| {
                    let mut args = order.to_vec();
                    args.extend(["-f", &number, "-l", &number, "-enc", "UTF-8", &file, "-"]);
                    output(command("pdftotext", &args))
                })
                .collect()
        };
        self.0.entry((file.to_owned(), page)).or_insert_with(read).clone()
    }
}

/// The PDF files below a folder, by title; of two with one title the first by path.
fn pdf_files(folder: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("could not list {}", folder.display()))?;
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "pdf") {
                let title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                files.entry(title).or_insert(path);
            }
        }
    }
    Ok(files)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(quote: &str, sentence: &str) -> Option<String> {
        let page = "Net reve\u{ad}nues rose by\n5,245 million dollars.\nShort line\n".to_owned();
        fault(quote, std::iter::once(sentence), &[page])
    }

    #[test]
    fn a_quote_must_be_on_the_page_whole_and_with_its_numbers() {
        let cases = [
            ("revenues rose by 5,245 million", "It rose by 5,245.", None),
            ("Short line", "Short line", None),
            ("Short", "Short", Some("a fragment")),
            ("revenues fell by 5,245 million", "It fell.", Some("not on the page")),
            ("revenues rose by 5,245 million", "It rose by 17.", Some("lacks 17")),
        ];
        for (quote, sentence, expected) in cases {
            assert_eq!(fault_of(quote, sentence).as_deref(), expected, "{quote}");
        }
    }
}
