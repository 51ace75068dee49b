//! How much room a text takes up in the window of a model.
//!
//! A tokenizer says it exactly, for one family of models and nearly for the others. It costs 46 MiB and a tenth of a
//! second or two to load, more than a whole short session does. But no text has more tokens than bytes, so as long as
//! the bytes are few the exact count is not needed: until then it is estimated.

use std::sync::OnceLock;

use tiktoken_rs::CoreBPE;

/// The vocabulary that exact counts are of.
pub(crate) const TOKENIZER_ID: &str = "o200k_base";

/// The tokenizer looks back over runs of blanks, and gives up on a run that is too long. It never sees one of more
/// bytes than this. A text that is cut in pieces may count one token more for each.
const PIECE: usize = 16 << 10;

/// About how many tokens this many characters are: a quarter, rounded up.
pub(crate) const fn estimate(chars: u64) -> u64 {
    chars.div_ceil(4)
}

/// Counts exactly.
#[derive(Clone, Copy)]
pub(crate) struct Tokenizer(&'static CoreBPE);

impl Tokenizer {
    /// The tokenizer of this process. The first one who asks waits until it is loaded.
    pub(crate) fn get() -> Option<Self> {
        static LOADED: OnceLock<Option<CoreBPE>> = OnceLock::new();
        // The vocabulary is part of the program, so it can always be loaded.
        let loaded = LOADED.get_or_init(|| tiktoken_rs::o200k_base().ok());
        loaded.as_ref().map(Self)
    }

    pub(crate) fn count(self, text: &str) -> u64 {
        let mut rest = text;
        let mut count = 0;
        while !rest.is_empty() {
            let mut end = rest.len().min(PIECE);
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let (piece, after) = rest.split_at(end);
            count += self.0.count_ordinary(piece);
            rest = after;
        }
        count as u64
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(TOKENIZER_ID)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_a_quarter_and_never_nothing_for_something() {
        assert_eq!([0, 1, 4, 5, 400].map(estimate), [0, 1, 1, 2, 100]);
    }

    #[test]
    fn counts_are_those_of_the_vocabulary() {
        let tokenizer = Tokenizer::get().unwrap();
        assert_eq!(tokenizer.count(""), 0);
        assert_eq!(tokenizer.count("hello world"), 2);
        assert_eq!(tokenizer.count("<|endoftext|>"), 7, "no text is special");
        for text in [
            "plain words",
            "fn main() {}\n",
            "日本語のテキスト",
            "🦀🦀🦀",
            "\u{0}\u{1}",
        ] {
            assert!(tokenizer.count(text) <= text.len() as u64, "{text}");
        }
    }

    #[test]
    fn runs_without_an_end_are_counted_too() {
        let tokenizer = Tokenizer::get().unwrap();
        for run in [" ", "\n", "a", "A", "é", "🦀", "-", "1", " \u{300}"] {
            let mut text = run.repeat((256 << 10) / run.len());
            text.push('x');
            let count = tokenizer.count(&text);
            assert!(0 < count && count <= text.len() as u64, "{run:?}");
        }
    }
}
