//! Tables as text: a grid that honours merged cells, and its rendering as `| a | b |` rows.

/// Rows of cells, each cell one line of text. Rows may differ in length.
pub(crate) type Rows = Vec<Vec<String>>;

/// A row never has more columns than this; a hostile `colspan` cannot make it.
pub(crate) const MAX_COLUMNS: usize = 512;
/// What repeating merged cells may add to a table: a few bytes of `colspan` and `rowspan` could ask for gigabytes.
const MAX_REPEATED_BYTES: usize = 8_000_000;
/// A longer text stands only in the first place of its merged cell.
const MAX_REPEATED_CELL_BYTES: usize = 600;

/// Places cells with spans on a grid. The text of a merged cell stands in every place it covers: each row then says by
/// itself what it is about.
pub(crate) struct Grid {
    rows: Vec<Vec<Option<String>>>,
    budget: usize,
    /// Cells of earlier rows that reach down: column, rows left, text.
    hanging: Vec<(usize, usize, String)>,
    column: usize,
    /// Whether the current row has a cell of its own that does not reach down.
    has_flat_cell: bool,
    has_cell: bool,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            budget: MAX_REPEATED_BYTES,
            hanging: Vec::new(),
            column: 0,
            has_flat_cell: false,
            has_cell: false,
        }
    }
}

impl Grid {
    pub(crate) fn start_row(&mut self) {
        let mut row = Vec::new();
        for (column, rows_left, text) in &mut self.hanging {
            if !spend(&mut self.budget, text) {
                *rows_left = 0;
                continue;
            }
            set(&mut row, *column, text.clone());
            *rows_left -= 1;
        }
        self.hanging.retain(|(_, rows_left, _)| *rows_left > 0);
        self.rows.push(row);
        self.column = 0;
        self.has_flat_cell = false;
        self.has_cell = false;
    }

    /// Adds a cell to the current row at the first free column.
    pub(crate) fn cell(&mut self, text: &str, n_columns: usize, n_rows: usize) {
        if self.rows.is_empty() {
            self.start_row();
        }
        let Some(row) = self.rows.last_mut() else { return };
        while row.get(self.column).is_some_and(Option::is_some) {
            self.column += 1;
        }
        self.has_cell = true;
        self.has_flat_cell |= n_rows <= 1;
        let repeated = if text.len() > MAX_REPEATED_CELL_BYTES { "" } else { text };
        for i in 0..n_columns.clamp(1, MAX_COLUMNS) {
            if self.column >= MAX_COLUMNS || (i > 0 && !spend(&mut self.budget, repeated)) {
                return;
            }
            set(row, self.column, if i == 0 { text } else { repeated }.to_owned());
            if n_rows > 1 {
                self.hanging.push((self.column, n_rows - 1, repeated.to_owned()));
            }
            self.column += 1;
        }
    }

    /// Leaves places free, as in a row that starts late.
    pub(crate) fn skip(&mut self, n_columns: usize) {
        self.column = self.column.saturating_add(n_columns).min(MAX_COLUMNS);
    }

    /// Adds a cell that continues the one above it.
    pub(crate) fn continue_above(&mut self, n_columns: usize) {
        let above =
            self.rows.len().checked_sub(2).and_then(|row| self.rows[row].get(self.column).cloned()).flatten();
        let text =
            above.filter(|text| text.len() <= MAX_REPEATED_CELL_BYTES && spend(&mut self.budget, text));
        self.cell(&text.unwrap_or_default(), n_columns, 1);
    }

    /// Ends the row. A row of nothing but cells that reach down, and shorter than the table, only announces them: the
    /// rows below repeat them, so it is dropped.
    pub(crate) fn end_row(&mut self) {
        let widest = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let announces = self.has_cell && !self.has_flat_cell && !self.hanging.is_empty();
        if announces && self.rows.last().is_some_and(|row| row.len() < widest) {
            self.rows.pop();
        }
    }

    pub(crate) fn into_rows(self) -> Rows {
        self.rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect()
    }
}

fn spend(budget: &mut usize, text: &str) -> bool {
    let cost = text.len() + 16;
    let affordable = *budget >= cost;
    *budget = budget.saturating_sub(cost);
    affordable
}

