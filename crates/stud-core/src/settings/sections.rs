//! Core's own sections of the settings: which settings there are, and what each may be.

use serde_json::{Map, Value};

use crate::did_you_mean::nearest;

/// A section, and the settings in it.
struct Section {
    key: &'static str,
    settings: &'static [Setting],
    /// Whether others may stand beside them.
    open: bool,
}

/// A setting, and what it may be.
type Setting = (&'static str, Fit);

/// What a value has to be.
#[derive(Clone, Copy)]
enum Fit {
    /// A whole number of at least this.
    AtLeast(u64),
    /// A part of the window: `0.8`, or `80` for 80 percent.
    Part,
    /// Text that is not empty.
    Name,
    Names,
    OneOf(&'static [&'static str]),
    Flag,
    /// An object with these and no others.
    Group(&'static [Setting]),
    /// Judged entry by entry where it is used, so that one that is wrong does not take the others away.
    Elsewhere,
}

const SECTIONS: [Section; 7] = [
    closed(
        "active",
        &[
            ("provider", Fit::Name),
            ("model", Fit::Name),
            ("sessionStore", Fit::Name),
            ("attachedSM", Fit::Name),
        ],
    ),
    closed(
        "loop",
        &[
            ("maxContinuations", Fit::AtLeast(1)),
            ("toolTimeoutMs", Fit::AtLeast(1)),
            ("hookTimeoutMs", Fit::AtLeast(1)),
        ],
    ),
    closed(
        "interaction",
        &[
            ("defaultTimeoutMs", Fit::AtLeast(1)),
            ("interactorGraceMs", Fit::AtLeast(0)),
            ("maxReprompts", Fit::AtLeast(0)),
            // Known, so that a file that has it is taken; no screen of this version heeds it.
            ("cancelOnText", Fit::Flag),
        ],
    ),
    closed(
        "headless",
        &[("grantStageTool", Fit::OneOf(&["deny", "halt"]))],
    ),
    closed("validation", &[("strict", Fit::Flag)]),
    closed(
        "context",
        &[
            ("warnAt", Fit::Part),
            ("compactAt", Fit::Part),
            ("graceful", Fit::Names),
        ],
    ),
    closed(
        "mcp",
        &[
            ("connectTimeoutMs", Fit::AtLeast(1)),
            ("callTimeoutMs", Fit::AtLeast(1)),
            ("startupGraceMs", Fit::AtLeast(0)),
            ("maxResultBytes", Fit::AtLeast(1)),
            ("resourceMaxBytes", Fit::AtLeast(1)),
            ("resourceMaxTokens", Fit::AtLeast(1)),
            ("servers", Fit::Elsewhere),
            ("resources", Fit::Elsewhere),
        ],
    ),
];

/// The rest of `providers` belongs to plugins.
const PROVIDERS: Section = Section {
    key: "providers",
    settings: &[(
        super::RETRY,
        Fit::Group(&[
            ("attempts", Fit::AtLeast(0)),
            ("firstMs", Fit::AtLeast(0)),
            ("longestMs", Fit::AtLeast(0)),
        ]),
    )],
    open: true,
};

const fn closed(key: &'static str, settings: &'static [Setting]) -> Section {
    Section {
        key,
        settings,
        open: false,
    }
}

/// A setting that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// The section it stands in.
    pub(super) section: &'static str,
    /// The member of the section that goes with it.
    pub(super) member: String,
    /// Where exactly, as a JSON Pointer.
    pub(super) pointer: String,
    /// What is wrong, said of that place.
    pub(super) what: String,
    /// The setting that was probably meant, if there is none of this name.
    pub(super) near: Option<&'static str>,
    /// Whether there is such a setting at all.
    pub(super) known: bool,
}

/// What cannot be used of what a document says in core's own sections.
pub(super) fn flaws(document: &Map<String, Value>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for section in SECTIONS.iter().chain([&PROVIDERS]) {
        let Some(members) = document.get(section.key).and_then(Value::as_object) else {
            continue;
        };
        for (member, value) in members {
            let place = Place {
                section: section.key,
                member,
                pointer: format!("/{}/{member}", section.key),
            };
            match setting(section.settings, member) {
                Some(fit) => place.judge(fit, value, &mut flaws),
                None if section.open => {}
                None => flaws.push(place.unknown(member, section.settings)),
            }
        }
    }
    flaws
}

fn setting(settings: &[Setting], name: &str) -> Option<Fit> {
    let mut settings = settings.iter();
    let (_, fit) = settings.find(|(known, _)| *known == name)?;
    Some(*fit)
}

/// Where a value stands.
struct Place<'a> {
    section: &'static str,
    member: &'a str,
    pointer: String,
}

