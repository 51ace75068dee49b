//! Values in brackets, quotes or plain, on one line or several.

use serde_json::{Map, Number, Value};

use super::fault::{Parsed, fault};

pub(super) fn scalar(line: usize, text: &str) -> Parsed<Value> {
    if let Some(quote) = text
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''))
    {
        let mut flow = Flow {
            letters: text.chars().collect(),
            place: 0,
            line,
        };
        let value = flow.quoted(quote)?;
        if flow.place < flow.letters.len() {
            return fault(line, "something follows the closing quote");
        }
        return Ok(Value::String(value));
    }
    Ok(plain(text))
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => {
            let digits = text.trim_start_matches('-');
            let is_number = digits.starts_with(|first: char| first.is_ascii_digit());
            let number = is_number.then(|| text.parse::<Number>().ok()).flatten();
            number.map_or_else(|| Value::String(text.to_owned()), Value::Number)
        }
    }
}

/// A value in brackets or quotes.
pub(super) struct Flow {
    pub(super) letters: Vec<char>,
    pub(super) place: usize,
    pub(super) line: usize,
}

impl Flow {
    fn next(&mut self) -> Option<char> {
        let letter = self.letters.get(self.place).copied();
        self.place += usize::from(letter.is_some());
        letter
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.place).copied()
    }

    pub(super) fn skip_blank(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.place += 1;
        }
    }

    pub(super) fn value(&mut self) -> Parsed<Value> {
        self.skip_blank();
        match self.peek() {
            Some('[') => self.list(),
            Some('{') => self.mapping(),
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(Value::String),
            Some('&' | '*' | '!') => fault(
                self.line,
                "anchors, aliases and tags are not supported here",
            ),
            Some(_) => Ok(plain(self.plain_text(false).trim())),
            None => fault(self.line, "a bracket is not closed"),
        }
    }

    fn list(&mut self) -> Parsed<Value> {
        self.place += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            if self.peek() == Some(']') {
                self.place += 1;
                return Ok(Value::Array(items));
            }
            items.push(self.value()?);
            self.skip_blank();
            match self.next() {
                Some(',') => {}
                Some(']') => return Ok(Value::Array(items)),
                Some(_) => return fault(self.line, "`,` or `]` is missing"),
                None => return fault(self.line, "a bracket is not closed"),
            }
        }
    }

    fn mapping(&mut self) -> Parsed<Value> {
        self.place += 1;
        let mut members = Map::new();
        loop {
            self.skip_blank();
            if self.peek() == Some('}') {
                self.place += 1;
                return Ok(Value::Object(members));
            }
            let key = match self.peek() {
                Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
                _ => self.plain_text(true).trim().to_owned(),
            };
            self.skip_blank();
            match self.next() {
                Some(':') => {}
                Some(_) => return fault(self.line, format!("`:` is missing after `{key}`")),
                None => return fault(self.line, "a bracket is not closed"),
            }
            let value = self.value()?;
            if members.insert(key.clone(), value).is_some() {
                return fault(self.line, format!("`{key}` is there twice"));
            }
            self.skip_blank();
            match self.next() {
                Some(',') => {}
                Some('}') => return Ok(Value::Object(members)),
                Some(_) => return fault(self.line, "`,` or `}` is missing"),
                None => return fault(self.line, "a bracket is not closed"),
            }
        }
    }

    fn plain_text(&mut self, is_key: bool) -> String {
        let mut text = String::new();
        while let Some(letter) = self.peek() {
            let ends = matches!(letter, ',' | ']' | '}') || (is_key && letter == ':');
            if ends {
                break;
            }
            text.push(letter);
            self.place += 1;
        }
        text
    }

    pub(super) fn quoted(&mut self, quote: char) -> Parsed<String> {
        self.place += 1;
        let mut text = String::new();
        while let Some(letter) = self.next() {
            match letter {
                _ if letter == quote => {
                    // Two single quotes are one.
                    if quote == '\'' && self.peek() == Some('\'') {
                        self.place += 1;
                        text.push('\'');
                        continue;
                    }
                    return Ok(text);
                }
                '\\' if quote == '"' => text.push(self.escape()?),
                _ => text.push(letter),
            }
        }
        fault(self.line, "a quote is not closed")
    }

    fn escape(&mut self) -> Parsed<char> {
        match self.next() {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some('0') => Ok('\0'),
            Some(plain @ ('"' | '\\' | '/' | ' ')) => Ok(plain),
            Some('u') => {
                let end = (self.place + 4).min(self.letters.len());
                let digits: String = self.letters[self.place..end].iter().collect();
                self.place = end;
                let code = u32::from_str_radix(&digits, 16)
                    .ok()
                    .and_then(char::from_u32);
                code.map_or_else(
                    || fault(self.line, "`\\u` needs four hexadecimal digits"),
                    Ok,
                )
            }
            _ => fault(self.line, "this escape is not known"),
        }
    }
}
