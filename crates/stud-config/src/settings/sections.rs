//! Checks what a settings file says in core's own sections against the declarations.

use serde_json::{Map, Value};

use super::table::{Check, Declaration, Section, sections};
use crate::did_you_mean::nearest;

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
    for section in sections().filter(|section| section.check == Check::Closed) {
        let Some(members) = document.get(section.key).and_then(Value::as_object) else {
            continue;
        };
        match section.group {
            None => {
                for (member, value) in members {
                    let place = Place {
                        section: section.key,
                        member,
                        pointer: format!("/{}/{member}", section.key),
                    };
                    place.judge(member, value, section, &mut flaws);
                }
            }
            Some(group) => flaws.extend(flaws_of_group(section, group, members)),
        }
    }
    flaws
}

/// A group is one entry of its section: what is wrong inside it takes the whole of it away.
fn flaws_of_group(section: &Section, group: &str, members: &Map<String, Value>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let at = |pointer| Place {
        section: section.key,
        member: group,
        pointer,
    };
    let pointer = format!("/{}/{group}", section.key);
    match members.get(group) {
        None => {}
        Some(Value::Object(members)) => {
            for (member, value) in members {
                let place = at(format!("{pointer}/{member}"));
                place.judge(member, value, section, &mut flaws);
            }
        }
        Some(_) => flaws.push(at(pointer).flaw("is not an object".to_owned())),
    }
    flaws
}

/// Where a value stands.
struct Place<'a> {
    section: &'static str,
    member: &'a str,
    pointer: String,
}

impl Place<'_> {
    fn judge(&self, name: &str, value: &Value, section: &Section, flaws: &mut Vec<Flaw>) {
        let mut settings = section.settings.iter();
        match settings.find(|known| known.key == name) {
            None => flaws.push(self.unknown(name, section.settings)),
            Some(known) if known.kind.fits(known.min, value) => {}
            Some(known) => {
                let expected = known.kind.expected(known.min);
                flaws.push(self.flaw(format!("is not {expected}")));
            }
        }
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

    fn unknown(&self, name: &str, settings: &'static [Declaration]) -> Flaw {
        let known = settings.iter().map(|known| known.key);
        Flaw {
            near: nearest(name, known),
            known: false,
            ..self.flaw("is not known".to_owned())
        }
    }
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
    fn a_flaw_inside_a_group_takes_the_group_with_it() {
        let document = json!({"providers": {"retry": {"attempt": 1}}});
        let [flaw] = &flaws(document.as_object().unwrap())[..] else {
            panic!("one flaw");
        };
        assert_eq!((flaw.section, flaw.member.as_str()), ("providers", "retry"));
        assert_eq!((flaw.near, flaw.known), (Some("attempts"), false));
    }
}
