//! JSON text seen as places: where a pointer leads, and how a document looks one member per line.
//!
//! Works on tokens, never on a tree: a document may be deep, large or malformed.

use std::borrow::Cow;
use std::ops::Range;

/// The longest line kept, in bytes.
pub(crate) const LINE_LIMIT: usize = 2000;

/// The deepest indentation, in levels; deeper lines start where these do.
const INDENT_LIMIT: usize = 32;

/// The bytes of the value under `pointer`, or of its nearest parent that exists.
///
/// A member whose value is an object or an array is shown from its key on.
pub(crate) fn locate(text: &str, pointer: &str) -> Range<usize> {
    let Some(root) = token(text, 0) else {
        return 0..0;
    };
    let mut shown = root.start;
    let mut value = root.start;
    for segment in pointer.split('/').skip(1) {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        let found = match text.as_bytes().get(value) {
            Some(b'{') => member(text, value, &segment),
            Some(b'[') => element(text, value, &segment).map(|at| (at, at)),
            _ => None,
        };
        let Some((key, at)) = found else { break };
        let container = matches!(text.as_bytes().get(at), Some(b'{' | b'['));
        shown = if container { key } else { at };
        value = at;
    }
    shown..value_end(text, value)
}

/// The starts of a member's key and of its value.
fn member(text: &str, object: usize, name: &str) -> Option<(usize, usize)> {
    let mut at = object + 1;
    loop {
        let key = token(text, at)?;
        let colon = token(text, key.end).filter(|colon| &text[colon.clone()] == ":")?;
        let value = token(text, colon.end)?.start;
        if unquoted(&text[key.clone()])? == name {
            return Some((key.start, value));
        }
        let comma = token(text, value_end(text, value))?;
        (&text[comma.clone()] == ",").then_some(())?;
        at = comma.end;
    }
}

/// The start of an array's element.
fn element(text: &str, array: usize, index: &str) -> Option<usize> {
    let index: usize = index.parse().ok()?;
    let mut at = array + 1;
    for _ in 0..index {
        let comma = token(text, value_end(text, token(text, at)?.start))?;
        (&text[comma.clone()] == ",").then_some(())?;
        at = comma.end;
    }
    let value = token(text, at)?;
    (&text[value.clone()] != "]").then_some(value.start)
}

fn unquoted(key: &str) -> Option<Cow<'_, str>> {
    if key.contains('\\') {
        serde_json::from_str(key).ok().map(Cow::Owned)
    } else {
        let inner = key.strip_prefix('"')?.strip_suffix('"')?;
        Some(Cow::Borrowed(inner))
    }
}

