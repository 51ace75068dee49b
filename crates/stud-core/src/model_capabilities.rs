//! negotiate: what a session needs of its model, held against what the model claims.

use std::collections::BTreeMap;

use serde::Serialize;
use stud_contract_meta::{Capability, Error, Kind, ModelNeed, NeedLevel, Result};
use stud_contract_provider::{Capabilities, ContextWindow, Level};
use stud_diagnostics::codes;
pub use stud_host_api::events::CapabilityDoubt as Doubt;

use crate::registry::Registry;
use crate::sync::{Mutex, lock};

/// Something that is needed and not certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What is needed.
    pub name: Capability,
    /// Why it is not certain.
    pub reason: Doubt,
}

/// Holds every need against the claims, in order. The first that cannot be done without and is not there ends it, with
/// `ProviderCapability/MissingCapability`.
pub fn negotiate(needs: &[ModelNeed], claims: &Capabilities) -> Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    for need in needs {
        let name = need.name;
        let doubt = match (need.level, answer(need, claims)) {
            (NeedLevel::Probed, _) | (_, Satisfaction::Unknown) => Doubt::ProbePending,
            (_, Satisfaction::There) => continue,
            (NeedLevel::Preferred, Satisfaction::Absent) => Doubt::PreferredUnmet,
            (NeedLevel::Hard, Satisfaction::Absent) => return Err(missing(need, claims)),
        };
        warnings.push(Warning {
            name,
            reason: doubt,
        });
    }
    Ok(warnings)
}

enum Satisfaction {
    There,
    Absent,
    Unknown,
}

fn answer(need: &ModelNeed, claims: &Capabilities) -> Satisfaction {
    let Some(level) = claim(claims, need.name) else {
        return match (claims.context_window, need.minimum) {
            (ContextWindow::Probed, _) => Satisfaction::Unknown,
            (ContextWindow::Tokens(tokens), Some(minimum)) if tokens < minimum => {
                Satisfaction::Absent
            }
            (ContextWindow::Tokens(_), _) => Satisfaction::There,
        };
    };
    match level {
        Level::Absent => Satisfaction::Absent,
        Level::Hard | Level::Preferred | Level::Probed => Satisfaction::There,
    }
}

/// What is claimed of a capability that is there or not; nothing for the window, which is a number.
pub fn claim(claims: &Capabilities, name: Capability) -> Option<Level> {
    Some(match name {
        Capability::Streaming => claims.streaming,
        Capability::ToolCalling => claims.tool_calling,
        Capability::StructuredOutput => claims.structured_output,
        Capability::Multimodal => claims.multimodal,
        Capability::Reasoning => claims.reasoning,
        Capability::PromptCaching => claims.prompt_caching,
        Capability::ContextWindow => return None,
    })
}

/// The same, to be changed.
pub(crate) fn claim_mut(claims: &mut Capabilities, name: Capability) -> Option<&mut Level> {
    Some(match name {
        Capability::Streaming => &mut claims.streaming,
        Capability::ToolCalling => &mut claims.tool_calling,
        Capability::StructuredOutput => &mut claims.structured_output,
        Capability::Multimodal => &mut claims.multimodal,
        Capability::Reasoning => &mut claims.reasoning,
        Capability::PromptCaching => &mut claims.prompt_caching,
        Capability::ContextWindow => return None,
    })
}

fn missing(need: &ModelNeed, claims: &Capabilities) -> Error {
    let (code, name) = (&codes::MISSING_CAPABILITY, need.name);
    let message = match (need.minimum, claims.context_window) {
        (Some(minimum), ContextWindow::Tokens(tokens)) => format!(
            "the session needs a `{name}` of {minimum} tokens, and the model has one of {tokens}"
        ),
        _ => format!("the session needs `{name}`, and the model does not have it"),
    };
    Error::new(code.class, code.name, message)
        .with("name", name.as_str())
        .with("capability", name.as_str())
}

/// What a state machine needs of every model: its stages end with a tool call.
const STAGES: ModelNeed = ModelNeed {
    name: Capability::ToolCalling,
    level: NeedLevel::Hard,
    minimum: None,
};

/// What the plugins of a session need of its model: the state machine that is attached, then context providers, then
/// hooks, each by scope and id.
pub fn needs_of(plugins: &Registry) -> Vec<ModelNeed> {
    let mut needs = Vec::new();
    for kind in [Kind::StateMachine, Kind::ContextProvider, Kind::Hook] {
        for plugin in plugins.of_kind(kind) {
            let identity = plugin.identity();
            if identity.life.word() != "active" {
                continue;
            }
            needs.extend((kind == Kind::StateMachine).then_some(STAGES));
            needs.extend(&identity.manifest.model_needs);
        }
    }
    needs
}

/// What was found out by use about capabilities that a model only claims to be `probed`.
#[derive(Debug, Default)]
pub struct Probes(Mutex<BTreeMap<(String, String, Capability), bool>>);

impl Probes {
    /// Remembers whether a model has a capability. What was found out first stays.
    pub fn found(&self, provider_id: &str, model_id: &str, name: Capability, is_there: bool) {
        let key = (provider_id.to_owned(), model_id.to_owned(), name);
        lock(&self.0).entry(key).or_insert(is_there);
    }

