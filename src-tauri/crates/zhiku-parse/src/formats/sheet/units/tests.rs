use super::*;

fn units(rows: &[(u32, &[(u32, &str)])]) -> Vec<ParsedUnit> {
    let mut found = Vec::new();
    let mut emit = |unit| {
        found.push(unit);
        Ok(())
    };
    let mut sheet = SheetUnits::new("S", Visibility::Shown, &mut emit);
    for (row, cells) in rows {
        let cells = cells.iter().map(|(column, text)| (*column, (*text).to_owned())).collect();
        sheet.row(*row, cells).expect("taken");
    }
    sheet.finish().expect("finished");
    found
}

fn check(rows: &[(u32, &[(u32, &str)])], expect: &[(&str, &str)]) {
    let found = units(rows);
    let found: Vec<(String, String)> = found
        .into_iter()
        .map(|unit| {
            let Locator::Cells { range, .. } = unit.locator else { panic!("not cells") };
            (range, unit.text)
        })
        .collect();
    let expect: Vec<_> =
        expect.iter().map(|(range, text)| ((*range).to_owned(), (*text).to_owned())).collect();
    assert_eq!(found, expect);
}

#[test]
fn a_title_stands_above_its_table_and_blank_rows_part_tables() {
    check(
        &[
            (0, &[(0, "Stock"), (1, "Stock")]),
            (1, &[(0, "item"), (1, "n")]),
            (2, &[(0, "tile"), (1, "5")]),
            (9, &[(3, "note"), (4, "by")]),
            (10, &[(3, "x"), (4, "y")]),
        ],
        &[(
            "A1:E11",
            "Stock\n\n| item | n |\n| --- | --- |\n| tile | 5 |\n\n| note | by |\n| --- | --- |\n| x | y |",
        )],
    );
}

#[test]
fn rows_behind_a_blank_one_go_on_under_the_same_header() {
    check(
        &[(0, &[(0, "item"), (1, "n")]), (1, &[(0, "a"), (1, "1")]), (5, &[(0, "b"), (1, "2")])],
        &[("A1:B6", "| item | n |\n| --- | --- |\n| a | 1 |\n\n| item | n |\n| --- | --- |\n| b | 2 |")],
    );
}

#[test]
fn every_cell_knows_its_place_and_a_repeated_header_has_none() {
    let found = units(&[
        (0, &[(1, "title")]),
        (2, &[(1, "item"), (2, "a|b")]),
        (3, &[(1, "tile"), (2, "5")]),
        (7, &[(1, "wood"), (2, "6")]),
    ]);
    let [unit] = &found[..] else { panic!("{found:?}") };
    let chars: Vec<char> = unit.text.chars().collect();
    let layout = unit.layout.as_ref().expect("a layout");
    let cells: Vec<(String, String)> = layout
        .lines
        .iter()
        .map(|line| {
            let text = &chars[line.char_start as usize..line.char_end as usize];
            (line.cell_range().expect("cells").to_string(), text.iter().collect())
        })
        .collect();
    let expect = [
        ("B1", "title"),
        ("B3", "item"),
        ("C3", "a\\|b"),
        ("B4", "tile"),
        ("C4", "5"),
        ("B8", "wood"),
        ("C8", "6"),
    ];
    assert_eq!(cells, expect.map(|(place, text)| (place.to_owned(), text.to_owned())));
    assert_eq!(unit.text.matches("| item | a\\|b |").count(), 2);
}

#[test]
fn long_tables_repeat_their_header_in_every_unit() {
    let texts: Vec<String> = (0..1_000).map(|n| format!("row {n}")).collect();
    let cells: Vec<Vec<(u32, &str)>> = texts.iter().map(|text| vec![(0, text.as_str()), (1, "v")]).collect();
    let mut rows: Vec<(u32, &[(u32, &str)])> = vec![(0, &[(0, "item"), (1, "n")])];
    rows.extend(cells.iter().enumerate().map(|(n, cells)| (n as u32 + 1, cells.as_slice())));
    let found = units(&rows);
    assert!(found.len() > 4);
    assert!(found.iter().all(|unit| unit.text.starts_with("| item | n |\n| --- | --- |\n| row ")));
    assert_eq!(found.iter().map(|unit| unit.text.matches("row ").count()).sum::<usize>(), 1_000);
}
