//! Lines up text in columns, for what commands show.
#![forbid(unsafe_code)]

use unicode_width::UnicodeWidthStr as _;

/// One line for each row, with the cells of a column below one another. The last column is as long as it likes.
///
/// ```
/// let rows = vec![vec!["a".to_owned(), "one".to_owned()], vec!["long".to_owned(), "two".to_owned()]];
/// assert_eq!(columns::lined_up(&rows), "a     one\nlong  two");
/// ```
pub fn lined_up(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let lines = rows.iter().map(|row| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            let gap = width.saturating_sub(cell.width()) + 2;
            line.extend(std::iter::repeat_n(' ', gap));
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `1 turn`, `2 turns`.
///
/// ```
/// assert_eq!(columns::counted(1, "message"), "1 message");
/// assert_eq!(columns::counted(0, "message"), "0 messages");
/// ```
pub fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_and_empty_cells_keep_their_place() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let rows: Vec<Vec<String>> = vec![row(&["é", "", "end"]), row(&["ab", "x"]), row(&[])];
        assert_eq!(lined_up(&rows), "é      end\nab  x\n");
        assert_eq!(lined_up(&[]), "");
    }

    #[test]
    fn a_cell_is_as_wide_as_it_is_on_a_terminal() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let wide: Vec<Vec<String>> = vec![row(&["日本", "a"]), row(&["e\u{301}", "b"])];
        assert_eq!(lined_up(&wide), "日本  a\ne\u{301}     b");
    }
}
