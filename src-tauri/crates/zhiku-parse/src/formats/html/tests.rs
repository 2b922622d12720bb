use super::*;
use crate::parser::ParsedDocument;

fn parse(html: &[u8]) -> ParsedDocument {
    let mut document = ParsedDocument::default();
    Html.parse(&Source::new(html, "a.html"), &mut document).expect("a page");
    document
}

fn check(html: &str, expect: &str) {
    let document = parse(html.as_bytes());
    let found: Vec<_> = document.units.iter().map(|unit| unit.text.as_str()).collect();
    assert_eq!(found.join("\n\n"), expect);
    let source = Source::new(html.as_bytes(), "a.html");
    for unit in &document.units {
        assert_eq!(Html.read_at(&source, &unit.locator).as_ref(), Ok(&unit.text));
    }
}

#[test]
fn main_content_is_kept_and_the_rest_of_the_page_is_not() {
    check(
        "<html><head><title>T</title><style>p{}</style></head><body><header>Site</header><nav>Home About</nav>\
         <div class='sidebar'>Ads</div><main><h1>Rule</h1><p>Five years.</p><p hidden>no</p>\
         <p style='display: none'>no</p><script>no()</script></main><footer>© 2024</footer></body></html>",
        "# Rule\n\nFive years.",
    );
}

#[test]
fn a_page_that_is_only_navigation_is_kept_whole() {
    check("<body><nav><ul><li><a href='/a'>A</a></li><li>B</li></ul></nav></body>", "- A\n- B");
}

#[test]
fn lists_nest_and_count() {
    check(
        "<ol start=3><li>a<ul><li>b</li><li><p>c</p><p>d</p></li></ul></li><li>e</ol><dl><dt>t<dd>f</dl>",
        "3. a\n  - b\n  - c\n    d\n4. e\n- t\n  f",
    );
}

#[test]
fn breaks_entities_and_inline_marks_become_text() {
    check(
        "<p>a<br>b &amp; c&nbsp;d &#20013;<b>e</b>f <a href='http://x'>g</a> H<sub>2</sub>O<img src=x alt='a chart'></p>",
        "a\nb & c d 中ef g H2O a chart",
    );
}

#[test]
fn tables_repeat_merged_cells_and_flatten_what_is_in_them() {
    check(
        "<table><caption>Cap</caption><tr><th>a<th colspan=2>b</tr><tr><td rowspan=2>c<td>d<td><ul><li>e<li>f</ul></tr>\
         <tr><td colspan=2><table><tr><td>g<td>h</tr></table></tr></table>",
        "Cap\n\n| a | b | b |\n| --- | --- | --- |\n| c | d | - e - f |\n| c | g h | g h |",
    );
}

#[test]
fn layout_tables_are_no_tables() {
    check("<table><tr><td><h1>A</h1><p>x</p></td></tr></table>", "# A\n\nx");
    check("<table role=presentation><tr><td>x</td><td>y</td></tr></table>", "x\n\ny");
}

#[test]
fn code_keeps_its_lines() {
    check("<pre><code>a\n  b\n</code></pre>", "```\na\n  b\n```");
}

#[test]
fn the_charset_is_taken_from_the_page_or_from_its_bytes() {
    for html in [
        "<html><head><meta charset=gb2312></head><body>价格表</body></html>",
        "<html><head><meta http-equiv='Content-Type' content='text/html; charset=gbk'></head><body>价格表</body></html>",
        "<html><body>请于周五前提交报销单据。</body></html>",
    ] {
        let (bytes, _, _) = encoding_rs::GBK.encode(html);
        let text = parse(&bytes).units[0].text.clone();
        assert!(html.contains(&text), "{text}");
    }
}

#[test]
fn ten_thousand_nested_elements_do_not_overflow_the_stack() {
    for (tag, depth) in [("div", 10_000), ("ul><li", 1_500), ("b", 10_000), ("table><tr><td", 1_500)] {
        let html = format!("{}deep", format!("<{tag}>").repeat(depth));
        let document = parse(html.as_bytes());
        assert!(document.units.iter().any(|unit| unit.text.contains("deep")), "{tag}");
    }
}
