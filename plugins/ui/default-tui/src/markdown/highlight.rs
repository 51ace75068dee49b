//! Colors in code: strings, comments, numbers and keywords, by a small table of languages.
//!
//! A grammar for each language would add 1.9 MiB to the program and some 30 ms to the first rows of code.

use ratatui_core::text::{Line, Span};

use crate::text::row::{Look, Row, piece};

/// How the lines of one language are colored. It remembers whether a comment of several lines is open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coloring {
    language: Option<&'static Language>,
    in_comment: bool,
}

/// What a language looks like.
#[derive(Debug)]
struct Language {
    names: &'static [&'static str],
    line_comment: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    quotes: &'static str,
    keywords: &'static [&'static str],
}

const C_BLOCK: Option<(&str, &str)> = Some(("/*", "*/"));
const C_LINE: &[&str] = &["//"];
const HASH: &[&str] = &["#"];

#[rustfmt::skip]
const LANGUAGES: &[Language] = &[
    Language { names: &["rust", "rs"], line_comment: C_LINE, block_comment: C_BLOCK, quotes: "\"", keywords: &["as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self", "Self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while"] },
    Language { names: &["python", "py"], line_comment: HASH, block_comment: None, quotes: "\"'", keywords: &["and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "False", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "None", "nonlocal", "not", "or", "pass", "raise", "return", "True", "try", "while", "with", "yield"] },
    Language { names: &["javascript", "js", "jsx", "typescript", "ts", "tsx", "mjs"], line_comment: C_LINE, block_comment: C_BLOCK, quotes: "\"'`", keywords: &["async", "await", "break", "case", "catch", "class", "const", "continue", "default", "delete", "do", "else", "enum", "export", "extends", "false", "finally", "for", "from", "function", "if", "import", "in", "instanceof", "interface", "let", "new", "null", "of", "return", "static", "super", "switch", "this", "throw", "true", "try", "type", "typeof", "undefined", "var", "void", "while", "yield"] },
    Language { names: &["go"], line_comment: C_LINE, block_comment: C_BLOCK, quotes: "\"`'", keywords: &["break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "false", "for", "func", "go", "goto", "if", "import", "interface", "map", "nil", "package", "range", "return", "select", "struct", "switch", "true", "type", "var"] },
    Language { names: &["c", "h", "cpp", "c++", "cc", "hpp", "objc"], line_comment: C_LINE, block_comment: C_BLOCK, quotes: "\"'", keywords: &["auto", "bool", "break", "case", "catch", "char", "class", "const", "constexpr", "continue", "default", "delete", "do", "double", "else", "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "long", "namespace", "new", "nullptr", "private", "public", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "union", "unsigned", "using", "virtual", "void", "while"] },
    Language { names: &["java", "kotlin", "kt", "scala", "cs", "csharp", "c#", "swift", "dart"], line_comment: C_LINE, block_comment: C_BLOCK, quotes: "\"'", keywords: &["abstract", "async", "await", "boolean", "break", "case", "catch", "class", "const", "continue", "default", "do", "else", "enum", "extends", "false", "final", "finally", "for", "fun", "func", "guard", "if", "implements", "import", "in", "init", "int", "interface", "internal", "is", "let", "long", "namespace", "new", "null", "object", "override", "package", "private", "protected", "public", "return", "static", "string", "struct", "super", "switch", "this", "throw", "true", "try", "using", "val", "var", "void", "when", "where", "while"] },
    Language { names: &["sh", "bash", "shell", "zsh", "console", "fish"], line_comment: HASH, block_comment: None, quotes: "\"'", keywords: &["case", "cd", "do", "done", "echo", "elif", "else", "esac", "exit", "export", "fi", "for", "function", "if", "in", "local", "return", "set", "then", "until", "while"] },
    Language { names: &["ruby", "rb"], line_comment: HASH, block_comment: None, quotes: "\"'", keywords: &["and", "begin", "break", "case", "class", "def", "do", "else", "elsif", "end", "ensure", "false", "for", "if", "in", "module", "next", "nil", "not", "or", "require", "rescue", "return", "self", "super", "then", "true", "unless", "until", "when", "while", "yield"] },
    Language { names: &["php"], line_comment: &["//", "#"], block_comment: C_BLOCK, quotes: "\"'", keywords: &["array", "class", "echo", "else", "extends", "false", "for", "foreach", "function", "if", "namespace", "new", "null", "private", "public", "return", "static", "true", "use", "while"] },
    Language { names: &["json", "jsonc", "json5"], line_comment: C_LINE, block_comment: C_BLOCK, quotes: "\"", keywords: &["false", "null", "true"] },
    Language { names: &["toml", "ini", "yaml", "yml", "dockerfile", "make", "makefile", "conf", "nix", "elixir", "perl", "r"], line_comment: HASH, block_comment: None, quotes: "\"'", keywords: &["COPY", "ENV", "FROM", "RUN", "WORKDIR", "def", "do", "else", "end", "false", "fn", "if", "in", "let", "my", "no", "null", "sub", "true", "with", "yes"] },
    Language { names: &["sql"], line_comment: &["--"], block_comment: C_BLOCK, quotes: "'\"", keywords: &["ALTER", "AND", "AS", "BY", "CREATE", "DELETE", "DROP", "FROM", "GROUP", "INDEX", "INSERT", "INTO", "JOIN", "LEFT", "LIMIT", "NOT", "NULL", "ON", "OR", "ORDER", "PRIMARY", "SELECT", "SET", "TABLE", "UPDATE", "VALUES", "WHERE", "and", "as", "by", "create", "delete", "from", "group", "insert", "into", "join", "limit", "not", "null", "on", "or", "order", "select", "set", "table", "update", "values", "where"] },
    Language { names: &["lua", "haskell", "hs", "elm"], line_comment: &["--"], block_comment: None, quotes: "\"'", keywords: &["and", "case", "class", "data", "do", "else", "elseif", "end", "false", "for", "function", "if", "import", "in", "instance", "let", "local", "module", "nil", "not", "of", "or", "repeat", "return", "then", "true", "type", "until", "where", "while"] },
    Language { names: &["css", "scss", "less", "zig", "proto"], line_comment: C_LINE, block_comment: C_BLOCK, quotes: "\"'", keywords: &["comptime", "const", "defer", "else", "enum", "fn", "for", "if", "important", "media", "message", "pub", "return", "struct", "try", "var", "while"] },
    Language { names: &["html", "xml", "svg", "vue"], line_comment: &[], block_comment: Some(("<!--", "-->")), quotes: "\"'", keywords: &[] },
];

impl Coloring {
    /// For a language by the name it has in markdown. One that is not known has no colors.
    pub(crate) fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let language = LANGUAGES
            .iter()
            .find(|language| language.names.contains(&name.as_str()));
        Self {
            language,
            in_comment: false,
        }
    }

    /// The next line.
    pub(crate) fn row(&mut self, line: &str) -> Row {
        let Some(language) = self.language else {
            return Line::from(Span::raw(line.to_owned()));
        };
        let mut row = Row::default();
        let mut plain = String::new();
        let mut rest = line;
        while !rest.is_empty() {
            let (length, look) = self.next_part(language, rest, plain.chars().next_back());
            let (part, after) = rest.split_at(length);
            rest = after;
            if look == Look::Plain {
                plain.push_str(part);
            } else {
                if !plain.is_empty() {
                    row.spans.push(Span::raw(std::mem::take(&mut plain)));
                }
                row.spans.push(piece(part, look));
            }
        }
        if !plain.is_empty() {
            row.spans.push(Span::raw(plain));
        }
        row
    }

    /// How long the part at the beginning is, and how it looks.
    fn next_part(
        &mut self,
        language: &Language,
        rest: &str,
        before: Option<char>,
    ) -> (usize, Look) {
        if let Some((open, close)) = language.block_comment
            && (self.in_comment || rest.starts_with(open))
        {
            let from = if self.in_comment { 0 } else { open.len() };
            let end = rest[from..].find(close).map(|end| from + end + close.len());
            self.in_comment = end.is_none();
            return (end.unwrap_or(rest.len()), Look::Dim);
        }
        if language
            .line_comment
            .iter()
            .any(|mark| rest.starts_with(mark))
            && (!rest.starts_with('#') || before.is_none_or(char::is_whitespace))
        {
            return (rest.len(), Look::Dim);
        }
        let Some(first) = rest.chars().next() else {
            return (rest.len(), Look::Plain);
        };
        if language.quotes.contains(first) {
            return (string_length(rest, first), Look::Good);
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if is_word(first) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let word = &rest[..length];
            let look = if first.is_ascii_digit() {
                Look::Warn
            } else if language.keywords.contains(&word) {
                Look::Accent
            } else {
                Look::Plain
            };
            return (length, look);
        }
        (first.len_utf8(), Look::Plain)
    }
}

fn string_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if letter == quote {
            return at + letter.len_utf8();
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::row::plain;

    fn looks(language: &str, line: &str) -> Vec<(String, bool)> {
        let row = Coloring::of(language).row(line);
        let spans = row.spans.iter();
        spans
            .map(|span| (span.content.to_string(), span.style != Look::Plain.style()))
            .collect()
    }

    #[test]
    fn keywords_strings_numbers_and_comments_stand_out() {
        let colored = looks("rust", "let x = \"a\\\"b\"; // 1");
        let of_color: Vec<&str> = colored
            .iter()
            .filter(|(_, colored)| *colored)
            .map(|(text, _)| text.as_str())
            .collect();
        assert_eq!(of_color, ["let", "\"a\\\"b\"", "// 1"]);
    }

    #[test]
    fn no_character_is_lost() {
        for line in ["fn a() { /* b", "\"open", "'é' #", "x = 工具 + 0x1f"] {
            for language in ["rust", "python", "none", "sql"] {
                assert_eq!(plain(&Coloring::of(language).row(line)), line);
            }
        }
    }

    #[test]
    fn a_comment_of_several_lines_stays_one() {
        let mut coloring = Coloring::of("c");
        coloring.row("a /* b");
        assert_eq!(coloring.row("c */ d").spans[0].content, "c */");
    }
}
