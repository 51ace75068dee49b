//! The types a setting may have: how a value is read, and what is said of one that does not fit.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use stud_host_api::session::SecurityMode;

use super::{Settings, Sourced};
use crate::plugin_scope::Scope;

/// The value of a setting that is in force, and where it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set<'a, T> {
    /// The value.
    pub value: T,
    /// The scope it was set in; the bundled one for a default.
    pub scope: Scope,
    /// The file it stands in; none for a default.
    pub path: Option<&'a Path>,
}

impl<'a, T> Set<'a, T> {
    /// The value that the highest scope sets at a place: a section, a group in it, and a key.
    pub(super) fn read(
        settings: &'a Settings,
        (section, group, key): (&str, Option<&str>, &str),
        default: T,
    ) -> Self
    where
        T: SettingValue<'a>,
    {
        let found = match group {
            None => settings.get(section, key),
            Some(group) => settings.get(section, group).and_then(|set| {
                let value = set.value.get(key)?;
                Some(Sourced { value, ..set })
            }),
        };
        let read = found.and_then(|set| {
            Some(Self {
                value: T::from_json(set.value)?,
                scope: set.scope,
                path: Some(set.path),
            })
        });
        read.unwrap_or_else(|| Self::default_value(default))
    }
}

impl<T> Set<'_, T> {
    pub(super) const fn default_value(value: T) -> Self {
        Self {
            value,
            scope: Scope::Bundled,
            path: None,
        }
    }

    /// Whether a file sets it.
    pub const fn is_set(&self) -> bool {
        self.path.is_some()
    }
}

/// What a value of the settings file has to be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Type {
    /// A whole number.
    Count,
    /// A whole number of milliseconds.
    Millis,
    /// A part of the window: `0.8`, or `80` for 80 percent.
    Share,
    /// Text that is not empty.
    Name,
    Names,
    OneOf(&'static [&'static str]),
    Flag,
    /// Checked entry by entry where it is used, so that one that is wrong does not take the others away.
    Json,
}

impl Type {
    pub(super) fn fits(self, min: u64, value: &Value) -> bool {
        match self {
            Self::Count | Self::Millis => value.as_u64().is_some_and(|number| number >= min),
            Self::Share => share(value).is_some(),
            Self::Name => value.as_str().is_some_and(|name| !name.is_empty()),
            Self::Names => value
                .as_array()
                .is_some_and(|names| names.iter().all(Value::is_string)),
            Self::OneOf(words) => words.iter().any(|word| value == word),
            Self::Flag => value.is_boolean(),
            Self::Json => true,
        }
    }

    /// What a value that does not fit should have been.
    pub(super) fn expected(self, min: u64) -> String {
        match self {
            Self::Count | Self::Millis => format!("a whole number of {min} or more"),
            Self::Share => {
                "a part of the window: more than 0 and at most 1, or a percentage up to 100"
                    .to_owned()
            }
            Self::Name => "a name".to_owned(),
            Self::Names => "a list of names".to_owned(),
            Self::OneOf(words) => format!("`{}`", words.join("` or `")),
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Json => "JSON".to_owned(),
        }
    }
}

/// A type that a setting may have.
pub(super) trait SettingValue<'a>: Sized {
    const TYPE: Type;
    /// The value, which was checked when the file was read; nothing if it does not fit.
    fn from_json(value: &'a Value) -> Option<Self>;
    /// The value as a file would have it.
    fn to_json(&self) -> Option<Value>;
}

