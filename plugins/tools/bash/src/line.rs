//! What a command line is, as far as can be told without a shell.
//!
//! Only one question matters here: is the line one simple command whose name can be read off, or is it more than that?
//! Shells differ, and a line can be written so that a reader takes for quoted what a shell takes for a command.
//! So whatever is not plainly one command counts as more.

use std::iter::Peekable;
use std::str::Chars;

/// A command line, looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// One command: its words, without quotes, assignments and redirections. There is at least one.
    Simple(Vec<String>),
    /// Several commands, or one that cannot be told from several.
    Compound,
}

/// Words that begin something else than a command.
const RESERVED: [&str; 23] = [
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "in", "repeat", "select", "then", "time", "until", "while", "{", "}", "]]",
];

impl Line {
    pub(crate) fn read(line: &str) -> Self {
        let simple = Reader::new(line).command();
        simple.map_or(Self::Compound, Self::Simple)
    }
}

/// Everything in a line that may be run as a command, each as its words.
///
/// It is read twice: as if quotes were not there, and as if each of them began a command of its own.
/// What only looks like a command is one too many, and that is the side to err on.
pub(crate) fn suspects(line: &str) -> Vec<Vec<String>> {
    const BETWEEN: [char; 9] = [';', '&', '|', '\n', '(', ')', '`', '{', '}'];
    const QUOTES: [char; 3] = ['"', '\'', '\\'];
    let bare = line.replace(QUOTES, "");
    let split = line.replace(QUOTES, ";");
    let pieces = bare.split(BETWEEN).chain(split.split(BETWEEN));
    pieces.filter_map(words_of_command).collect()
}

fn words_of_command(piece: &str) -> Option<Vec<String>> {
    let is_before = |word: &&str| RESERVED.contains(word) || *word == "$" || is_assignment(word);
    let words = piece.split_whitespace().skip_while(is_before);
    let words: Vec<String> = words.map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

/// Whether a word is `NAME=value`.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first == '_' || first.is_ascii_alphabetic())
        && letters.all(|letter| letter == '_' || letter.is_ascii_alphanumeric())
}

/// Whether a word says which command is meant, without anything a shell would put something else in place of.
fn is_plain_name(word: &str) -> bool {
    let is_plain = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(
                letter,
                '_' | '-' | '.' | '/' | '+' | '@' | '%' | ':' | ',' | '~' | '['
            )
    };
    // `[` is a command; inside a longer word it is a pattern.
    let is_pattern = word.contains('[') && word != "[";
    !word.is_empty() && word.chars().all(is_plain) && !is_pattern && !RESERVED.contains(&word)
}

/// A word as the shell would hand it on.
#[derive(Debug, Default)]
struct Word {
    text: String,
    /// From where on quotes or backslashes took away the meaning of letters.
    quoted_from: Option<usize>,
}

impl Word {
    const fn is_quoted(&self) -> bool {
        self.quoted_from.is_some()
    }

    fn quote(&mut self) {
        self.quoted_from.get_or_insert(self.text.len());
    }

    /// Whether this is `NAME=value`; the value may be quoted.
    fn is_assignment(&self) -> bool {
        let plain = &self.text[..self.quoted_from.unwrap_or(self.text.len())];
        is_assignment(plain)
    }

    /// Whether this could be the number of a file before a redirection.
    fn is_number(&self) -> bool {
        !self.is_quoted() && self.text.bytes().all(|byte| byte.is_ascii_digit())
    }
}

struct Reader<'a> {
    letters: Peekable<Chars<'a>>,
}

/// Reading methods give nothing for what counts as more than one command.
impl<'a> Reader<'a> {
    fn new(line: &'a str) -> Self {
        Self {
            letters: line.trim_matches([' ', '\t', '\n']).chars().peekable(),
        }
    }

    /// The words of the only command there is.
    fn command(mut self) -> Option<Vec<String>> {
        let mut words: Vec<String> = Vec::new();
        loop {
            self.skip_blanks();
            match self.letters.peek() {
                None => break,
                Some('#' | ';' | '&' | '|' | '(' | ')' | '\n') => return None,
                Some('<' | '>') => self.redirection()?,
                Some(_) => {
                    let word = self.word()?;
                    if word.is_number() && matches!(self.letters.peek(), Some('<' | '>')) {
                        self.redirection()?;
                    } else if !words.is_empty() || !word.is_assignment() {
                        words.push(word.text);
                    }
                }
            }
        }
        words
            .first()
            .is_some_and(|name| is_plain_name(name))
            .then_some(words)
    }

    fn skip_blanks(&mut self) {
        while self
            .letters
            .next_if(|letter| matches!(letter, ' ' | '\t'))
            .is_some()
        {}
    }

    /// An operator such as `>>` or `>&`, and the word it is about.
    fn redirection(&mut self) -> Option<()> {
        let opener = self.letters.next()?;
        if let Some(second) = self
            .letters
            .next_if(|letter| matches!(letter, '<' | '>' | '&' | '|'))
        {
            // `<<` begins a here-document; `<|` is invalid.
            let is_known = matches!((opener, second), ('>', '>' | '&' | '|') | ('<', '&' | '>'));
            is_known.then_some(())?;
        }
        self.skip_blanks();
        let target = self.word()?;
        (!target.text.is_empty() || target.is_quoted()).then_some(())
    }

    /// Up to the next blank or operator.
    fn word(&mut self) -> Option<Word> {
        let mut word = Word::default();
        while let Some(letter) = self.letters.peek().copied() {
            match letter {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\'' => {
                    self.letters.next();
                    word.quote();
                    self.single_quoted(&mut word)?;
                }
                '"' => {
                    self.letters.next();
                    word.quote();
                    self.double_quoted(&mut word)?;
                }
                '\\' => {
                    self.letters.next();
                    word.quote();
                    self.escaped(&mut word)?;
                }
                _ => self.letter(&mut word)?,
            }
        }
        Some(word)
    }

    fn single_quoted(&mut self, word: &mut Word) -> Option<()> {
        loop {
            match self.letters.next()? {
                '\'' => return Some(()),
                letter => word.text.push(letter),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Option<()> {
        loop {
            match self.letters.peek()? {
                '"' => {
                    self.letters.next();
                    return Some(());
                }
                '\\' => {
                    self.letters.next();
                    // Inside these quotes a backslash before any other letter is a backslash.
                    if !matches!(self.letters.peek(), Some('$' | '`' | '"' | '\\')) {
                        word.text.push('\\');
                    }
                    self.escaped(word)?;
                }
                _ => self.letter(word)?,
            }
        }
    }

    fn escaped(&mut self, word: &mut Word) -> Option<()> {
        let letter = self.letters.next().filter(|letter| *letter != '\n')?;
        word.text.push(letter);
        Some(())
    }

    /// A letter outside single quotes; some of them stand for something else.
    fn letter(&mut self, word: &mut Word) -> Option<()> {
        let letter = self.letters.next()?;
        word.text.push(letter);
        match letter {
            '`' => None,
            // The value of a variable is data. `$(`, `${`, `$'` and `$"` may hold or hide commands.
            '$' => match self.letters.peek() {
                Some('(' | '{' | '\'' | '"' | '[' | '`' | '\\') => None,
                _ => Some(()),
            },
            _ => Some(()),
        }
    }
}

#[cfg(test)]
mod tests;
