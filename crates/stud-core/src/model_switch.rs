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

pub(crate) use parameters::{Outcome, set_params, tell_forgotten};

use crate::activate::{Identity, Means};
use crate::environment::Environment;
use crate::model::{self, Model};
use crate::model_capabilities::{Doubt, Warning, needs_of, negotiate};
use crate::params::{Params, Problem, Vocabulary};
use crate::provenance::told;
use crate::session::Session;
use crate::settings;
use entry::Candidate;

/// What a person wants instead. What is left out stays, as far as it can.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Target<'a> {
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
    /// Parameters that the new model does not heed.
    pub(crate) unheeded: Vec<Problem>,
}

/// Lets another model answer from the next turn on.
pub(crate) fn switch(
    session: &Session,
    ground: &Environment,
    means: &Means,
    target: Target<'_>,
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
        let settled = Settling::of(session, candidate.identity(), from.clone(), to)?;
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
/// Nobody else may choose meanwhile.
pub(crate) fn begin(session: &Session, model: Model) -> Result<()> {
    let plugins = session.plugins();
    let provider = model.provider(&plugins)?;
    let settled = Settling::of(session, provider.identity(), None, model)?;
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
fn resolve(provider: &Identity, from: Option<&Model>, target: Target<'_>) -> Result<Model> {
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

/// Tells of each fault of a parameter, by its name.
fn tell_problems(session: &Session, correlation_id: &str, problems: &[Problem]) {
    for problem in problems {
        let books = session.books();
        books.publish(problem.code.name, correlation_id, &problem.to_json());
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
        let told = json!({
            "providerId": model.provider_id,
            "modelId": model.model_id,
            "paramPath": name,
            "sourceLayer": leaf.layer.as_str(),
        });
        let books = session.books();
        books.publish("DoubleCompactionConfigured", correlation_id, &told);
    }
}

/// A switch that will succeed once it is written down.
struct Settling {
    from: Option<Model>,
    to: Model,
    /// The protocols of both.
    protocols: (Option<String>, String),
    assessed: Assessed,
    warnings: Vec<Warning>,
    correlation_id: String,
}

impl Settling {
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
        let name = missing.context().get("name").cloned();
        let mismatch = json!({
            "missingCapabilities": [name],
            "paramsAffected": [],
            "direction": "switch-into",
        });
        let books = session.books();
        books.publish("CapabilityMismatch", &self.correlation_id, &mismatch);
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
        let books = session.books();
        let problems = self.assessed.problems.iter();
        let affected: Vec<&str> = problems.map(|problem| &*problem.path).collect();
        if affected.is_empty() {
            let negotiated = json!({
                "providerId": self.to.provider_id,
                "modelId": self.to.model_id,
                "warnings": self.warnings,
            });
            books.publish("CapabilityNegotiated", &self.correlation_id, &negotiated);
            return;
        }
        tell_problems(session, &self.correlation_id, &self.assessed.problems);
        let unmet = self.warnings.iter();
        let unmet = unmet.filter(|warning| warning.reason == Doubt::PreferredUnmet);
        let mismatch = json!({
            "missingCapabilities": unmet.map(|warning| warning.name).collect::<Vec<_>>(),
            "paramsAffected": affected,
            "direction": "switch-into",
        });
        books.publish("CapabilityMismatch", &self.correlation_id, &mismatch);
    }

    /// Reasoning that one backend has signed means nothing to another.
    fn warn_of_reasoning(&self, session: &Session) {
        let mut warning = self.providers();
        warning["modelId"] = self.to.model_id.as_str().into();
        warning["message"] =
            "reasoning of earlier turns is not sent to the new provider, which could not read it"
                .into();
        session.books().publish(
            "ReasoningProviderPortabilityWarning",
            &self.correlation_id,
            &warning,
        );
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
