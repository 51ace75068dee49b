//! Parameters that a person sets, and those that the last process had and this one has not.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::audit::AuditQuery;
use stud_host_api::events::{CoreEvent, ParamsChanged, RuntimeParamsNotResumed};

use super::{assess, tell_double_compaction, tell_problems};
use crate::ids;
use crate::model::{self, Model};
use crate::params::{Layer, Params, Problem, Setting, last_of_each, redacted};
use crate::session::Session;

/// What came of setting parameters.
#[derive(Debug)]
pub(crate) enum ParamsOutcome {
    /// All were set. Some may be ignored by the model.
    Changed(Vec<Problem>),
    /// None was.
    Rejected(Vec<Problem>),
}

/// Sets parameters for the rest of the session, all or none.
pub(crate) fn set_params(session: &Session, settings: Vec<Setting>) -> Result<ParamsOutcome> {
    let _alone = session.choosing();
    let (provider, model) = answering(session)?;
    let settings = last_of_each(settings);
    let params = session.params().with(settings.clone());
    let correlation_id = format!("params:{}", ids::fresh());
    let assessed = assess(session, provider.identity(), &model, params);
    if Problem::refusal(&assessed.problems).is_some() {
        tell_problems(session, &correlation_id, &assessed.problems);
        return Ok(ParamsOutcome::Rejected(assessed.problems));
    }
    for setting in &settings {
        audit(session, &correlation_id, setting, Layer::Session);
    }
    session.set_params(assessed.params);
    for setting in &settings {
        let changed = ParamsChanged {
            correlation_id: correlation_id.clone(),
            param_path: setting.path.join("."),
            redacted_delta: redacted(&setting.value),
            source_layer: Layer::Session.as_str().to_owned(),
        };
        let books = session.books();
        books.publish(&correlation_id, &changed);
    }
    tell_problems(session, &correlation_id, &assessed.problems);
    tell_double_compaction(
        session,
        provider.identity(),
        &model,
        &session.params(),
        &correlation_id,
    );
    Ok(ParamsOutcome::Changed(assessed.problems))
}

fn answering(session: &Session) -> Result<(std::sync::Arc<crate::activate::Active>, Model)> {
    let model = session.model().ok_or_else(|| {
        let code = &codes::UNKNOWN_CONFIG_KEY;
        Error::new(
            code.class,
            code.name,
            "no model was chosen for this session",
        )
    })?;
    let provider = model::provider(&session.plugins(), &model.provider_id)?;
    Ok((provider, model))
}

/// Puts what the launch sets on record, once.
pub(super) fn audit_launch(session: &Session, params: &Params) {
    let correlation_id = format!("launch:{}", ids::fresh());
    for setting in params.of_launch() {
        audit(session, &correlation_id, setting, Layer::Launch);
    }
}

fn audit(session: &Session, correlation_id: &str, setting: &Setting, layer: Layer) {
    let payload = json!({
        "paramPath": setting.path,
        "sourceLayer": layer.as_str(),
        "redactedValue": redacted(&setting.value),
    });
    let books = session.books();
    books.audit("Params", Some(ParamsChanged::NAME), correlation_id, payload);
}

/// Tells which parameters the process before this one had and this one does not. They were never written down to be
/// used again, but that they were set is on record.
pub(crate) fn tell_forgotten(session: &Session) {
    let Some(trail) = &session.books().trail else {
        return;
    };
    // An unreadable trail is reported by its writer.
    let Ok(records) = trail.query(&AuditQuery::default()) else {
        return;
    };
    let (mut before, mut since) = (BTreeMap::new(), BTreeMap::new());
    for record in records {
        let begins = matches!(record.kind.as_deref(), Some("start" | "resume"));
        if record.class == "SessionLifecycle" && begins {
            before = std::mem::take(&mut since);
        } else if record.class == "Params" && record.kind.as_deref() == Some(ParamsChanged::NAME) {
            let path = record.payload.get("paramPath").map(Value::to_string);
            since.insert(path, record.payload);
        }
    }
    let correlation_id = ids::fresh();
    let books = session.books();
    for payload in before.into_values() {
        let path = payload.get("paramPath").and_then(Value::as_array);
        let names: Vec<&str> = path
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let layer = payload.get("sourceLayer").and_then(Value::as_str);
        let told = RuntimeParamsNotResumed {
            correlation_id: correlation_id.clone(),
            param_path: names.join("."),
            redacted_value: payload.get("redactedValue").cloned(),
            source_layer: layer.map(str::to_owned),
        };
        books.audit(
            "Params",
            Some(RuntimeParamsNotResumed::NAME),
            &correlation_id,
            Value::Object(payload),
        );
        books.publish(&correlation_id, &told);
    }
}