    /// Whether a model is known to have a capability; nothing before anyone has tried.
    pub fn probe(&self, provider_id: &str, model_id: &str, name: Capability) -> Option<bool> {
        let key = (provider_id.to_owned(), model_id.to_owned(), name);
        lock(&self.0).get(&key).copied()
    }

    /// The claims, with what is known by now in the place of what had to be tried.
    pub fn settle(
        &self,
        provider_id: &str,
        model_id: &str,
        mut claims: Capabilities,
    ) -> Capabilities {
        for name in Capability::ALL {
            let known = self.probe(provider_id, model_id, name);
            let claim = claim_mut(&mut claims, name).filter(|claim| **claim == Level::Probed);
            if let (Some(is_there), Some(claim)) = (known, claim) {
                *claim = if is_there { Level::Hard } else { Level::Absent };
            }
        }
        claims
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(name: Capability, level: NeedLevel) -> ModelNeed {
        ModelNeed {
            name,
            level,
            minimum: None,
        }
    }

    fn window(level: NeedLevel, minimum: Option<u64>) -> ModelNeed {
        ModelNeed {
            minimum,
            ..need(Capability::ContextWindow, level)
        }
    }

    fn without(name: Capability) -> Capabilities {
        let mut claims = Capabilities::default();
        match claim_mut(&mut claims, name) {
            Some(claim) => *claim = Level::Absent,
            None => claims.context_window = ContextWindow::Tokens(10),
        }
        claims
    }

    #[test]
    fn nothing_needed_is_nothing_missing() {
        assert_eq!(negotiate(&[], &Capabilities::default()).unwrap(), []);
    }

    #[test]
    fn every_name_comes_back_as_it_is() {
        for name in Capability::ALL {
            let hard = ModelNeed {
                minimum: (name == Capability::ContextWindow).then_some(11),
                ..need(name, NeedLevel::Hard)
            };
            let error = negotiate(&[hard], &without(name)).unwrap_err();
            assert_eq!(
                (error.class(), error.code()),
                ("ProviderCapability", "MissingCapability")
            );
            assert_eq!(error.context()["name"], name.as_str());
            assert_eq!(error.context()["capability"], name.as_str());
            let preferred = ModelNeed {
                level: NeedLevel::Preferred,
                ..hard
            };
            let warnings = negotiate(&[preferred], &without(name)).unwrap();
            assert_eq!(
                warnings,
                [Warning {
                    name,
                    reason: Doubt::PreferredUnmet
                }]
            );
        }
    }

    #[test]
    fn what_is_only_tried_never_blocks() {
        let probed = need(Capability::ToolCalling, NeedLevel::Probed);
        let warnings = negotiate(&[probed], &without(Capability::ToolCalling)).unwrap();
        assert_eq!(warnings[0].reason, Doubt::ProbePending);
        // A claim that has to be tried is good enough for a need that is hard.
        let hard = need(Capability::ToolCalling, NeedLevel::Hard);
        assert_eq!(negotiate(&[hard], &Capabilities::default()).unwrap(), []);
    }

    #[test]
    fn a_window_is_a_number() {
        let claims = |tokens| Capabilities {
            context_window: ContextWindow::Tokens(tokens),
            ..Capabilities::default()
        };
        let hard = window(NeedLevel::Hard, Some(1000));
        assert!(negotiate(&[hard], &claims(999)).is_err());
        assert_eq!(negotiate(&[hard], &claims(1000)).unwrap(), []);
        assert_eq!(
            negotiate(&[window(NeedLevel::Hard, None)], &claims(1)).unwrap(),
            []
        );
        let warnings = negotiate(&[hard], &Capabilities::default()).unwrap();
        assert_eq!(warnings[0].reason, Doubt::ProbePending);
    }

    #[test]
    fn the_first_that_is_missing_ends_it() {
        let mut claims = without(Capability::Reasoning);
        claims.tool_calling = Level::Absent;
        let needs = [
            need(Capability::Reasoning, NeedLevel::Preferred),
            need(Capability::ToolCalling, NeedLevel::Hard),
            need(Capability::Reasoning, NeedLevel::Hard),
        ];
        let error = negotiate(&needs, &claims).unwrap_err();
        assert_eq!(error.context()["name"], "toolCalling");
    }

    #[test]
    fn what_use_has_shown_stays() {
        let probes = Probes::default();
        let name = Capability::ToolCalling;
        assert_eq!(probes.probe("p", "m", name), None);
        probes.found("p", "m", name, false);
        probes.found("p", "m", name, true);
        assert_eq!(probes.probe("p", "m", name), Some(false));
        let settled = |model| probes.settle("p", model, Capabilities::default());
        assert_eq!(settled("m").tool_calling, Level::Absent);
        assert_eq!(settled("other").tool_calling, Level::Probed);
        // What a provider guarantees is not taken back by one failure.
        let sure = Capabilities {
            tool_calling: Level::Hard,
            ..Capabilities::default()
        };
        assert_eq!(probes.settle("p", "m", sure).tool_calling, Level::Hard);
    }
}
