//! switch: another model answers from the next turn on, or everything stays as it is.
//!
//! ```text
//! resolve → check parameters → negotiate → bring up → write to the settings → publish → audit, events
//! ```
//!
//! What can fail stands before what is published, so a switch that fails has changed nothing.

mod entry;
mod parameters;

use serde_json::{Value, json};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::{Diagnostic, codes};
use stud_host_api::events::{
    CapabilityMismatch, CapabilityNegotiated, CapabilityWarning, ConfigSchemaViolation,
    DoubleCompactionConfigured, ParamCrossFieldInvalid, ParamForbiddenKey, ParamReserved,
    ParamSecretValue, ParamUnknown, ParamUnsupportedOnActive, ParamWireShape,
    ReasoningProviderPortabilityWarning,
};

pub(crate) use parameters::{ParamsOutcome, set_params, tell_forgotten};

use crate::environment::Environment;
use crate::identity::Identity;
use crate::model::{self, Model};
use crate::model_capabilities::{Doubt, Warning, needs_of, negotiate};
use crate::params::{Params, Problem, Vocabulary};
use crate::provenance::told;
use crate::register::PluginRuntime;
use crate::session::Session;
use crate::settings;
use entry::Candidate;

/// What a person wants instead. What is left out stays, as far as it can.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SwitchTarget<'a> {
    /// The entry.
    pub(crate) provider: Option<&'a str>,
    /// The model.
    pub(crate) model: Option<&'a str>,
}

/// What came of a switch.
#[derive(Debug)]
pub(crate) struct Switched {
    /// What answers from now on.
    pub(crate) model: Model,
    /// What the session needs and is not certain.
    pub(crate) warnings: Vec<Warning>,
    /// Parameters that the new model ignores.
    pub(crate) unheeded: Vec<Problem>,
}

/// Lets another model answer from the next turn on.
pub(crate) fn switch(
    session: &Session,
    ground: &Environment,
    means: &PluginRuntime,
    target: SwitchTarget<'_>,
) -> Result<Switched> {
    let _alone = session.choosing();
    if let Some(turn) = session.turn_id() {
        return Err(mid_turn(session, &turn));
    }
    let plugins = session.plugins();
    let from = session.model();
    let current = from.as_ref().map(|model| model.provider_id.as_str());
    let Some(id) = target.provider.or(current) else {
        return Err(model::absent(&plugins, "", &ground.settings, &[]));
    };
    let candidate = Candidate::find(session, id, ground, means)?;
    let settled = resolve(candidate.identity(), from.as_ref(), target).and_then(|to| {
        let settled = PreparedSwitch::of(session, candidate.identity(), from.clone(), to)?;
        let chosen = [
            ("provider", settled.to.provider_id.as_str()),
            ("model", settled.to.model_id.as_str()),
        ];
        let written = settings::choose(&ground.places.global_root, &chosen);
        written.map_err(|problem| told(&problem))?;
        Ok(settled)
    });
    match settled {
        Ok(settled) => {
            candidate.join(session, &plugins);
            Ok(settled.publish(session))
        }
        Err(error) => {
            candidate.withdraw(&means.limits);
            Err(error)
        }
    }
}

/// Lets the model that the settings chose answer the first turn, or says why the session cannot begin with it.
///
/// No other switch may happen meanwhile.
pub(crate) fn begin(session: &Session, model: Model) -> Result<()> {
    let plugins = session.plugins();
    let provider = model.provider(&plugins)?;
    let settled = PreparedSwitch::of(session, provider.identity(), None, model)?;
    parameters::audit_launch(session, &settled.assessed.params);
    for problem in &settled.assessed.problems {
        session.report(&Diagnostic::error(problem.code, problem.message.clone()).downgraded());
    }
    if !settled.assessed.problems.is_empty() || !needs_of(&plugins).is_empty() {
        settled.tell_capabilities(session);
    }
    session.choose(settled.to, settled.assessed.params);
    Ok(())
}

/// The model that was meant. Another entry keeps the model if it has one of that name, and else begins with its first.
fn resolve(provider: &Identity, from: Option<&Model>, target: SwitchTarget<'_>) -> Result<Model> {
    let kept = || {
        let name = from.map(|model| model.model_id.as_str());
        name.filter(|name| model::models(provider).iter().any(|model| model == name))
    };
    Model::of(provider, target.model.or_else(kept))
}

fn mid_turn(session: &Session, turn: &str) -> Error {
    let code = &codes::CONCURRENT_TURN_FORBIDDEN;
    let message = "the model does not change while a turn runs";
    Error::new(code.class, code.name, message)
        .with("sessionId", session.id())
        .with("activeTurnId", turn)
}

