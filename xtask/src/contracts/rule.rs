//! The rules that say which bump a difference between two versions of a contract needs.

use std::fmt;

/// How large a change is; the order is that of the bumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    None,
    Patch,
    Minor,
    Major,
}

impl Level {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "no change",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a difference has its level.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) id: &'static str,
    pub(crate) level: Level,
    pub(crate) why: &'static str,
}

/// One difference between the lock and the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) rule: &'static Rule,
    /// Where in the contract, with `/` between the steps.
    pub(crate) place: String,
    pub(crate) what: String,
    /// The word a plugin's source would have, where there is one.
    pub(crate) word: Option<String>,
}

impl Difference {
    pub(crate) fn new(
        rule: &'static Rule,
        place: impl Into<String>,
        what: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            place: place.into(),
            what: what.into(),
            word: None,
        }
    }

    /// The same difference, about something that plugins call by this word.
    pub(crate) fn about(mut self, word: impl Into<String>) -> Self {
        self.word = Some(word.into());
        self
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule, place, what, ..
        } = self;
        write!(
            f,
            "{:<5}  {place}: {what} [{}: {}]",
            rule.level, rule.id, rule.why
        )
    }
}

macro_rules! rules {
    ($($name:ident $id:literal $level:ident $why:literal;)+) => {
        $(pub(crate) const $name: &Rule = &Rule { id: $id, level: Level::$level, why: $why };)+

        /// Every rule.
        #[cfg(test)]
        pub(crate) const ALL: &[&Rule] = &[$($name),+];
    };
}

rules! {
    WORDS_CHANGED "words-changed" Patch "only words for people changed";
    METHOD_MOVED "method-moved" Patch "the order of a trait's methods means nothing; that of the table does, and is recorded apart";
    DEPRECATED "deprecated" Minor "authors are warned, and what is deprecated keeps working for two more minor versions";
    FUNCTION_APPENDED "function-appended" Minor "its absence has a meaning, so a plugin without it keeps working";
    FUNCTION_REQUIRED "function-required" Major "a plugin that is already built lacks a function that must be there";
    FUNCTION_REMOVED "function-removed" Major "a plugin that is already built still has it in its table";
    FUNCTION_MOVED "function-moved" Major "a table is read by place, and only grows at its end";
    FUNCTION_CHANGED "function-changed" Major "a plugin that is already built has the old signature";
    LAYOUT_CHANGED "layout-changed" Major "types that cross by value are fixed within a major version";
    LAYOUT_REACHED "layout-reached" Minor "only functions that are new use the type";
    SCHEMA_ADDED "payload-added" Minor "an older plugin neither sends nor gets the payload";
    SCHEMA_REMOVED "payload-removed" Major "a plugin that is already built relies on the payload";
    SENDER_CHANGED "sender-changed" Major "a payload that goes the other way is another payload";
    FIELD_OPTIONAL "field-added-optional" Minor "who does not know the field leaves it out or passes over it";
    FIELD_FROM_CORE "field-added-by-core" Minor "core newly sends it and a plugin may ignore it";
    FIELD_MUST_BE_SENT "field-added-required" Major "a plugin must newly send it";
    FIELD_REMOVED "field-removed" Major "a plugin that is already built sends it or reads it";
    FIELD_NOW_REQUIRED "field-now-required" Major "a plugin must newly send it";
    FIELD_NOW_PROMISED "field-now-promised" Minor "core always sends what it sent sometimes";
    FIELD_NOW_OPTIONAL "field-now-optional" Minor "core accepts more than before";
    FIELD_NO_LONGER_PROMISED "field-no-longer-promised" Major "a plugin that is already built relies on the field";
    VALUE_ADDED "value-added" Minor "it may be ignored, or goes only to plugins of the new minor version";
    VALUE_REMOVED "value-removed" Major "a plugin that is already built sends it or waits for it";
    TYPE_WIDENED_FOR_CORE "type-widened-for-core" Minor "core accepts more than before";
    TYPE_WIDENED_FOR_PLUGINS "type-widened-for-plugins" Major "a plugin must handle more than before";
    TYPE_NARROWED_FOR_CORE "type-narrowed-for-core" Major "core refuses what a plugin that is already built sends";
    TYPE_NARROWED_FOR_PLUGINS "type-narrowed-for-plugins" Minor "core sends less than a plugin had to handle";
    TYPE_CHANGED "type-changed" Major "the old and the new type do not fit each other";
    DEFAULT_CHANGED "default-changed" Minor "what is left out means something else, and the changelog has to name the field";
    KEYWORD_CHANGED "schema-changed" Major "no milder rule covers this part of a schema";
    MEMBER_ADDED "member-added" Minor "a manifest without it is still accepted, unless its schema requires it";
    MEMBER_REMOVED "member-removed" Major "manifests that are already written have it";
    HANDLER_ADDED "handler-added" Minor "a plugin that lacks it keeps working";
    HANDLER_REMOVED "handler-removed" Major "a plugin that is already built offers it in vain";
    HANDLER_MOVED "handler-moved" Major "handlers are listed in the order of the table";
    CODE_ADDED "code-added" Minor "an unknown code is passed on as text";
    CODE_REMOVED "code-removed" Major "programs match on codes; a rename is a removal";
    EVENT_ADDED "event-added" Minor "a subscriber passes over names it does not know";
    EVENT_REMOVED "event-removed" Major "subscribers wait for it; a rename is a removal";
    OPERATION_ADDED "operation-added" Minor "an older plugin does not call it";
    OPERATION_REMOVED "operation-removed" Major "a plugin that is already built calls it";
    OPERATION_CHANGED "operation-changed" Major "a plugin that is already built calls it the old way";
    METHOD_PROVIDED "method-added-with-default" Minor "an author who does not write it gets the default";
    METHOD_REQUIRED "method-added-required" Major "an author must newly implement it";
    METHOD_REMOVED "method-removed" Major "authors have written it";
    METHOD_CHANGED "method-changed" Major "authors have written the old signature";
    CARDINALITY_CHANGED "cardinality-changed" Major "how many may be loaded or active is part of the promise";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn ids_of_rules_are_unique() {
        let mut ids: Vec<_> = ALL.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ALL.len());
    }
}
