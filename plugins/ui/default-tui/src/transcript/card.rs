//! The card of a tool call: what runs, and what came of it.

use std::time::{Duration, Instant};

use stud_sdk::Value;

use crate::dialog::diff_line;
use crate::text::row::{Look, Row, cut, joined, piece, row};
use crate::text::{escape, width};

/// A preview of arguments is no longer.
const LONGEST_PREVIEW: usize = 100;

/// Rows of output below a card.
const OUTPUT_FIRST: usize = 3;
const OUTPUT_LAST: usize = 2;
const FAILED_LAST: usize = 8;
const DIFF_ROWS: usize = 12;

/// A call, keyed by its id.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) args: Option<Value>,
    pub(crate) chip: Option<String>,
    pub(crate) began: Instant,
    pub(crate) state: State,
    /// What the tool gave, once it is known.
    pub(crate) result: Option<Value>,
    /// What was shown before the call as what it would change.
    pub(crate) preview: Option<String>,
}

/// Where a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    Completed(Option<Duration>),
    Failed(String),
    Cancelled(String),
}

impl Card {
    pub(crate) fn running(id: &str, name: &str, began: Instant) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            args: None,
            chip: None,
            began,
            state: State::Running,
            result: None,
            preview: None,
        }
    }

    /// The row of the call itself.
    pub(crate) fn heading(&self, columns: usize, now: Instant) -> Row {
        let (mark, look) = match &self.state {
            State::Running => ("● ", Look::Accent),
            State::Completed(_) => ("✓ ", Look::Good),
            State::Failed(_) => ("✗ ", Look::Bad),
            State::Cancelled(_) => ("- ", Look::Dim),
        };
        let mut pieces = vec![piece(mark, look)];
        if let Some(chip) = &self.chip {
            pieces.push(piece(format!("{chip} "), Look::Bold));
        }
        pieces.push(piece(escape::line(&self.name).into_owned(), Look::Bold));
        let args = self.args.as_ref().map(preview).unwrap_or_default();
        let end = match &self.state {
            State::Running => {
                let seconds = now.saturating_duration_since(self.began).as_secs();
                if seconds == 0 {
                    String::new()
                } else {
                    format!("  {seconds} s")
                }
            }
            State::Completed(took) => {
                took.map_or_else(String::new, |took| format!("  {}", duration(took)))
            }
            State::Failed(why) => format!("  failed: {}", escape::line(why)),
            State::Cancelled(why) => format!("  cancelled: {}", escape::line(why)),
        };
        let room = columns.saturating_sub(1);
        let taken: usize = pieces.iter().map(|piece| width::of(&piece.content)).sum();
        if !args.is_empty() {
            let most = room.saturating_sub(taken + 2 + width::of(&end).min(room / 2));
            pieces.push(piece(
                format!("  {}", width::cut(&args, most.max(8))),
                Look::Plain,
            ));
        }
        pieces.push(piece(end, Look::Dim));
        cut(&joined(pieces), room)
    }

    /// All rows of a call that has ended.
    pub(crate) fn rows(&self, columns: usize, now: Instant) -> Vec<Row> {
        let room = columns.saturating_sub(3);
        let below = if let Some((path, diff)) = self.diff() {
            diff_rows(&path, &diff)
        } else if let Some(result) = &self.result {
            let is_failed = matches!(self.state, State::Failed(_));
            output_rows(&output_of(result), is_failed)
        } else {
            Vec::new()
        };
        let below = below.into_iter().map(|below| {
            let mut spans = vec![piece("  ", Look::Plain)];
            spans.extend(cut(&below, room).spans);
            joined(spans)
        });
        std::iter::once(self.heading(columns, now))
            .chain(below)
            .collect()
    }

    /// The file that the call changed and how, as a unified diff.
    fn diff(&self) -> Option<(String, String)> {
        if !matches!(self.state, State::Completed(_)) {
            return None;
        }
        let result = self.result.as_ref().map(|result| &result["result"]);
        let diff = result
            .and_then(|result| result["diff"].as_str())
            .or(self.preview.as_deref())?;
        let path = result
            .and_then(|result| result["path"].as_str())
            .or_else(|| self.args.as_ref()?["path"].as_str());
        Some((path.unwrap_or_default().to_owned(), diff.to_owned()))
    }
}

