use super::*;
use crate::markdown;

const SHAPE: Shape = Shape {
    columns: 40,
    unwrapped: false,
    links: false,
};

fn said(rows: &[Row]) -> Vec<String> {
    rows.iter()
        .map(|row| plain(row).trim_end().to_owned())
        .collect()
}

fn rendered(text: &str) -> Vec<String> {
    said(&markdown::render(text, SHAPE))
}

#[test]
fn tui_31_every_element_has_its_shape() {
    assert_eq!(
        rendered("# One\n\ntext *a* **b** `c`\n"),
        ["One", "", "text a b c"]
    );
    assert_eq!(
        rendered("- a\n- b\n  - c\n\n1. x\n2. y\n"),
        ["- a", "- b", "  - c", "", "1. x", "2. y"]
    );
    assert_eq!(rendered("> quoted\n> more\n"), ["> quoted more"]);
    assert_eq!(
        rendered("- [ ] open\n- [x] done\n"),
        ["- [ ] open", "- [x] done"]
    );
    assert_eq!(rendered("<b>raw</b>\n"), ["<b>raw</b>"]);
    assert_eq!(
        rendered("- a long item that does not fit in one row of it\n"),
        ["- a long item that does not fit in one", "  row of it"]
    );
}

#[test]
fn tui_32_code_is_the_source_line_for_line() {
    let long = "x".repeat(90);
    let text = format!("text\n\n```rust\nfn a() {{\n    {long}\n}}\n```\nafter\n");
    let code = format!("    {long}");
    assert_eq!(
        rendered(&text),
        ["text", "", "rust", "fn a() {", &code, "}", "", "after"]
    );
}

#[test]
fn tui_34_a_table_fits_the_width() {
    let text = "| a | b |\n|---|--:|\n| 工具 | 2 |\n";
    assert_eq!(
        rendered(text),
        ["| a    | b |", "|------|---|", "| 工具 | 2 |"]
    );
    let long =
        "| Name | What it does |\n|---|---|\n| x | a rather long text that has to be wrapped |\n";
    let rows = rendered(long);
    assert!(
        rows.len() > 3 && rows.iter().all(|row| row.len() <= 40),
        "{rows:?}"
    );
    let cell = "a text of some length";
    let many = format!(
        "|{}\n|{}\n|{}\n",
        " h |".repeat(6),
        "---|".repeat(6),
        format!(" {cell} |").repeat(6)
    );
    assert_eq!(rendered(&many)[0], format!("h: {cell}"));
}

#[test]
fn tui_35_an_address_is_never_hidden_behind_a_label() {
    assert_eq!(
        rendered("[bank](https://evil.example)"),
        ["bank (https://evil.example)"]
    );
    assert_eq!(rendered("<https://a.example>"), ["https://a.example"]);
}

#[test]
fn tui_28_pieces_give_the_rows_of_the_whole() {
    let text = "# Title\n\nSome *text* that is long enough to be wrapped.\nAnd more.\n\n- one\n- two\n  still two\n\n\
                - three\n\n```sh\nls -l\n\necho\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\nend";
    let whole = rendered(text);
    for size in [1, 2, 3, 7, 50] {
        let mut stream = Stream::default();
        let mut rows = Vec::new();
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            stream.push(&piece.iter().collect::<String>());
            rows.extend(stream.take(SHAPE));
            assert!(stream.tail(SHAPE).len() <= TAIL);
        }
        rows.extend(stream.end(SHAPE));
        assert_eq!(said(&rows), whole, "{size}");
    }
}

#[test]
fn tui_29_finished_pieces_are_committed_while_the_rest_comes() {
    let mut stream = Stream::default();
    stream.push("one paragraph\n\n- item\n- ");
    assert_eq!(said(&stream.take(SHAPE)), ["one paragraph", "", "- item"]);
    stream.push("b\n\n```\nline 1\nline");
    assert_eq!(said(&stream.take(SHAPE)), ["- b", "", "line 1"]);
    assert_eq!(said(&stream.tail(SHAPE)), ["line"]);
    let mut stream = Stream::default();
    stream.push("| a | b |\n|---|---|\n| 1 | 2 |\n");
    assert!(stream.take(SHAPE).is_empty());
    stream.push("\n");
    assert_eq!(stream.take(SHAPE).len(), 3);
}

#[test]
fn tui_30_text_without_a_break_is_committed_by_rows() {
    let mut stream = Stream::default();
    let mut rows = Vec::new();
    for number in 0..4000 {
        stream.push(&format!("word{number} "));
        rows.extend(stream.take(SHAPE));
    }
    assert!(rows.len() > 700);
    rows.extend(stream.end(SHAPE));
    let all = said(&rows).join(" ");
    let expected: Vec<String> = (0..4000).map(|number| format!("word{number}")).collect();
    assert_eq!(all.split_whitespace().collect::<Vec<_>>(), expected);
}

#[test]
fn tui_31_hostile_markdown_is_linear() {
    let text = "[".repeat(50_000) + &"> ".repeat(50_000) + &"*a ".repeat(50_000);
    let rows = markdown::render(&text, SHAPE);
    assert!(!rows.is_empty());
}
