//! What is checked before a person is asked about a child: its task, its depth, its model and its tools, in this order.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stud_contract_meta::{Capability, Error, ModelNeed, NeedLevel, Result};
use stud_contract_provider::Level;
use stud_diagnostics::codes;
use stud_host_api::session::{AbortReason, ChildOutcome, ModelChoice, OpenChild};

use crate::activate::Active;
use crate::did_you_mean::nearest;
use crate::model::Model;
use crate::model_capabilities::{claim, needs_of, negotiate};
use crate::model_switch;
use crate::params::Params;
use crate::redact::shape_of;
use crate::registry::Registry;
use crate::session::Session;
use crate::tool_registry::{DELEGATE, ToolRef};

/// How deep children may be, unless the settings of `delegate` say otherwise.
const MAX_DEPTH: u64 = 1;

/// What the checks of a call of `delegate` came to.
#[derive(Debug)]
pub(crate) enum Preflight {
    /// The arguments with everything settled that an approval is about: the model, the depth, and the tools in order.
    Ready(Value),
    /// No child can be opened. The call has this result, and no person is asked.
    Answered(Value),
}

/// A child that may be opened if a person allows it.
#[derive(Debug)]
pub(super) struct CheckedRequest {
    pub(super) depth: u32,
    pub(super) model: Model,
    pub(super) params: Params,
    /// Its tools, each once and in the order of their names.
    pub(super) tools: Vec<ToolRef>,
}

/// Why no child is opened.
#[derive(Debug)]
pub(super) struct Refusal {
    reason: AbortReason,
    detail: String,
}

impl Refusal {
    fn new(reason: AbortReason, detail: impl Into<String>) -> Self {
        Self {
            reason,
            detail: detail.into(),
        }
    }

    /// What the call came to. The child never had an id.
    pub(super) fn outcome(self) -> ChildOutcome {
        ChildOutcome::Aborted {
            subagent_id: None,
            reason: self.reason,
            detail: Some(self.detail),
        }
    }
}

/// Checks a call of `delegate` whose arguments fit its schema.
///
/// Only a task that must not be given to any model is an error.
pub(crate) fn preflight(session: &Session, plugins: &Registry, args: &Value) -> Result<Preflight> {
    let asked = read(session, args)?;
    Ok(match check(session, plugins, &asked)? {
        Ok(checked) => Preflight::Ready(canonical(&asked, &checked)),
        Err(refusal) => Preflight::Answered(refusal.outcome().result()),
    })
}

fn read(session: &Session, args: &Value) -> Result<OpenChild> {
    let text = |member: &str| args[member].as_str().map(str::to_owned);
    let names = args["requestedEnvelope"].as_array();
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    let model = match &args["model"] {
        Value::Null => None,
        model => Some(serde_json::from_value::<ModelChoice>(model.clone()).map_err(misread)?),
    };
    Ok(OpenChild {
        prompt: text("prompt").unwrap_or_default(),
        requested_envelope: names.map(str::to_owned).collect(),
        label: text("label"),
        depth: session.depth() + 1,
        model,
    })
}

fn misread(error: serde_json::Error) -> Error {
    let code = &codes::INPUT_INVALID;
    Error::new(
        code.class,
        code.name,
        format!("`model` cannot be read: {error}"),
    )
    .with("fieldPath", "/model")
}

fn canonical(asked: &OpenChild, checked: &CheckedRequest) -> Value {
    let mut args = Map::new();
    let mut put = |member: &str, value: Value| args.insert(member.to_owned(), value);
    put("prompt", asked.prompt.as_str().into());
    put("requestedEnvelope", names(&checked.tools).into());
    if let Some(label) = &asked.label {
        put("label", label.as_str().into());
    }
    let Model {
        provider_id,
        model_id,
    } = &checked.model;
    put(
        "model",
        json!({"providerId": provider_id, "modelId": model_id}),
    );
    put("depth", checked.depth.into());
    Value::Object(args)
}

pub(super) fn names(tools: &[ToolRef]) -> Vec<String> {
    tools
        .iter()
        .map(|found| found.tool().name.clone())
        .collect()
}

/// The checks, in order; the first that fails counts.
pub(super) fn check(
    session: &Session,
    plugins: &Registry,
    asked: &OpenChild,
) -> Result<std::result::Result<CheckedRequest, Refusal>> {
    screen(&asked.prompt)?;
    Ok(depth(session, plugins, asked).and_then(|depth| {
        let (model, params) = model(session, plugins, asked)?;
        let tools = tools(session, plugins, asked)?;
        Ok(CheckedRequest {
            depth,
            model,
            params,
            tools,
        })
    }))
}