fn set(row: &mut Vec<Option<String>>, column: usize, text: String) {
    if column >= MAX_COLUMNS {
        return;
    }
    if row.len() <= column {
        row.resize(column + 1, None);
    }
    row[column] = Some(text);
}

/// A table as text in parts of bounded length; every part but the first repeats the header row.
pub(crate) fn render_parts(rows: &Rows, max_chars: usize) -> Vec<String> {
    let rows: Vec<&Vec<String>> =
        rows.iter().filter(|row| row.iter().any(|cell| !cell.trim().is_empty())).collect();
    let n_columns = rows.iter().map(|row| row.len()).max().unwrap_or(0).min(MAX_COLUMNS);
    let Some((header, body)) = rows.split_first() else { return Vec::new() };
    let head = format!("{}\n{}", render_row(header, n_columns), separator(n_columns));
    let head_chars = head.chars().count();
    let mut parts = Vec::new();
    let mut part = head.clone();
    let mut n_chars = head_chars;
    for row in body {
        let line = render_row(row, n_columns);
        let line_chars = line.chars().count() + 1;
        if n_chars + line_chars > max_chars && n_chars > head_chars {
            parts.push(std::mem::replace(&mut part, head.clone()));
            n_chars = head_chars;
        }
        part.push('\n');
        part.push_str(&line);
        n_chars += line_chars;
    }
    parts.push(part);
    parts
}

/// `| a | b |`, padded to `n_columns`.
pub(crate) fn render_row(row: &[String], n_columns: usize) -> String {
    let mut line = String::from("|");
    for column in 0..n_columns {
        let cell = row.get(column).map_or("", String::as_str);
        line.push(' ');
        line.push_str(&super::blocks::tidy_line(cell).replace('|', "\\|"));
        line.push_str(" |");
    }
    line
}

/// The line between header and body.
pub(crate) fn separator(n_columns: usize) -> String {
    format!("|{}", " --- |".repeat(n_columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[&[(&str, usize, usize)]], expect: &str) {
        let mut grid = Grid::default();
        for row in rows {
            grid.start_row();
            for (text, n_columns, n_rows) in *row {
                grid.cell(text, *n_columns, *n_rows);
            }
            grid.end_row();
        }
        assert_eq!(render_parts(&grid.into_rows(), 10_000).join("\n\n"), expect);
    }

    #[test]
    fn merged_cells_stand_in_every_place_they_cover() {
        check(
            &[&[("a", 1, 1), ("b", 2, 1)], &[("c", 1, 2), ("d", 1, 1), ("e", 1, 1)], &[("f", 2, 1)]],
            "| a | b | b |\n| --- | --- | --- |\n| c | d | e |\n| c | f | f |",
        );
    }

    #[test]
    fn a_row_that_only_announces_a_span_is_dropped() {
        check(
            &[&[("y", 1, 1), ("m", 1, 1)], &[("2025", 1, 3)], &[("Jan", 1, 1)], &[("Feb", 1, 1)]],
            "| y | m |\n| --- | --- |\n| 2025 | Jan |\n| 2025 | Feb |",
        );
    }

    #[test]
    fn short_rows_are_padded_and_pipes_escaped() {
        check(&[&[("a|b", 1, 1), ("c", 1, 1)], &[("d", 1, 1)]], "| a\\|b | c |\n| --- | --- |\n| d |  |");
    }

    #[test]
    fn hostile_spans_stay_bounded() {
        let mut grid = Grid::default();
        for _ in 0..50 {
            grid.start_row();
            grid.cell("x", usize::MAX, usize::MAX);
            grid.end_row();
        }
        assert!(grid.into_rows().iter().all(|row| row.len() <= MAX_COLUMNS));
    }

    #[test]
    fn long_tables_are_cut_between_rows_and_repeat_their_header() {
        let rows: Rows = (0..100).map(|i| vec![format!("row {i}"), "value".to_owned()]).collect();
        let parts = render_parts(&rows, 400);
        assert!(parts.len() > 3);
        assert!(
            parts
                .iter()
                .all(|part| part.starts_with("| row 0 | value |\n| --- | --- |\n") && part.len() <= 400)
        );
    }
}
