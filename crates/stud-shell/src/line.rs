//! A line as a list of simple commands.

use brush_parser::ast::{
    AndOr, Command as Node, CommandPrefixOrSuffixItem as Item, CompoundList, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, Pipeline, SeparatorOperator, SimpleCommand,
};
use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};

/// The longest line that is read; the parser's work grows faster than its input.
const LONGEST: usize = 16 * 1024;

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments; there is at least one.
    pub words: Vec<Word>,
    /// The files its redirections write to, other than `/dev/null`.
    pub writes: Vec<Word>,
}

/// A word as the program gets it, unless it is a pattern for file names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// Without its quotes.
    pub text: String,
    /// Whether the shell puts names of files in its place.
    pub is_pattern: bool,
}

/// The simple commands of a line, in order.
///
/// Nothing if any part is something else: an assignment before a command, a substitution or another expansion than a
/// pattern for file names, a text that follows the line, a background job, a compound command, a function, or what the
/// grammar does not know.
pub fn read(line: &str) -> Option<Vec<Command>> {
    if line.len() > LONGEST || has_trap(line) {
        return None;
    }
    let options = ParserOptions {
        enable_extended_globbing: false,
        ..ParserOptions::default()
    };
    let mut parser = Parser::new(line.as_bytes(), &options);
    let program = parser.parse_program().ok()?;
    let reader = Reader { options };
    let mut commands = Vec::new();
    for list in &program.complete_commands {
        reader.list(list, &mut commands)?;
    }
    (!commands.is_empty()).then_some(commands)
}

/// What shells and parsers are known to read differently: control characters, lines that are continued, comments,
/// and `|&`.
fn has_trap(line: &str) -> bool {
    let is_odd = |letter: char| letter.is_control() && !matches!(letter, '\t' | '\n');
    let mut before = ' ';
    line.chars().any(|letter| {
        let is_comment = letter == '#' && matches!(before, ' ' | '\t' | '\n' | ';' | '&' | '|');
        let is_continued = letter == '\n' && before == '\\';
        let is_double_pipe = letter == '&' && before == '|';
        before = letter;
        is_odd(letter) || is_comment || is_continued || is_double_pipe
    })
}

struct Reader {
    options: ParserOptions,
}

impl Reader {
    fn list(&self, list: &CompoundList, commands: &mut Vec<Command>) -> Option<()> {
        for item in &list.0 {
            if !matches!(item.1, SeparatorOperator::Sequence) {
                return None;
            }
            self.pipeline(&item.0.first, commands)?;
            for AndOr::And(pipeline) | AndOr::Or(pipeline) in &item.0.additional {
                self.pipeline(pipeline, commands)?;
            }
        }
        Some(())
    }

    fn pipeline(&self, pipeline: &Pipeline, commands: &mut Vec<Command>) -> Option<()> {
        if pipeline.timed.is_some() || pipeline.bang {
            return None;
        }
        for command in &pipeline.seq {
            let Node::Simple(command) = command else {
                return None;
            };
            commands.push(self.command(command)?);
        }
        Some(())
    }

    fn command(&self, command: &SimpleCommand) -> Option<Command> {
        let name = self.word(&command.word_or_name.as_ref()?.value)?;
        if name.text.is_empty() || name.is_pattern {
            return None;
        }
        let mut words = vec![name];
        let mut writes = Vec::new();
        let prefix = command.prefix.iter().flat_map(|prefix| &prefix.0);
        for item in prefix {
            let Item::IoRedirect(redirect) = item else {
                return None;
            };
            self.redirect(redirect, &mut writes)?;
        }
        let suffix = command.suffix.iter().flat_map(|suffix| &suffix.0);
        for item in suffix {
            match item {
                Item::IoRedirect(redirect) => self.redirect(redirect, &mut writes)?,
                Item::Word(word) | Item::AssignmentWord(_, word) => {
                    words.push(self.word(&word.value)?);
                }
                Item::ProcessSubstitution(..) => return None,
            }
        }
        Some(Command { words, writes })
    }

    /// Adds the file that a redirection writes to, if it writes to one.
    fn redirect(&self, redirect: &IoRedirect, writes: &mut Vec<Word>) -> Option<()> {
        // `&>` is something else in `sh` than in `bash`, and a text may hold substitutions.
        let IoRedirect::File(_, kind, target) = redirect else {
            return None;
        };
        let target = match target {
            IoFileRedirectTarget::Fd(_) => return Some(()),
            IoFileRedirectTarget::ProcessSubstitution(..) => return None,
            IoFileRedirectTarget::Duplicate(word) => {
                let word = self.word(&word.value)?;
                let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
                return (is_number || word.text == "-").then_some(());
            }
            IoFileRedirectTarget::Filename(word) => self.word(&word.value)?,
        };
        if target.is_pattern {
            return None;
        }
        match kind {
            IoFileRedirectKind::Read => {}
            IoFileRedirectKind::DuplicateInput | IoFileRedirectKind::DuplicateOutput => {
                return None;
            }
            _ if target.text == "/dev/null" => {}
            _ => writes.push(target),
        }
        Some(())
    }

    fn word(&self, source: &str) -> Option<Word> {
        let pieces = brush_parser::word::parse(source, &self.options).ok()?;
        let mut word = Word::default();
        for piece in &pieces {
            append(source, piece, &mut word)?;
        }
        Some(word)
    }
}

/// Appends the text of one piece of a word, unless the shell would expand it.
fn append(source: &str, piece: &WordPieceWithSource, word: &mut Word) -> Option<()> {
    match &piece.piece {
        WordPiece::Text(text) => {
            // A brace may make several words of one, and what stands in them is then no longer seen.
            if text.contains(['$', '`', '{', '}', '\\', '\'', '"', '(', ')']) {
                return None;
            }
            word.is_pattern |= text.contains(['*', '?', '[']) && source != "[";
            word.text.push_str(text);
        }
        WordPiece::SingleQuotedText(text) => word.text.push_str(text),
        WordPiece::EscapeSequence(text) => word.text.push_str(text.strip_prefix('\\')?),
        WordPiece::TildeExpansion(_) => {
            let tilde = source.get(piece.start_index..piece.end_index)?;
            word.text.push_str(tilde);
        }
        WordPiece::DoubleQuotedSequence(pieces) => {
            for piece in pieces {
                word.text.push_str(&in_double_quotes(&piece.piece)?);
            }
        }
        _ => return None,
    }
    Some(())
}

/// What stands in double quotes, where a backslash keeps its place before most letters.
fn in_double_quotes(piece: &WordPiece) -> Option<String> {
    match piece {
        WordPiece::Text(text) if !text.contains(['$', '`', '"']) => Some(text.clone()),
        WordPiece::EscapeSequence(text) => {
            let letter = text.strip_prefix('\\')?;
            let is_escaped = matches!(letter, "$" | "`" | "\"" | "\\");
            Some(if is_escaped { letter } else { text }.to_owned())
        }
        _ => None,
    }
}

/// Words written so that a shell reads them as they are; patterns for file names stay patterns.
pub fn quoted(words: &[Word]) -> String {
    let words = words.iter().map(|word| {
        let is_plain = |letter: char| {
            letter.is_ascii_alphanumeric()
                || "_-./+@%:,=~".contains(letter)
                || word.is_pattern && matches!(letter, '*' | '?' | '[' | ']')
        };
        if !word.text.is_empty() && word.text.chars().all(is_plain) {
            return word.text.clone();
        }
        format!("'{}'", word.text.replace('\'', r"'\''"))
    });
    words.collect::<Vec<_>>().join(" ")
}
