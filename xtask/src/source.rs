//! Just enough of Rust's grammar to look at code and not at comments, strings or tests.

use std::ops::Range;

/// The code of a file: comments and literals become spaces, so that every
/// offset and line number stays what it was.
pub(crate) fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let word = word_len(bytes, at);
        let literal = match &bytes[at..at + word] {
            b"r" | b"br" | b"cr" => raw_string_end(bytes, at + word),
            b"" | b"b" | b"c" => literal_end(bytes, at + word),
            _ => None,
        };
        let end = comment_end(bytes, at).or(literal);
        if let Some(end) = end {
            blank(&mut code[at..end]);
        }
        at = end.unwrap_or(at + word.max(1));
    }
    // Whole characters were replaced by ASCII, so the text is still valid.
    String::from_utf8(code).unwrap_or_default()
}

/// Code without the items that only exist in tests; lines stay in place.
pub(crate) fn without_tests(code: &str) -> String {
    let mut kept = code.as_bytes().to_vec();
    for range in test_items(code) {
        blank(&mut kept[range]);
    }
    String::from_utf8(kept).unwrap_or_default()
}

/// Where the items that only exist in tests are, their attribute included.
pub(crate) fn test_items(code: &str) -> Vec<Range<usize>> {
    const OPEN: &str = "#[cfg(";
    let mut items = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find(OPEN) {
        let start = from + found;
        let Some(close) = code[start..].find(']') else {
            break;
        };
        from = start + close + 1;
        if is_test_condition(&code[start + OPEN.len()..from]) {
            from = item_end(code.as_bytes(), from);
            items.push(start..from);
        }
    }
    items
}

/// Whether code under this condition is compiled for tests only.
fn is_test_condition(condition: &str) -> bool {
    let has = |name: &str| words(condition).any(|(_, word)| word == name);
    has("test") && !has("not") && !has("any")
}

/// Whether the whole file is test code: `tests.rs`, or anything in a `tests` folder.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.split('/')
        .any(|part| part == "tests" || part == "tests.rs")
}

/// The identifiers and keywords of code, with where they start.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = code.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            let len = word_len(bytes, at);
            at += len.max(1);
            if len > 0 {
                return Some((start, &code[start..start + len]));
            }
        }
        None
    })
}

/// The line number, from 1, that holds the offset.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_len(bytes: &[u8], at: usize) -> usize {
    bytes[at..]
        .iter()
        .take_while(|byte| is_word(**byte))
        .count()
}

fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        let len = rest.iter().position(|byte| *byte == b'\n');
        return Some(len.map_or(bytes.len(), |len| at + len));
    }
    if !rest.starts_with(b"/*") {
        return None;
    }
    let (mut depth, mut end) = (0_usize, at);
    while end < bytes.len() {
        if bytes[end..].starts_with(b"/*") {
            depth += 1;
            end += 2;
        } else if bytes[end..].starts_with(b"*/") {
            depth -= 1;
            end += 2;
            if depth == 0 {
                return Some(end);
            }
        } else {
            end += 1;
        }
    }
    Some(bytes.len())
}

fn literal_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => Some(quoted_end(bytes, at + 1, b'"')),
        b'\'' if bytes.get(at + 1) == Some(&b'\\') => Some(quoted_end(bytes, at + 1, b'\'')),
        b'\'' => {
            // `'a'` is a character and `'a` a lifetime: only the first is
            // closed after one character, which may be several bytes long.
            let text = std::str::from_utf8(bytes.get(at + 1..)?).ok()?;
            let end = at + 1 + text.chars().next()?.len_utf8();
            (bytes.get(end) == Some(&b'\'')).then_some(end + 1)
        }
        _ => None,
    }
}

fn quoted_end(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn raw_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at..].iter().take_while(|byte| **byte == b'#').count();
    if bytes.get(at + hashes) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let body = at + hashes + 1;
    let len = bytes[body..]
        .windows(close.len())
        .position(|window| window == close);
    Some(len.map_or(bytes.len(), |len| body + len + close.len()))
}

/// Where the item that starts at or after `at` ends, its attributes included.
fn item_end(code: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.iter().enumerate().skip(at) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' if depth == 0 => return offset,
            b')' | b']' => depth -= 1,
            b'}' => {
                depth -= 1;
                let next = code[offset + 1..]
                    .iter()
                    .find(|byte| !byte.is_ascii_whitespace());
                // `use a::{b};` continues to its semicolon.
                if depth == 0 && next != Some(&b';') {
                    return offset + 1;
                }
            }
            b';' if depth == 0 => return offset + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::{code_only, is_test_file, line_at, without_tests, words};

    fn words_of(text: &str) -> Vec<String> {
        words(&code_only(text))
            .map(|(_, word)| word.to_owned())
            .collect()
    }

    #[test]
    fn comments_are_not_code() {
        assert_eq!(words_of("a // b\n/* c /* d */ e */ f"), ["a", "f"]);
        assert_eq!(words_of("/// b\nfn a"), ["fn", "a"]);
    }

    #[test]
    fn literals_are_not_code() {
        assert_eq!(words_of(r#"a("b \" c", d)"#), ["a", "d"]);
        assert_eq!(words_of(r##"a(r#"b " c"#, br"d", b"e", c"f")"##), ["a"]);
        assert_eq!(words_of(r"a('b', '\'', b'c', 'é', d)"), ["a", "d"]);
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        assert_eq!(
            words_of("fn a<'b>(x: &'b str) {}"),
            ["fn", "a", "b", "x", "b", "str"]
        );
        assert_eq!(words_of("r#type"), ["r", "type"]);
        assert_eq!(words_of(r#"for_r("x")"#), ["for_r"]);
    }

    #[test]
    fn offsets_and_lines_stay() {
        let text = "\"é\nb\"\nfn c";
        let code = code_only(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(line_at(&code, code.find("fn").unwrap()), 3);
    }

    #[test]
    fn test_items_are_left_out_and_what_follows_stays() {
        let code = without_tests(
            "#[cfg(test)]\nuse a::{b};\nfn c() {}\n#[cfg(test)]\n#[path = 1]\nmod d { fn e() {} }\nfn f() {}",
        );
        let words: Vec<_> = words(&code).map(|(_, word)| word).collect();
        assert_eq!(words, ["fn", "c", "fn", "f"]);
        assert_eq!(code.lines().count(), 7);
    }

    #[test]
    fn only_conditions_that_need_a_test_build_count() {
        let left = |condition: &str| {
            let text = format!("#[cfg({condition})]\nfn a() {{}}\nfn b() {{}}");
            words(&without_tests(&code_only(&text))).count()
        };
        assert_eq!(left("test"), 2);
        assert_eq!(left("all(test, feature = \"x\")"), 2);
        assert_eq!(left("not(test)"), 7);
        assert_eq!(left("any(test, feature = \"x\")"), 8);
    }

    #[test]
    fn a_test_declaration_ends_at_its_semicolon() {
        let code = without_tests("#[cfg(test)]\nmod tests;\nfn a() {}");
        assert_eq!(code.trim(), "fn a() {}");
    }

    #[test]
    fn test_files_are_told_by_their_place() {
        assert!(is_test_file("crates/a/src/b/tests.rs"));
        assert!(is_test_file("tests/errors/main.rs"));
        assert!(!is_test_file("crates/a/src/testing.rs"));
    }
}
