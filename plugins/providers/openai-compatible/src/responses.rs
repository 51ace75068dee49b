//! Responses.

mod answer;
mod input;
mod params;

pub(crate) use answer::Answer;

use model_http::{Bag, Recollection};
use serde_json::{Value, json};
use stud_sdk::Result;
use stud_sdk::provider::{Request, ToolSpec};

use crate::beginning::cache_key;
use crate::options::Options;
use crate::system_role::SystemRole;

/// The request to the backend.
pub(crate) fn compose(
    request: Request,
    model: String,
    options: &Options,
    reasoning: &Recollection<Vec<Value>>,
) -> Result<Value> {
    let bag = Bag::new(&options.default_params.0, options.max_tokens, &request);
    let settled = params::settle(bag)?;
    let mut body = settled.members;
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("model", model.into());
    put("stream", true.into());
    put(
        "prompt_cache_key",
        cache_key(request.system.as_deref(), &request.tools).into(),
    );
    if !request.tools.is_empty() {
        let tools = request.tools.into_iter();
        put(
            "tools",
            tools.map(|spec| tool(spec, settled.strict)).collect(),
        );
    }
    let mut input = Vec::new();
    let system = request.system.filter(|system| !system.is_empty());
    match (system, settled.system_role) {
        (Some(system), SystemRole::System) => {
            put("instructions", system.into());
        }
        (Some(system), SystemRole::Developer) => {
            input.push(json!({"role": "developer", "content": system}));
        }
        (_, _) => {}
    }
    input::read(request.messages, settled.system_role, reasoning, &mut input)?;
    put("input", input.into());
    Ok(body.into())
}

fn tool(spec: ToolSpec, strict: Option<bool>) -> Value {
    json!({
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        // Left out, it would be true, and most schemas are not written for that.
        "strict": strict.unwrap_or(false),
    })
}