/// `key=<JSON>` for each argument.
pub(crate) fn preview(args: &Value) -> String {
    let text = match args {
        Value::Object(args) => {
            let parts = args.iter().map(|(key, value)| format!("{key}={value}"));
            parts.collect::<Vec<_>>().join(", ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let text = match text.char_indices().nth(LONGEST_PREVIEW) {
        Some(_) => {
            let kept: String = text.chars().take(LONGEST_PREVIEW - 1).collect();
            kept + "…"
        }
        None => text,
    };
    escape::line(&text).into_owned()
}

/// What a tool gave, as text.
pub(crate) fn output_of(result: &Value) -> String {
    if let Some(message) = result["error"]["message"].as_str() {
        return message.to_owned();
    }
    match &result["result"] {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let texts = ["output", "stdout", "text", "content"];
            let text = texts.iter().find_map(|name| members.get(*name)?.as_str());
            match (text, members.get("stderr").and_then(Value::as_str)) {
                (Some(text), Some(errors)) if !errors.is_empty() => format!("{text}\n{errors}"),
                (Some(text), _) => text.to_owned(),
                (None, _) => result["result"].to_string(),
            }
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn output_rows(output: &str, is_failed: bool) -> Vec<Row> {
    let output = escape::tool_output(output);
    let lines: Vec<&str> = output.trim_end_matches('\n').split('\n').collect();
    let faint = |line: &&str| row((*line).to_owned(), Look::Dim);
    if lines.iter().all(|line| line.trim().is_empty()) {
        return Vec::new();
    }
    if is_failed {
        let from = lines.len().saturating_sub(FAILED_LAST);
        return lines[from..].iter().map(faint).collect();
    }
    if lines.len() <= OUTPUT_FIRST + OUTPUT_LAST + 1 {
        return lines.iter().map(faint).collect();
    }
    let hidden = lines.len() - OUTPUT_FIRST - OUTPUT_LAST;
    let mut rows: Vec<Row> = lines[..OUTPUT_FIRST].iter().map(faint).collect();
    rows.push(row(format!("… {hidden} lines, Ctrl-T"), Look::Dim));
    rows.extend(lines[lines.len() - OUTPUT_LAST..].iter().map(faint));
    rows
}

fn diff_rows(path: &str, diff: &str) -> Vec<Row> {
    let changed = |line: &&str| {
        let is_heading = line.starts_with("---") || line.starts_with("+++");
        !is_heading && line.starts_with(['+', '-', ' '])
    };
    let lines: Vec<&str> = diff.lines().filter(changed).collect();
    let count = |sign: char| lines.iter().filter(|line| line.starts_with(sign)).count();
    let facts = format!("{} +{} -{}", escape::line(path), count('+'), count('-'));
    let mut rows = vec![row(facts, Look::Bold)];
    rows.extend(lines.iter().take(DIFF_ROWS).map(|line| diff_line(line)));
    if lines.len() > DIFF_ROWS {
        rows.push(row(
            format!("… {} lines, Ctrl-T", lines.len() - DIFF_ROWS),
            Look::Dim,
        ));
    }
    rows
}

/// A time as a person says it.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_millis() {
        millis @ 0..1000 => format!("{millis} ms"),
        millis @ 1000..60_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        millis => format!("{}:{:02}", millis / 60_000, millis / 1000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use stud_sdk::json;

    use super::*;
    use crate::text::row::plain;

    fn said(card: &Card) -> Vec<String> {
        card.rows(80, card.began).iter().map(plain).collect()
    }

    #[test]
    fn tui_37_the_preview_of_arguments() {
        assert_eq!(preview(&json!({"path": "a", "n": 2})), "n=2, path=\"a\"");
        assert_eq!(preview(&json!({})), "");
        let long = preview(&json!({"text": "x".repeat(200)}));
        assert_eq!(
            (long.chars().count(), long.chars().last()),
            (100, Some('…'))
        );
        let exact = preview(&json!({"t": "x".repeat(96)}));
        assert_eq!((exact.chars().count(), exact.ends_with('"')), (100, true));
    }

    #[test]
    fn tui_38_a_card_shows_the_ends_of_its_output() {
        let mut card = Card::running("1", "bash", Instant::now());
        card.state = State::Completed(Some(Duration::from_millis(12)));
        let output: Vec<String> = (1..=9).map(|line| format!("line {line}")).collect();
        card.result = Some(json!({"ok": true, "result": output.join("\n")}));
        assert_eq!(
            said(&card),
            [
                "✓ bash  12 ms",
                "  line 1",
                "  line 2",
                "  line 3",
                "  … 4 lines, Ctrl-T",
                "  line 8",
                "  line 9"
            ]
        );
        card.state = State::Failed("ToolTerminal/CommandRejected".to_owned());
        assert_eq!(said(&card).len(), 9);
        assert_eq!(said(&card)[1], "  line 2");
    }

    #[test]
    fn tui_39_a_change_of_a_file_is_a_diff_that_reads_without_color() {
        let mut card = Card::running("1", "edit", Instant::now());
        card.state = State::Completed(None);
        let diff = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\n";
        card.result = Some(json!({"ok": true, "result": {"path": "src/a.rs", "diff": diff}}));
        assert_eq!(
            said(&card)[1..],
            ["  src/a.rs +1 -1", "  -old", "  +new", "   same"]
        );
    }

    #[test]
    fn tui_21_hostile_output_is_written_out() {
        let mut card = Card::running("1", "bash\u{1b}[2J", Instant::now());
        card.state = State::Completed(None);
        card.result = Some(json!({"ok": true, "result": "a\u{1b}]0;x\u{7}\u{1b}[31mb"}));
        let said = said(&card).join("\n");
        assert!(
            !said.contains('\u{1b}') && said.contains("\\u{1b}]0;x\\u{7}b"),
            "{said}"
        );
    }
}
