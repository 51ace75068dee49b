//! The search behind `stud explain`.

use serde::Serialize;

use crate::{Class, Code, codes};

/// How many names are suggested.
const SUGGESTIONS: usize = 3;

/// The longest name worth comparing; no code is near it.
const NAME_LIMIT: usize = 80;

/// What was asked for is not exactly one code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The text asked for.
    pub asked: String,
    /// What may have been meant, nearest first.
    pub suggestions: Vec<&'static Code>,
}

/// Finds a code by `Class/Code`, or by its bare name when only one class has it.
///
/// Letter case does not matter.
pub fn find(asked: &str) -> Result<&'static Code, Unknown> {
    find_in(codes::ALL, asked)
}

/// Every code, or those of one class, in registry order.
pub fn list(class: Option<Class>) -> impl Iterator<Item = &'static Code> {
    let wanted = move |code: &&Code| class.is_none_or(|class| code.class == class);
    codes::ALL.iter().copied().filter(wanted)
}

/// What `stud explain --json` prints.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The class's name.
    pub class: &'static str,
    /// The code's name.
    pub code: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The page, in Markdown.
    pub page: &'static str,
}

impl From<&Code> for Explanation {
    fn from(code: &Code) -> Self {
        Self {
            class: code.class.as_str(),
            code: code.name,
            summary: code.summary,
            page: code.page,
        }
    }
}

impl Unknown {
    /// A help line with the suggestions, if there are any.
    pub fn did_you_mean(&self) -> Option<String> {
        let names: Vec<_> = self.suggestions.iter().map(ToString::to_string).collect();
        match names.as_slice() {
            [] => None,
            [only] => Some(format!("did you mean `{only}`?")),
            several => Some(format!("did you mean one of `{}`?", several.join("`, `"))),
        }
    }
}

fn find_in(all: &[&'static Code], asked: &str) -> Result<&'static Code, Unknown> {
    let asked = asked.trim();
    let (class, name) = match asked.split_once('/') {
        Some((class, name)) => (Some(class), name),
        None => (None, asked),
    };
    let named: Vec<_> = all
        .iter()
        .copied()
        .filter(|code| code.name.eq_ignore_ascii_case(name))
        .filter(|code| class.is_none_or(|class| code.class.as_str().eq_ignore_ascii_case(class)))
        .collect();
    match named.as_slice() {
        [code] => Ok(code),
        [] => Err(Unknown {
            asked: asked.to_owned(),
            suggestions: nearest(all, class.unwrap_or_default(), name),
        }),
        _ => Err(Unknown {
            asked: asked.to_owned(),
            suggestions: named,
        }),
    }
}

fn nearest(all: &[&'static Code], class: &str, name: &str) -> Vec<&'static Code> {
    if name.len() > NAME_LIMIT || class.len() > NAME_LIMIT {
        return Vec::new();
    }
    let class = class.to_ascii_lowercase();
    let name = name.to_ascii_lowercase();
    let mut near: Vec<_> = all
        .iter()
        .filter_map(|code| {
            let other = code.name.to_ascii_lowercase();
            let distance = strsim::osa_distance(&name, &other);
            let part = name.len() > 3 && other.contains(&name);
            let near = part || distance <= name.len().max(other.len()) / 3;
            let other = code.class.as_str().to_ascii_lowercase();
            near.then(|| (distance, strsim::osa_distance(&class, &other), *code))
        })
        .collect();
    near.sort_by_key(|(name, class, _)| (*name, *class));
    near.truncate(SUGGESTIONS);
    near.into_iter().map(|(_, _, code)| code).collect()
}

#[cfg(test)]
mod tests {
    use super::{Unknown, find, find_in, list};
    use crate::{Class, Code, codes};

    fn suggested(asked: &str) -> Vec<String> {
        let unknown = find(asked).expect_err("it is no code");
        unknown
            .suggestions
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_code_is_found_whole_or_bare_in_any_case() {
        for asked in [
            "Validation/UIRoleHandlerMissing",
            "validation/uirolehandlermissing",
            "UIRoleHandlerMissing",
            " uirolehandlermissing\n",
        ] {
            assert_eq!(find(asked), Ok(&codes::UI_ROLE_HANDLER_MISSING), "{asked}");
        }
    }

    #[test]
    fn a_near_miss_suggests() {
        let meant = ["Validation/UIRoleHandlerMissing"];
        assert_eq!(suggested("validation/uirolehandlermising"), meant);
        assert_eq!(suggested("session/UIRoleHandlerMissing"), meant);
        assert_eq!(suggested("UIRole"), meant);
        assert_eq!(suggested("zzzzzzzzzzzz"), [""; 0]);
        assert_eq!(suggested(""), [""; 0]);
        assert_eq!(suggested(&"x".repeat(1_000_000)), [""; 0]);
    }

    #[test]
    fn a_name_in_two_classes_must_be_asked_for_whole() {
        static OTHER: Code = Code {
            class: Class::Session,
            ..codes::NOT_FOUND
        };
        let all = [&codes::NOT_FOUND, &OTHER];
        let unknown = find_in(&all, "NotFound").expect_err("it is ambiguous");
        assert_eq!(unknown.suggestions, all);
        assert_eq!(find_in(&all, "session/notfound"), Ok(&OTHER));
    }

    #[test]
    fn a_class_lists_its_own() {
        assert_eq!(list(None).count(), codes::ALL.len());
        assert!(list(Some(Class::Session)).all(|code| code.class == Class::Session));
    }

    #[test]
    fn suggestions_become_a_help_line() {
        let mut unknown = Unknown {
            asked: "UIRole".to_owned(),
            suggestions: vec![],
        };
        assert_eq!(unknown.did_you_mean(), None);
        unknown.suggestions.push(&codes::NOT_READY);
        let one = "did you mean `ExtensionHost/NotReady`?";
        assert_eq!(unknown.did_you_mean().as_deref(), Some(one));
        unknown.suggestions.push(&codes::NOT_FOUND);
        let two = "did you mean one of `ExtensionHost/NotReady`, `ToolTerminal/NotFound`?";
        assert_eq!(unknown.did_you_mean().as_deref(), Some(two));
    }
}