impl SettingValue<'_> for u32 {
    const TYPE: Type = Type::Count;

    fn from_json(value: &Value) -> Option<Self> {
        let number = value.as_u64()?;
        Some(Self::try_from(number).unwrap_or(Self::MAX))
    }

    fn to_json(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl SettingValue<'_> for u64 {
    const TYPE: Type = Type::Count;

    fn from_json(value: &Value) -> Option<Self> {
        value.as_u64()
    }

    fn to_json(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl SettingValue<'_> for Duration {
    const TYPE: Type = Type::Millis;

    fn from_json(value: &Value) -> Option<Self> {
        value.as_u64().map(Self::from_millis)
    }

    fn to_json(&self) -> Option<Value> {
        u64::try_from(self.as_millis()).ok().map(Value::from)
    }
}

impl SettingValue<'_> for f64 {
    const TYPE: Type = Type::Share;

    fn from_json(value: &Value) -> Option<Self> {
        share(value)
    }

    fn to_json(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl SettingValue<'_> for bool {
    const TYPE: Type = Type::Flag;

    fn from_json(value: &Value) -> Option<Self> {
        value.as_bool()
    }

    fn to_json(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl<'a> SettingValue<'a> for &'a str {
    const TYPE: Type = Type::Name;

    fn from_json(value: &'a Value) -> Option<Self> {
        value.as_str()
    }

    fn to_json(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl<'a> SettingValue<'a> for &'a Value {
    const TYPE: Type = Type::Json;

    fn from_json(value: &'a Value) -> Option<Self> {
        Some(value)
    }

    fn to_json(&self) -> Option<Value> {
        Some((*self).clone())
    }
}

impl<'a, T: SettingValue<'a>> SettingValue<'a> for Option<T> {
    const TYPE: Type = T::TYPE;

    fn from_json(value: &'a Value) -> Option<Self> {
        T::from_json(value).map(Some)
    }

    fn to_json(&self) -> Option<Value> {
        self.as_ref().and_then(T::to_json)
    }
}

impl<'a> SettingValue<'a> for Vec<&'a str> {
    const TYPE: Type = Type::Names;

    fn from_json(value: &'a Value) -> Option<Self> {
        let names = value.as_array()?;
        Some(names.iter().filter_map(Value::as_str).collect())
    }

    fn to_json(&self) -> Option<Value> {
        Some(self.as_slice().into())
    }
}

/// What becomes of `grantStageTool` when no interactor can answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HeadlessGrant {
    /// The call is denied and the stage continues.
    #[default]
    Deny,
    /// The turn ends, as for every other kind.
    Halt,
}

impl SettingValue<'_> for HeadlessGrant {
    const TYPE: Type = Type::OneOf(&["deny", "halt"]);

    fn from_json(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "deny" => Some(Self::Deny),
            "halt" => Some(Self::Halt),
            _ => None,
        }
    }

    fn to_json(&self) -> Option<Value> {
        let word = match self {
            Self::Deny => "deny",
            Self::Halt => "halt",
        };
        Some(word.into())
    }
}

/// The words for the security modes, as the settings file has them.
pub(super) const SECURITY_MODES: [&str; 3] = ["ask", "yolo", "allowlist"];

impl SettingValue<'_> for SecurityMode {
    const TYPE: Type = Type::OneOf(&SECURITY_MODES);

    fn from_json(value: &Value) -> Option<Self> {
        serde_json::from_value(value.clone()).ok()
    }

    fn to_json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

/// A part of the window, between 0 and 1.
fn share(value: &Value) -> Option<f64> {
    let share = value.as_f64().map(|number| match number {
        percent if percent > 1.0 => percent / 100.0,
        share => share,
    });
    share.filter(|share| *share > 0.0 && *share <= 1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::table;
    use super::super::tests::layered;
    use super::*;

    #[test]
    fn a_share_is_a_fraction_or_a_percentage() {
        for (value, read) in [
            (json!(0.5), Some(0.5)),
            (json!(1), Some(1.0)),
            (json!(80), Some(0.8)),
            (json!(0), None),
            (json!(-1), None),
            (json!(101), None),
            (json!("x"), None),
        ] {
            assert_eq!(share(&value), read, "{value}");
        }
    }

    #[test]
    fn every_default_is_a_value_that_a_file_may_have() {
        for section in table::sections() {
            for declared in section.settings {
                if let Some(default) = (declared.default)() {
                    let place = format!("{}.{}", section.key, declared.key);
                    assert!(declared.kind.fits(declared.min, &default), "{place}");
                }
            }
        }
    }

    #[test]
    fn a_value_knows_the_file_it_came_from() {
        let settings = layered(&[
            (
                Scope::Global,
                r#"{"loop":{"maxContinuations":7,"toolTimeoutMs":9},"providers":{"retry":{"firstMs":3}}}"#,
            ),
            (Scope::Project, r#"{"loop":{"maxContinuations":8}}"#),
        ])
        .unwrap();
        let turns = table::LoopSettings::of(&settings);
        let of = |set: &Set<'_, Duration>| (set.value.as_millis(), set.scope, set.is_set());
        assert_eq!(turns.max_continuations.value, 8);
        assert_eq!(turns.max_continuations.scope, Scope::Project);
        assert!(
            turns
                .max_continuations
                .path
                .unwrap()
                .ends_with("settings.json")
        );
        assert_eq!(of(&turns.tool_timeout), (9, Scope::Global, true));
        assert_eq!(of(&turns.hook_timeout), (30_000, Scope::Bundled, false));
        let retry = table::RetrySettings::of(&settings);
        assert_eq!(of(&retry.first), (3, Scope::Global, true));
        assert_eq!(retry.attempts.value, 3);
    }
}