/// A task is sent to a model, so it must not hold what has the shape of a credential.
fn screen(prompt: &str) -> Result<()> {
    let code = &codes::INPUT_INVALID;
    if prompt.trim().is_empty() {
        let message = "`prompt` is empty; say what the subagent has to do";
        return Err(Error::new(code.class, code.name, message).with("fieldPath", "/prompt"));
    }
    let Some(shape) = shape_of(prompt) else {
        return Ok(());
    };
    let code = &codes::CONTEXT_CONTAINS_FORBIDDEN_SOURCE;
    let message = format!(
        "the task of a subagent contains what looks like a credential ({shape}); take it out, and call again"
    );
    Err(Error::new(code.class, code.name, message)
        .with("ownerExtId", DELEGATE)
        .with("fragmentKind", "subagent-prompt")
        .with("patternId", shape))
}

fn depth(
    session: &Session,
    plugins: &Registry,
    asked: &OpenChild,
) -> std::result::Result<u32, Refusal> {
    let set = plugins.get(DELEGATE).and_then(|plugin| {
        let max_depth = plugin.identity().setting_or_default("maxDepth")?;
        max_depth.as_u64()
    });
    let max_depth = set.unwrap_or(MAX_DEPTH);
    let depth = session.depth() + 1;
    // What the caller believes of its depth can make the limit narrower, and never wider.
    if u64::from(depth.max(asked.depth)) > max_depth {
        let detail = format!(
            "a subagent here would be at depth {depth}, and `tools.delegate.maxDepth` is {max_depth}; do the task \
             without one"
        );
        return Err(Refusal::new(AbortReason::DepthExceeded, detail));
    }
    Ok(depth)
}

/// The model of the child, and its parameters.
fn model(
    session: &Session,
    plugins: &Registry,
    asked: &OpenChild,
) -> std::result::Result<(Model, Params), Refusal> {
    let invalid = |error: Error| Refusal::new(AbortReason::ModelInvalid, error.message());
    let inherited = session.model();
    let chosen = asked.model.as_ref();
    let provider_id = chosen
        .and_then(|chosen| chosen.provider_id.as_deref())
        .or(inherited.as_ref().map(|model| &*model.provider_id));
    let provider_id = provider_id.unwrap_or_default();
    let provider = crate::model::provider(plugins, provider_id).map_err(invalid)?;
    let model = match (chosen, inherited) {
        (None, Some(inherited)) => inherited,
        (chosen, _) => {
            let named = chosen.map(|chosen| chosen.model_id.as_str());
            Model::of(provider.identity(), named).map_err(invalid)?
        }
    };
    capable(session, plugins, &provider, &model, asked)?;
    let params = model_switch::params_for(session, provider.identity(), &model);
    Ok((model, params.map_err(invalid)?))
}

/// Whether the model can do what the child and the plugins of the session need.
fn capable(
    session: &Session,
    plugins: &Registry,
    provider: &Arc<Active>,
    model: &Model,
    asked: &OpenChild,
) -> std::result::Result<(), Refusal> {
    let unfit = |detail: String| Refusal::new(AbortReason::ModelCapabilityMismatch, detail);
    let claims = model.capabilities(provider.identity());
    let probes = session.probes();
    let claims = probes.settle(&model.provider_id, &model.model_id, claims);
    let needed = Capability::ToolCalling;
    if !asked.requested_envelope.is_empty() && claim(&claims, needed) != Some(Level::Hard) {
        return Err(unfit(format!(
            "`{}` of `{}` does not promise to call tools, and the subagent is to have some",
            model.model_id, model.provider_id
        )));
    }
    let mut needs = needs_of(plugins);
    needs.retain(|need: &ModelNeed| need.level == NeedLevel::Hard);
    match negotiate(&needs, &claims) {
        Ok(_) => Ok(()),
        Err(missing) => Err(unfit(format!(
            "`{}` of `{}`: {}",
            model.model_id,
            model.provider_id,
            missing.message()
        ))),
    }
}

/// The tools of the child. Each has to be one that its parent has now.
fn tools(
    session: &Session,
    plugins: &Registry,
    asked: &OpenChild,
) -> std::result::Result<Vec<ToolRef>, Refusal> {
    let toolbox = session.toolbox(plugins);
    let names: BTreeSet<&str> = asked
        .requested_envelope
        .iter()
        .map(String::as_str)
        .collect();
    let (mut tools, mut unknown) = (Vec::new(), Vec::new());
    for name in names {
        match toolbox.find(name) {
            Some(found) => tools.push(found),
            None => unknown.push(name),
        }
    }
    if unknown.is_empty() {
        return Ok(tools);
    }
    let told = unknown.iter().map(|name| {
        let known = toolbox.specs().map(|tool| &*tool.name);
        match nearest(name, known) {
            Some(near) => format!("`{name}` (did you mean `{near}`?)"),
            None => format!("`{name}`"),
        }
    });
    let told = told.collect::<Vec<_>>().join(", ");
    let detail = format!("there is no tool {told}");
    Err(Refusal::new(AbortReason::EnvelopeInvalid, detail))
}
