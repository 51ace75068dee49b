//! The front matter of a Markdown file: the part of YAML that declarations need.
//!
//! Block mappings and lists, flow mappings and lists, quoted and plain scalars, block scalars (`|` and `>`) and comments.
//! Anchors, aliases, tags and several documents are refused by name, and so is a key that is there twice.

use serde_json::{Map, Value};

use super::fault::{Parsed, fault};
use super::flow::{Flow, scalar};

/// A file taken apart.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) members: Map<String, Value>,
    /// The line of each member.
    lines: Vec<(String, usize)>,
    /// What follows the front matter, without blank lines around it.
    pub(super) body: String,
}

impl Document {
    /// Takes a file apart.
    pub(super) fn parse(text: &str) -> Parsed<Self> {
        let mut lines = text.lines();
        if lines.next().map(str::trim_end) != Some("---") {
            return fault(
                1,
                "it does not begin with `---`, the line before the front matter",
            );
        }
        let mut front = Vec::new();
        let mut end = None;
        for (place, line) in text.lines().enumerate().skip(1) {
            if line.trim_end() == "---" {
                end = Some(place);
                break;
            }
            if let Some(line) = Line::read(place + 1, line)? {
                front.push(line);
            }
        }
        let Some(end) = end else {
            return fault(1, "the front matter has no end: a line `---` is missing");
        };
        let body: Vec<&str> = text.lines().skip(end + 1).collect();
        let mut reader = Reader {
            lines: front,
            place: 0,
            source: text.lines().collect(),
        };
        let (members, lines) = match reader.lines.first().map(|line| line.indent) {
            None => (Map::new(), Vec::new()),
            Some(0) => reader.mapping(0)?,
            Some(_) => return fault(reader.lines[0].number, "the front matter is indented"),
        };
        if let Some(rest) = reader.lines.get(reader.place) {
            return fault(
                rest.number,
                "this line does not belong to the mapping above it",
            );
        }
        Ok(Self {
            members,
            lines,
            body: body.join("\n").trim().to_owned(),
        })
    }

    /// The line of a member; the first line of the file for one that is missing.
    pub(super) fn line_of(&self, member: &str) -> usize {
        let found = self.lines.iter().find(|(name, _)| name == member);
        found.map_or(1, |(_, line)| *line)
    }
}

/// A line that says something.
#[derive(Debug, Clone)]
struct Line {
    number: usize,
    indent: usize,
    text: String,
}

impl Line {
    fn read(number: usize, line: &str) -> Parsed<Option<Self>> {
        let text = without_comment(line).trim_end();
        let content = text.trim_start_matches(' ');
        if content.is_empty() {
            return Ok(None);
        }
        if content.starts_with('\t') {
            return fault(
                number,
                "a tab indents this line; YAML is indented with spaces",
            );
        }
        Ok(Some(Self {
            number,
            indent: text.len() - content.len(),
            text: content.to_owned(),
        }))
    }
}

/// A `#` begins a comment at the start of a line or after a space, outside quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    let mut escaped = false;
    for (place, letter) in line.char_indices() {
        match (quote, letter) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                before = letter;
                continue;
            }
            (Some(open), _) if letter == open && !escaped => quote = None,
            (None, '"' | '\'') if matches!(before, ' ' | '[' | '{' | ',' | ':') => {
                quote = Some(letter);
            }
            (None, '#') if before == ' ' || before == '\t' => return &line[..place],
            _ => {}
        }
        escaped = false;
        before = letter;
    }
    line
}

/// The members of a mapping, and the line of each.
type Mapping = (Map<String, Value>, Vec<(String, usize)>);

