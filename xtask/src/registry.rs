//! The registry of error codes, read from its source.

use crate::source::{code_only, line_at, words};
use crate::tree::Tree;

/// Where the codes are declared.
pub(crate) const REGISTRY: &str = "crates/stud-diagnostics/src/codes.rs";

/// The classes, in the order of the error model.
pub(crate) const CLASSES: [&str; 8] = [
    "Validation",
    "ProviderTransient",
    "ProviderCapability",
    "ToolTransient",
    "ToolTerminal",
    "Session",
    "Cancellation",
    "ExtensionHost",
];

/// One declared code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) class: String,
    pub(crate) name: String,
    /// What sources call it.
    pub(crate) constant: String,
    pub(crate) line: usize,
}

impl Code {
    /// `Class/Code`.
    pub(crate) fn id(&self) -> String {
        format!("{}/{}", self.class, self.name)
    }
}

/// The page of a code.
pub(crate) fn page_path(id: &str) -> String {
    format!("crates/stud-diagnostics/pages/{id}.md")
}

/// The test case of a code.
pub(crate) fn case_path(id: &str) -> String {
    format!("tests/errors/{id}/case.toml")
}

/// The declared codes, in the order of the file.
pub(crate) fn read(tree: &Tree) -> Vec<Code> {
    tree.text(REGISTRY).map(parse).unwrap_or_default()
}

/// Reads `Name => CONSTANT` inside `Class { … }`; what else an entry says is
/// the registry's own business.
pub(crate) fn parse(text: &str) -> Vec<Code> {
    let code = code_only(text);
    let mut codes = Vec::new();
    let mut class = None;
    for (offset, word) in words(&code) {
        let rest = code[offset + word.len()..].trim_start();
        if CLASSES.contains(&word) && rest.starts_with('{') {
            class = Some(word);
        }
        let Some(target) = rest.strip_prefix("=>") else {
            continue;
        };
        let constant = words(target).next().map_or("", |(_, word)| word);
        if let Some(class) = class
            && is_name(word)
            && is_constant(constant)
        {
            codes.push(Code {
                class: class.to_owned(),
                name: word.to_owned(),
                constant: constant.to_owned(),
                line: line_at(&code, offset),
            });
        }
    }
    codes
}

/// Whether the word is written as a code is: `UIRoleHandlerMissing`.
pub(crate) fn is_name(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_uppercase())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric())
        && word.contains(|letter: char| letter.is_ascii_lowercase())
}

fn is_constant(word: &str) -> bool {
    !word.is_empty()
        && word
            .chars()
            .all(|letter| matches!(letter, 'A'..='Z' | '0'..='9' | '_'))
}

/// `UI_ROLE_HANDLER_MISSING` for `UIRoleHandlerMissing`.
pub(crate) fn constant_for(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut constant = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let starts_word = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                !before.is_ascii_uppercase() || after.is_some_and(char::is_ascii_lowercase)
            });
        if starts_word {
            constant.push('_');
        }
        constant.push(letter.to_ascii_uppercase());
    }
    constant
}

#[cfg(test)]
mod tests {
    use super::{Code, constant_for, is_name, parse};

    #[test]
    fn entries_are_read_and_the_macro_around_them_is_not() {
        let text = r#"
macro_rules! codes {
    ($($class:ident { $(#[doc = $summary:literal] $name:ident => $constant:ident, since $since:literal;)+ })+) => { A };
}
codes! {
    Validation {
        /// Not Old => OLD; it is a comment.
        UIRoleHandlerMissing => UI_ROLE_HANDLER_MISSING, since "0.1.0", at validate;
    }
    Session {
        /// Without an `Interactor` there is no answer.
        NoInteractorAttached => NO_INTERACTOR_ATTACHED, since "0.1.0";
    }
}
"#;
        let code = |class: &str, name: &str, constant: &str, line| Code {
            class: class.to_owned(),
            name: name.to_owned(),
            constant: constant.to_owned(),
            line,
        };
        assert_eq!(
            parse(text),
            [
                code(
                    "Validation",
                    "UIRoleHandlerMissing",
                    "UI_ROLE_HANDLER_MISSING",
                    8
                ),
                code(
                    "Session",
                    "NoInteractorAttached",
                    "NO_INTERACTOR_ATTACHED",
                    12
                ),
            ]
        );
    }

    #[test]
    fn a_name_becomes_its_constant() {
        let pairs = [
            ("UIRoleHandlerMissing", "UI_ROLE_HANDLER_MISSING"),
            ("ManifestNotUtf8", "MANIFEST_NOT_UTF8"),
            ("NotReady", "NOT_READY"),
            ("StageSM", "STAGE_SM"),
        ];
        for (name, constant) in pairs {
            assert_eq!(constant_for(name), constant);
        }
    }

    #[test]
    fn names_are_told_from_other_words() {
        assert!(is_name("NotReady"));
        assert!(!is_name("NOT_READY"));
        assert!(!is_name("notReady"));
        assert!(!is_name("NOTREADY"));
    }
}