/// Where the value that starts at `at` ends.
fn value_end(text: &str, at: usize) -> usize {
    let mut depth = 0_usize;
    let mut end = at;
    while let Some(next) = token(text, end) {
        end = next.end;
        match text.as_bytes()[next.start] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    end
}

/// The first token at or after `at`: a string, a sign, or a run of anything else.
fn token(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = at + bytes.get(at..)?.iter().position(|byte| !is_space(*byte))?;
    let end = match bytes[start] {
        b'"' => string_end(bytes, start),
        sign if is_sign(sign) => start + 1,
        _ => bytes[start..]
            .iter()
            .position(|byte| is_space(*byte) || is_sign(*byte) || *byte == b'"')
            .map_or(bytes.len(), |length| start + length),
    };
    Some(start..end)
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The nearest character boundary at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_sign(byte: u8) -> bool {
    matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':')
}

/// Some lines of a document, and where its marked bytes went.
pub(crate) struct LaidOut {
    pub(crate) text: String,
    pub(crate) first_line: usize,
    /// In the order of the marks; nothing where a mark starts outside the lines kept.
    pub(crate) marks: Vec<Option<Range<usize>>>,
}

/// Lays a document out one member per line, keeping `reach` lines around the first mark.
pub(crate) fn lay_out(text: &str, marks: &[Range<usize>], reach: usize) -> LaidOut {
    let middle = Layout::run(text, marks, 0..0).first_mark_line;
    let first_line = middle.saturating_sub(reach).max(1);
    let laid_out = Layout::run(text, marks, first_line..middle + reach + 1);
    let end = laid_out.text.len();
    LaidOut {
        text: laid_out.text,
        first_line,
        marks: laid_out
            .marks
            .into_iter()
            .map(|(start, stop)| Some(start?..stop.unwrap_or(end)))
            .collect(),
    }
}

struct Layout {
    keep: Range<usize>,
    line: usize,
    line_start: usize,
    first_mark_line: usize,
    text: String,
    marks: Vec<(Option<usize>, Option<usize>)>,
}

impl Layout {
    fn run(text: &str, marks: &[Range<usize>], keep: Range<usize>) -> Self {
        let mut layout = Self {
            keep,
            line: 1,
            line_start: 0,
            first_mark_line: 1,
            text: String::new(),
            marks: vec![(None, None); marks.len()],
        };
        let mut depth = 0_usize;
        let mut before = b' ';
        let mut at = 0;
        while let Some(next) = token(text, at) {
            at = next.end;
            let sign = text.as_bytes()[next.start];
            let opened = matches!(before, b'{' | b'[');
            let closes = matches!(sign, b'}' | b']');
            if closes {
                depth = depth.saturating_sub(1);
            }
            if before == b',' || opened != closes {
                layout.break_line(depth);
            } else if before != b' ' && !matches!(sign, b',' | b':') && !closes {
                layout.push(" ");
            }
            layout.start(marks, next.start);
            layout.push(&text[next.clone()]);
            layout.stop(marks, next.end);
            if matches!(sign, b'{' | b'[') {
                depth += 1;
            }
            before = sign;
        }
        layout
    }

    fn kept(&self) -> bool {
        self.keep.contains(&self.line)
    }

    fn break_line(&mut self, depth: usize) {
        if self.kept() && self.line + 1 < self.keep.end {
            self.text.push('\n');
        }
        self.line += 1;
        self.line_start = self.text.len();
        for _ in 0..depth.min(INDENT_LIMIT) {
            self.push("  ");
        }
    }

    fn push(&mut self, piece: &str) {
        if self.kept() {
            let room = LINE_LIMIT.saturating_sub(self.text.len() - self.line_start);
            self.text.push_str(&piece[..floor(piece, room)]);
        }
    }

    fn start(&mut self, marks: &[Range<usize>], at: usize) {
        for (index, mark) in marks.iter().enumerate() {
            if mark.start == at && index == 0 {
                self.first_mark_line = self.line;
            }
            if mark.start == at && self.kept() {
                self.marks[index].0 = Some(self.text.len());
            }
        }
    }

    fn stop(&mut self, marks: &[Range<usize>], at: usize) {
        for (index, mark) in marks.iter().enumerate() {
            if mark.end == at && self.kept() {
                self.marks[index].1 = Some(self.text.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE_LIMIT, lay_out, locate};

    fn check_locate(text: &str, pointer: &str, found: &str) {
        assert_eq!(&text[locate(text, pointer)], found, "{pointer} in {text}");
    }

    #[test]
    fn a_pointer_leads_to_the_value() {
        let text = r#"{"a": {"b~c/d": [10, "x", {"e": null}]}, "f\u0067": 1}"#;
        check_locate(text, "", text);
        check_locate(text, "/a/b~0c~1d/1", "\"x\"");
        check_locate(text, "/a/b~0c~1d/2/e", "null");
        check_locate(text, "/fg", "1");
    }

    #[test]
    fn a_container_is_shown_from_its_key_on() {
        check_locate(r#"{"a": [1]}"#, "/a", r#""a": [1]"#);
    }

    #[test]
    fn a_pointer_to_nothing_leads_to_the_nearest_parent() {
        let text = r#"{"a": {"b": [1]}}"#;
        check_locate(text, "/a/b/7", r#""b": [1]"#);
        check_locate(text, "/a/z/q", r#""a": {"b": [1]}"#);
        check_locate(text, "/z", text);
        check_locate(text, "/", text);
        check_locate("[]", "/0", "[]");
        check_locate("", "/0", "");
    }

    #[test]
    fn malformed_text_is_survived() {
        for text in ["{", "{\"a", "[1,", "{\"a\":}", "}}}", "\"\\", "{1:2}", "é{"] {
            for pointer in ["", "/a", "/0", "/a/b"] {
                lay_out(text, &[locate(text, pointer)], 2);
            }
        }
    }

    #[test]
    fn the_layout_is_one_member_per_line() {
        let text = r#"{"a":[1,{}, []],"b" : {"c":"d, e: {"}}"#;
        let pretty = "{\n  \"a\": [\n    1,\n    {},\n    []\n  ],\n  \"b\": {\n    \"c\": \"d, e: {\"\n  }\n}";
        let laid_out = lay_out(text, &[locate(text, "/b/c"), locate(text, "/a/1")], 60);
        assert_eq!(laid_out.text, pretty);
        let marked: Vec<_> = laid_out
            .marks
            .into_iter()
            .map(|mark| &pretty[mark.expect("it was kept")])
            .collect();
        assert_eq!(marked, ["\"d, e: {\"", "{}"]);
    }

    #[test]
    fn the_layout_is_the_one_of_serde_json() {
        let value = serde_json::json!({"a": [1, {"b": []}, "x"], "c": {}, "d": {"e": {"f": null}}});
        let pretty = serde_json::to_string_pretty(&value).expect("it is JSON");
        let text = value.to_string();
        assert_eq!(lay_out(&text, &[locate(&text, "")], 60).text, pretty);
    }

    #[test]
    fn only_the_neighborhood_is_kept() {
        let text = format!("[{}9]", "1,".repeat(500_000));
        let laid_out = lay_out(&text, &[locate(&text, "/400000")], 3);
        assert_eq!(laid_out.first_line, 399_999);
        assert_eq!(laid_out.text, ["  1,"; 7].join("\n"));
        assert_eq!(laid_out.marks, [Some(3 * 5 + 2..3 * 5 + 3)]);
    }

    #[test]
    fn deep_nesting_and_long_lines_stay_small() {
        let text = "[".repeat(200_000);
        assert!(lay_out(&text, &[locate(&text, "/0/0/0")], 60).text.len() < 10_000);
        let text = format!("{{\"a\":\"{}\"}}", "é".repeat(100_000));
        assert!(lay_out(&text, &[locate(&text, "/a")], 60).text.len() <= LINE_LIMIT + 4);
    }
}
