//! Chat completions.

mod answer;
mod messages;
mod params;

pub(crate) use answer::Answer;

use model_http::Bag;
use serde_json::{Map, Value, json};
use stud_sdk::Result;
use stud_sdk::provider::{Request, ToolSpec};

use crate::cache_key::cache_key;
use crate::options::Options;

/// The request to the backend.
pub(crate) fn compose(request: Request, model: String, options: &Options) -> Result<Value> {
    let bag = Bag::new(&options.default_params.0, options.max_tokens, &request);
    let settled = params::settle(bag, &model)?;
    let mut body = settled.members;
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("model", model.into());
    put("stream", true.into());
    put("stream_options", json!({"include_usage": true}));
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
    let messages = messages::read(request.system, request.messages, settled.system_role)?;
    put("messages", messages.into());
    Ok(body.into())
}

fn tool(spec: ToolSpec, strict: Option<bool>) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), spec.name.into());
    function.insert("description".to_owned(), spec.description.into());
    function.insert("parameters".to_owned(), spec.parameters);
    if let Some(strict) = strict {
        function.insert("strict".to_owned(), strict.into());
    }
    json!({"type": "function", "function": function})
}