/// Parameters for a model, and what is wrong with them there.
struct Assessed {
    params: Params,
    problems: Vec<Problem>,
}

/// Lays overrides over the entry's own parameters, and checks what comes of it.
fn assess(session: &Session, provider: &Identity, model: &Model, params: Params) -> Assessed {
    let params = params.over(model::default_params(provider));
    let claims = model.capabilities(provider);
    let claims = session
        .probes()
        .settle(&model.provider_id, &model.model_id, claims);
    let problems = Vocabulary::of(provider).check(&params.bag(), &claims);
    Assessed { params, problems }
}

/// The parameters of the session for a model that a child of it runs on. Fails if the model would refuse them.
pub(crate) fn params_for(session: &Session, provider: &Identity, model: &Model) -> Result<Params> {
    let assessed = assess(session, provider, model, session.params());
    match Problem::refusal(&assessed.problems) {
        Some(refusal) => Err(refusal),
        None => Ok(assessed.params),
    }
}

/// Publishes each problem of a parameter as the event that has the name of its code.
fn tell_problems(session: &Session, correlation_id: &str, problems: &[Problem]) {
    let books = session.books();
    for problem in problems {
        let (code, told) = (problem.code, problem.told());
        if code == &codes::PARAM_CROSS_FIELD_INVALID {
            books.publish(correlation_id, &ParamCrossFieldInvalid(told));
        } else if code == &codes::PARAM_FORBIDDEN_KEY {
            books.publish(correlation_id, &ParamForbiddenKey(told));
        } else if code == &codes::PARAM_RESERVED {
            books.publish(correlation_id, &ParamReserved(told));
        } else if code == &codes::PARAM_SECRET_VALUE {
            books.publish(correlation_id, &ParamSecretValue(told));
        } else if code == &codes::PARAM_UNKNOWN {
            books.publish(correlation_id, &ParamUnknown(told));
        } else if code == &codes::PARAM_UNSUPPORTED_ON_ACTIVE {
            books.publish(correlation_id, &ParamUnsupportedOnActive(told));
        } else if code == &codes::PARAM_WIRE_SHAPE {
            books.publish(correlation_id, &ParamWireShape(told));
        } else {
            books.publish(correlation_id, &ConfigSchemaViolation(told));
        }
    }
}

/// What has the backend shorten conversations by itself, of those that can.
const OWN_COMPACTION: (&str, &str) = ("anthropic", "contextManagement");

/// Tells that a conversation may be compacted twice: by core, whose summary is the one that is kept, and on the wire by
/// the backend.
fn tell_double_compaction(
    session: &Session,
    provider: &Identity,
    model: &Model,
    params: &Params,
    correlation_id: &str,
) {
    let (protocol, name) = OWN_COMPACTION;
    if model::protocol(provider) != protocol {
        return;
    }
    let bag = params.bag();
    let set = bag.leaves().find(|(path, _)| path[0] == name);
    if let Some((_, leaf)) = set.filter(|(_, leaf)| !leaf.value.is_null()) {
        let configured = DoubleCompactionConfigured {
            model_id: model.model_id.clone(),
            param_path: name.to_owned(),
            provider_id: model.provider_id.clone(),
            source_layer: leaf.layer.as_str().to_owned(),
        };
        let books = session.books();
        books.publish(correlation_id, &configured);
    }
}

/// A switch that will succeed once it is written down.
struct PreparedSwitch {
    from: Option<Model>,
    to: Model,
    /// The protocols of both.
    protocols: (Option<String>, String),
    assessed: Assessed,
    warnings: Vec<Warning>,
    correlation_id: String,
}

impl PreparedSwitch {
    fn of(session: &Session, provider: &Identity, from: Option<Model>, to: Model) -> Result<Self> {
        let correlation_id = session.correlation_id();
        let plugins = session.plugins();
        let before = from.as_ref().map(|from| {
            let provider = from.provider(&plugins);
            provider.map_or_else(
                |_| from.provider_id.clone(),
                |provider| model::protocol(provider.identity()).to_owned(),
            )
        });
        let mut settling = Self {
            protocols: (before, model::protocol(provider).to_owned()),
            assessed: assess(session, provider, &to, session.params()),
            warnings: Vec::new(),
            from,
            to,
            correlation_id,
        };
        if let Some(refusal) = Problem::refusal(&settling.assessed.problems) {
            tell_problems(
                session,
                &settling.correlation_id,
                &settling.assessed.problems,
            );
            return Err(refusal);
        }
        let Assessed { params, .. } = &settling.assessed;
        let (to, correlation_id) = (&settling.to, &settling.correlation_id);
        tell_double_compaction(session, provider, to, params, correlation_id);
        let claims = settling.to.capabilities(provider);
        let (provider_id, model_id) = (&settling.to.provider_id, &settling.to.model_id);
        let claims = session.probes().settle(provider_id, model_id, claims);
        match negotiate(&needs_of(&plugins), &claims) {
            Ok(warnings) => settling.warnings = warnings,
            Err(missing) => {
                settling.reject(session, &missing);
                return Err(missing
                    .with("providerId", provider_id.as_str())
                    .with("modelId", model_id.as_str()));
            }
        }
        Ok(settling)
    }