struct Reader<'a> {
    lines: Vec<Line>,
    place: usize,
    /// The lines as they are, for block scalars.
    source: Vec<&'a str>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Line> {
        self.lines.get(self.place)
    }

    fn mapping(&mut self, indent: usize) -> Parsed<Mapping> {
        let mut members = Map::new();
        let mut lines = Vec::new();
        while let Some(line) = self.peek().cloned() {
            if line.indent < indent || (line.indent == indent && is_item(&line.text)) {
                break;
            }
            if line.indent > indent {
                return fault(
                    line.number,
                    "this line is indented more than those before it",
                );
            }
            let Some((key, rest)) = key_of(&line)? else {
                return fault(line.number, "this is not `key: value`");
            };
            if members.contains_key(&key) {
                return fault(line.number, format!("`{key}` is there twice"));
            }
            self.place += 1;
            let value = self.value(line.number, indent, &rest)?;
            lines.push((key.clone(), line.number));
            members.insert(key, value);
        }
        Ok((members, lines))
    }

    fn list(&mut self, indent: usize) -> Parsed<Value> {
        let mut items = Vec::new();
        while let Some(line) = self.peek().cloned() {
            if line.indent != indent || !is_item(&line.text) {
                if line.indent > indent {
                    return fault(
                        line.number,
                        "this line is indented more than those before it",
                    );
                }
                break;
            }
            let rest = line.text[1..].trim_start().to_owned();
            let inner = line.indent + line.text.len() - rest.len();
            let is_mapping = !rest.starts_with(['[', '{', '"', '\''])
                && key_of(&Line {
                    text: rest.clone(),
                    ..line.clone()
                })?
                .is_some();
            if is_mapping || is_item(&rest) {
                // What begins behind the dash continues below it.
                self.lines[self.place] = Line {
                    indent: inner,
                    text: rest,
                    ..line
                };
                items.push(self.block(inner)?);
            } else {
                self.place += 1;
                items.push(self.value(line.number, indent, &rest)?);
            }
        }
        Ok(Value::Array(items))
    }

    fn block(&mut self, indent: usize) -> Parsed<Value> {
        match self.peek() {
            Some(line) if is_item(&line.text) => self.list(indent),
            _ => Ok(Value::Object(self.mapping(indent)?.0)),
        }
    }

    /// What stands behind a key or a dash, or below it.
    fn value(&mut self, number: usize, indent: usize, rest: &str) -> Parsed<Value> {
        match rest.chars().next() {
            None => match self.peek().cloned() {
                Some(next) if next.indent > indent => self.block(next.indent),
                Some(next) if next.indent == indent && is_item(&next.text) => self.list(indent),
                _ => Ok(Value::Null),
            },
            Some('[' | '{') => self.flow(number, rest),
            Some('|' | '>') => Ok(self.block_scalar(number, indent, rest.starts_with('|'))),
            Some('&' | '*' | '!') => {
                fault(number, "anchors, aliases and tags are not supported here")
            }
            Some(_) => scalar(number, rest),
        }
    }

    /// A flow value may go over several lines, which are indented further than the one it begins in.
    fn flow(&mut self, number: usize, rest: &str) -> Parsed<Value> {
        let first = self.source.get(number - 1).copied().unwrap_or_default();
        let indent = first.len() - first.trim_start_matches(' ').len();
        let belongs = |line: &Line| line.indent > indent || line.text.starts_with([']', '}']);
        let mut text = rest.to_owned();
        loop {
            let mut flow = Flow {
                letters: text.chars().collect(),
                place: 0,
                line: number,
            };
            match flow.value() {
                Ok(value) => {
                    flow.skip_blank();
                    if flow.place < flow.letters.len() {
                        return fault(number, "something follows the closing bracket");
                    }
                    return Ok(value);
                }
                Err(wrong) => {
                    let next = self.peek().filter(|line| belongs(line));
                    let (true, Some(next)) = (flow.place >= flow.letters.len(), next) else {
                        return Err(wrong);
                    };
                    text = format!("{text} {}", next.text);
                    self.place += 1;
                }
            }
        }
    }

    fn block_scalar(&mut self, number: usize, indent: usize, keeps_lines: bool) -> Value {
        let below: Vec<&str> = self
            .source
            .iter()
            .skip(number)
            .take_while(|line| {
                let content = line.trim_start_matches(' ');
                content.is_empty() || line.len() - content.len() > indent
            })
            .copied()
            .collect();
        let last = number + below.len();
        while self.peek().is_some_and(|line| line.number <= last) {
            self.place += 1;
        }
        let depth = below
            .iter()
            .filter(|line| !line.trim().is_empty())
            .map(|line| line.len() - line.trim_start_matches(' ').len())
            .min()
            .unwrap_or_default();
        let lines = below
            .iter()
            .map(|line| line.get(depth..).unwrap_or_default());
        let joined = lines
            .collect::<Vec<_>>()
            .join(if keeps_lines { "\n" } else { " " });
        Value::String(joined.trim_end().to_owned())
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// The key of a line and what stands behind it; nothing for a line that has none.
fn key_of(line: &Line) -> Parsed<Option<(String, String)>> {
    let text = &line.text;
    if let Some(quote) = text
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''))
    {
        let mut flow = Flow {
            letters: text.chars().collect(),
            place: 0,
            line: line.number,
        };
        let key = flow.quoted(quote)?;
        let rest: String = flow.letters[flow.place..].iter().collect();
        let Some(rest) = rest.strip_prefix(':') else {
            return Ok(None);
        };
        return Ok(Some((key, rest.trim().to_owned())));
    }
    let end = text
        .find(": ")
        .or_else(|| text.ends_with(':').then(|| text.len() - 1));
    let Some(end) = end else {
        return Ok(None);
    };
    let key = text[..end].trim_end().to_owned();
    Ok(Some((key, text[end + 1..].trim().to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn members(front: &str) -> Value {
        let text = format!("---\n{front}\n---\nbody");
        Value::Object(Document::parse(&text).unwrap().members)
    }

    #[test]
    fn front_matter_and_body_are_told_apart() {
        let text = "---\nid: plan # the first\nturnCap: 5\n---\n\nPlan it.\n\n--- not a border\n";
        let document = Document::parse(text).unwrap();
        assert_eq!(
            document.members,
            *json!({"id": "plan", "turnCap": 5}).as_object().unwrap()
        );
        assert_eq!(document.body, "Plan it.\n\n--- not a border");
        assert_eq!(
            (document.line_of("turnCap"), document.line_of("none")),
            (3, 1)
        );
    }

    #[test]
    fn values_of_every_kind() {
        for (front, value) in [
            ("a: b", json!({"a": "b"})),
            ("a:", json!({"a": null})),
            ("a: 'it''s'", json!({"a": "it's"})),
            ("a: \"x\\ny # z\"", json!({"a": "x\ny # z"})),
            (
                "a: -1.5\nb: true\nc: ~\nd: 1.0.0",
                json!({"a": -1.5, "b": true, "c": null, "d": "1.0.0"}),
            ),
            ("a: [read, 'list', 2]", json!({"a": ["read", "list", 2]})),
            ("a: []\nb: {}", json!({"a": [], "b": {}})),
            (
                "a: {kind: fixed, ms: 100}",
                json!({"a": {"kind": "fixed", "ms": 100}}),
            ),
            ("a: {\"x\": [1,\n  2]}", json!({"a": {"x": [1, 2]}})),
            ("a:\n  - read\n  - list", json!({"a": ["read", "list"]})),
            (
                "a:\n- read\n- b: 1\n  c: 2",
                json!({"a": ["read", {"b": 1, "c": 2}]}),
            ),
            (
                "a:\n  b:\n    c: d\n  e: f",
                json!({"a": {"b": {"c": "d"}, "e": "f"}}),
            ),
            (
                "a: |\n  one\n  two\nb: >\n  three\n  four",
                json!({"a": "one\ntwo", "b": "three four"}),
            ),
            ("a: http://x.y/z", json!({"a": "http://x.y/z"})),
            ("\"a b\": c", json!({"a b": "c"})),
        ] {
            assert_eq!(members(front), value, "{front}");
        }
    }

    #[test]
    fn each_fault_has_its_line() {
        for (text, line, says) in [
            ("id: a", 1, "does not begin"),
            ("---\nid: a", 1, "no end"),
            ("---\nid: a\nid: b\n---", 3, "`id` is there twice"),
            ("---\nid\n---", 2, "not `key: value`"),
            ("---\nid: a\n  b: c\n---", 3, "indented more"),
            ("---\n\tid: a\n---", 2, "a tab"),
            ("---\na: [1, 2\n---", 2, "not closed"),
            ("---\na: \"x\n---", 2, "a quote"),
            ("---\na: &x 1\n---", 2, "anchors"),
            ("---\na: {b 1}\n---", 2, "`:` is missing"),
            ("---\na: [1] 2\n---", 2, "something follows"),
        ] {
            let wrong = Document::parse(text).unwrap_err();
            assert_eq!(wrong.line, line, "{text}: {wrong:?}");
            assert!(wrong.problem.contains(says), "{text}: {wrong:?}");
        }
    }
}