impl Place<'_> {
    fn judge(&self, fit: Fit, value: &Value, flaws: &mut Vec<Flaw>) {
        let expected = match fit {
            Fit::AtLeast(least) if value.as_u64().is_some_and(|number| number >= least) => return,
            Fit::AtLeast(least) => format!("a whole number of {least} or more"),
            Fit::Part if part(value).is_some() => return,
            Fit::Part => {
                "a part of the window: more than 0 and at most 1, or a percentage up to 100"
                    .to_owned()
            }
            Fit::Name if value.as_str().is_some_and(|name| !name.is_empty()) => return,
            Fit::Name => "a name".to_owned(),
            Fit::Names if is_names(value) => return,
            Fit::Names => "a list of names".to_owned(),
            Fit::OneOf(words) if words.iter().any(|word| value == word) => return,
            Fit::OneOf(words) => format!("`{}`", words.join("` or `")),
            Fit::Flag if value.is_boolean() => return,
            Fit::Flag => "`true` or `false`".to_owned(),
            Fit::Elsewhere => return,
            Fit::Group(settings) => {
                let Value::Object(members) = value else {
                    return flaws.push(self.flaw("is not an object".to_owned()));
                };
                for (member, value) in members {
                    let place = Place {
                        pointer: format!("{}/{member}", self.pointer),
                        ..*self
                    };
                    match setting(settings, member) {
                        Some(fit) => place.judge(fit, value, flaws),
                        None => flaws.push(place.unknown(member, settings)),
                    }
                }
                return;
            }
        };
        flaws.push(self.flaw(format!("is not {expected}")));
    }

    fn flaw(&self, what: String) -> Flaw {
        Flaw {
            section: self.section,
            member: self.member.to_owned(),
            pointer: self.pointer.clone(),
            what,
            near: None,
            known: true,
        }
    }

    fn unknown(&self, name: &str, settings: &'static [Setting]) -> Flaw {
        let known = settings.iter().map(|(known, _)| *known);
        Flaw {
            near: nearest(name, known),
            known: false,
            ..self.flaw("is not known".to_owned())
        }
    }
}

/// A part of the window, between 0 and 1.
pub(crate) fn part(value: &Value) -> Option<f64> {
    let part = value.as_f64().map(|number| match number {
        percent if percent > 1.0 => percent / 100.0,
        part => part,
    });
    part.filter(|part| *part > 0.0 && *part <= 1.0)
}

fn is_names(value: &Value) -> bool {
    let names = value.as_array();
    names.is_some_and(|names| names.iter().all(Value::is_string))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(document: &Value) -> Vec<(String, String)> {
        let flaws = flaws(document.as_object().unwrap());
        flaws
            .into_iter()
            .map(|flaw| (flaw.pointer, flaw.what))
            .collect()
    }

    #[test]
    fn what_fits_has_no_flaws() {
        let document = json!({
            "active": {"provider": "echo", "model": "m", "sessionStore": "s", "attachedSM": "x"},
            "loop": {"maxContinuations": 1, "toolTimeoutMs": 1, "hookTimeoutMs": 9},
            "interaction": {"defaultTimeoutMs": 1, "interactorGraceMs": 0, "maxReprompts": 0, "cancelOnText": true},
            "headless": {"grantStageTool": "halt"},
            "validation": {"strict": true},
            "context": {"warnAt": 80, "compactAt": 0.9, "graceful": ["a"]},
            "mcp": {
                "connectTimeoutMs": 1, "callTimeoutMs": 1, "startupGraceMs": 0, "maxResultBytes": 1,
                "resourceMaxBytes": 1, "resourceMaxTokens": 1, "servers": 5, "resources": {},
            },
            "providers": {"retry": {"attempts": 0, "firstMs": 0, "longestMs": 1}, "other": {"x": 1}},
            "tools": {"grep": {"loop": 1}},
        });
        assert_eq!(found(&document), []);
    }

    #[test]
    fn what_does_not_is_told_in_its_place() {
        for (document, pointer, what) in [
            (
                json!({"loop": {"maxContinuations": "many"}}),
                "/loop/maxContinuations",
                "is not a whole number of 1 or more",
            ),
            (
                json!({"loop": {"maxContinuations": 0}}),
                "/loop/maxContinuations",
                "is not a whole number of 1 or more",
            ),
            (
                json!({"loop": {"maxContinuation": 5}}),
                "/loop/maxContinuation",
                "is not known",
            ),
            (
                json!({"providers": {"retry": {"attempts": "x"}}}),
                "/providers/retry/attempts",
                "is not a whole number of 0 or more",
            ),
            (
                json!({"providers": {"retry": {"tries": 1}}}),
                "/providers/retry/tries",
                "is not known",
            ),
            (
                json!({"interaction": {"defaultTimeoutMs": "x"}}),
                "/interaction/defaultTimeoutMs",
                "is not a whole number of 1 or more",
            ),
            (
                json!({"interaction": {"foo": 1}}),
                "/interaction/foo",
                "is not known",
            ),
            (
                json!({"headless": {"grantStageTool": "maybe"}}),
                "/headless/grantStageTool",
                "is not `deny` or `halt`",
            ),
            (
                json!({"validation": {"strict": "yes"}}),
                "/validation/strict",
                "is not `true` or `false`",
            ),
            (
                json!({"context": {"graceful": [1]}}),
                "/context/graceful",
                "is not a list of names",
            ),
            (
                json!({"mcp": {"maxResultBytes": 0}}),
                "/mcp/maxResultBytes",
                "is not a whole number of 1 or more",
            ),
        ] {
            let expected = [(pointer.to_owned(), what.to_owned())];
            assert_eq!(found(&document), expected, "{document}");
        }
    }

    #[test]
    fn a_part_is_a_fraction_or_a_percentage() {
        for (value, read) in [
            (json!(0.5), Some(0.5)),
            (json!(1), Some(1.0)),
            (json!(80), Some(0.8)),
            (json!(0), None),
            (json!(-1), None),
            (json!(101), None),
            (json!("x"), None),
        ] {
            assert_eq!(part(&value), read, "{value}");
        }
    }

    #[test]
    fn a_flaw_inside_a_group_takes_the_group_with_it() {
        let document = json!({"providers": {"retry": {"attempt": 1}}});
        let [flaw] = &flaws(document.as_object().unwrap())[..] else {
            panic!("one flaw");
        };
        assert_eq!((flaw.section, flaw.member.as_str()), ("providers", "retry"));
        assert_eq!((flaw.near, flaw.known), (Some("attempts"), false));
    }
}