    /// Puts on record that a model will not do.
    fn reject(&self, session: &Session, missing: &Error) {
        let reason = json!({"code": missing.code(), "message": missing.message()});
        if self.changes_protocol() {
            let mut payload = self.providers();
            payload["reason"] = reason.clone();
            self.audit(session, "ProviderSwitchRejected", payload);
        }
        let mut payload = self.models();
        payload["reason"] = reason;
        self.audit(session, "ModelSwitchRejected", payload);
        let name = missing.context().get("name").and_then(Value::as_str);
        self.tell_mismatch(session, name.into_iter(), Vec::new());
    }

    fn tell_mismatch<'a>(
        &self,
        session: &Session,
        missing: impl Iterator<Item = &'a str>,
        params_affected: Vec<String>,
    ) {
        let mismatch = CapabilityMismatch {
            direction: "switch-into".to_owned(),
            missing_capabilities: missing.map(str::to_owned).collect(),
            params_affected,
        };
        let books = session.books();
        books.publish(&self.correlation_id, &mismatch);
    }

    /// Makes it so, and tells everyone.
    fn publish(self, session: &Session) -> Switched {
        session.choose(self.to.clone(), self.assessed.params.clone());
        if self.changes_protocol() {
            self.audit(session, "ProviderSwitch", self.providers());
        }
        self.audit(session, "ModelSwitch", self.models());
        self.tell_capabilities(session);
        if self.changes_protocol() && self.protocols.0.as_deref() == Some("anthropic") {
            self.warn_of_reasoning(session);
        }
        Switched {
            model: self.to,
            warnings: self.warnings,
            unheeded: self.assessed.problems,
        }
    }

    fn tell_capabilities(&self, session: &Session) {
        let problems = self.assessed.problems.iter();
        let affected: Vec<String> = problems.map(|problem| problem.path.clone()).collect();
        if affected.is_empty() {
            let warnings = self.warnings.iter().map(|warning| CapabilityWarning {
                name: warning.name.as_str().to_owned(),
                reason: warning.reason,
            });
            let negotiated = CapabilityNegotiated {
                model_id: self.to.model_id.clone(),
                provider_id: self.to.provider_id.clone(),
                warnings: warnings.collect(),
            };
            let books = session.books();
            books.publish(&self.correlation_id, &negotiated);
            return;
        }
        tell_problems(session, &self.correlation_id, &self.assessed.problems);
        let unmet = self.warnings.iter();
        let unmet = unmet.filter(|warning| warning.reason == Doubt::PreferredUnmet);
        let unmet = unmet.map(|warning| warning.name.as_str());
        self.tell_mismatch(session, unmet, affected);
    }

    /// Reasoning that one backend has signed means nothing to another.
    fn warn_of_reasoning(&self, session: &Session) {
        let from = self.from.as_ref();
        let message =
            "reasoning of earlier turns is not sent to the new provider, which could not read it";
        let warning = ReasoningProviderPortabilityWarning {
            from: from.map(|from| from.provider_id.clone()),
            message: message.to_owned(),
            model_id: self.to.model_id.clone(),
            to: self.to.provider_id.clone(),
        };
        let books = session.books();
        books.publish(&self.correlation_id, &warning);
    }

    fn changes_protocol(&self) -> bool {
        let (before, after) = &self.protocols;
        before.as_ref().is_some_and(|before| before != after)
    }

    fn providers(&self) -> Value {
        let from = self.from.as_ref().map(|from| &from.provider_id);
        json!({"from": from, "to": self.to.provider_id})
    }

    fn models(&self) -> Value {
        let from = self.from.as_ref().map(|from| &from.model_id);
        json!({"from": from, "to": self.to.model_id, "providerId": self.to.provider_id})
    }

    fn audit(&self, session: &Session, class: &str, payload: Value) {
        let books = session.books();
        books.audit(class, None, &self.correlation_id, payload);
    }
}
