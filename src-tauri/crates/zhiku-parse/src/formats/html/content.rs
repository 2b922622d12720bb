//! Which part of a page is its content.
//!
//! Navigation, page headers and footers, side columns and hidden elements are left out. `<main>` or the only `<article>`
//! is preferred when it holds a fair part of what remains; a page that would be left nearly empty is taken whole.

use scraper::{ElementRef, Html as Page, Selector, node::Element};

use super::convert::{self, Keep};
use crate::formats::blocks::{Block, flatten, tidy_line};

/// The blocks of the main content.
pub(super) fn main_blocks(page: &Page) -> Vec<Block> {
    let body = select(page, "body").into_iter().next().unwrap_or_else(|| page.root_element());
    let trimmed = convert::blocks(*body, Keep::Content);
    let n_trimmed = n_chars(&trimmed);
    if let Some(main) = main_element(page) {
        let blocks = convert::blocks(*main, Keep::Content);
        if n_chars(&blocks) * 4 >= n_trimmed && !blocks.is_empty() {
            return blocks;
        }
    }
    let whole = convert::blocks(*body, Keep::Everything);
    // What was left out may be all there is: a page of links, or one whose author used <header> for everything.
    if n_trimmed < 200 && n_trimmed * 10 < n_chars(&whole) { whole } else { trimmed }
}

/// The page's title, when it has one.
pub(super) fn title(page: &Page) -> Option<String> {
    let title = select(page, "head > title").into_iter().next()?;
    let title = tidy_line(&title.text().collect::<String>());
    (!title.is_empty() && title.chars().count() <= 200).then_some(title)
}

/// Whether an element is left out although its page shows it.
pub(super) fn is_boilerplate(element: ElementRef<'_>) -> bool {
    let value = element.value();
    let role = value.attr("role").unwrap_or("");
    if matches!(
        role,
        "navigation" | "banner" | "contentinfo" | "complementary" | "search" | "menu" | "menubar"
    ) {
        return !(role == "banner" && has_heading(element));
    }
    match value.name() {
        "nav" | "aside" => true,
        // An article's own header and footer belong to it; a page's header may carry its title.
        "header" => !is_within_article(element) && !has_heading(element),
        "footer" => !is_within_article(element),
        "div" | "ul" | "section" | "table" => is_named_navigation(value),
        _ => false,
    }
}

/// Whether a reader of the page does not see the element.
pub(super) fn is_hidden(element: &Element) -> bool {
    if element.attr("hidden").is_some_and(|value| value != "until-found") {
        return true;
    }
    let style = element.attr("style").unwrap_or("");
    if style.is_empty() {
        return false;
    }
    let style: String = style.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase();
    ["display:none", "visibility:hidden", "font-size:0;", "opacity:0;"]
        .iter()
        .any(|rule| style.contains(rule))
        || ["font-size:0", "font-size:0px", "opacity:0"].iter().any(|rule| style.ends_with(rule))
}

/// Logos and icons are decoration: their alternative text names a picture, it says nothing.
pub(super) fn is_decoration(image: ElementRef<'_>) -> bool {
    let is_decorative = |element: &Element| {
        let names = element.attr("class").unwrap_or("").to_lowercase()
            + " "
            + &element.attr("id").unwrap_or("").to_lowercase();
        names
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| matches!(word, "logo" | "icon" | "icons" | "avatar" | "emoji" | "sprite" | "spacer"))
    };
    let value = image.value();
    matches!(value.attr("role"), Some("presentation" | "none"))
        || value.attr("aria-hidden") == Some("true")
        || is_decorative(value)
        || image.ancestors().take(2).filter_map(|node| node.value().as_element()).any(is_decorative)
}

fn is_named_navigation(element: &Element) -> bool {
    const NAMES: &[&str] = &[
        "nav",
        "navbar",
        "navigation",
        "menu",
        "mainmenu",
        "sidebar",
        "footer",
        "page-footer",
        "site-footer",
        "breadcrumb",
        "breadcrumbs",
        "pagination",
        "pager",
        "toc",
        "cookie-banner",
        "cookie-consent",
        "share",
        "social",
        "copyright",
        "advertisement",
        "ads",
        "related-posts",
        "skip-link",
    ];
    let is_name = |name: &str| NAMES.contains(&name.to_lowercase().as_str());
    element.attr("class").is_some_and(|class| class.split_whitespace().any(is_name))
        || element.attr("id").is_some_and(is_name)
}

fn is_within_article(element: ElementRef<'_>) -> bool {
    element
        .ancestors()
        .filter_map(|node| node.value().as_element())
        .any(|element| matches!(element.name(), "article" | "main" | "section" | "blockquote" | "figure"))
}

fn has_heading(element: ElementRef<'_>) -> bool {
    element
        .descendants()
        .filter_map(|node| node.value().as_element())
        .any(|element| matches!(element.name(), "h1" | "h2"))
}

fn main_element(page: &Page) -> Option<ElementRef<'_>> {
    let main = select(page, "main, [role=main]");
    if let [main] = main[..] {
        return Some(main);
    }
    match select(page, "article")[..] {
        [article] => Some(article),
        _ => None,
    }
}

fn select<'a>(page: &'a Page, selector: &str) -> Vec<ElementRef<'a>> {
    Selector::parse(selector).map(|selector| page.select(&selector).collect()).unwrap_or_default()
}

fn n_chars(blocks: &[Block]) -> usize {
    flatten(blocks).chars().count()
}
