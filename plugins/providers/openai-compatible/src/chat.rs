//! Chat completions.

mod answer;
mod messages;
mod params;

pub(crate) use answer::Answer;

use model_http::Bag;
use serde::Serialize;
use serde_json::{Value, json};
use stud_sdk::Result;
use stud_sdk::provider::{Request, ToolSpec, Verbatim};

use crate::beginning::LastBeginning;
use crate::options::Options;

/// The request to the backend: its body, and those members that are text already.
pub(crate) fn compose(
    request: &Request,
    model: String,
    options: &Options,
    last: &LastBeginning,
) -> Result<(Value, Vec<(&'static str, String)>)> {
    let bag = Bag::new(&options.default_params.0, options.max_tokens, request);
    let settled = params::settle(bag, &model)?;
    let mut body = settled.members;
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("model", model.into());
    put("stream", true.into());
    put("stream_options", json!({"include_usage": true}));
    let beginning = last.of(request, settled.strict, |tools| {
        let tools: Vec<_> = tools
            .iter()
            .map(|spec| Tool::of(spec, settled.strict))
            .collect();
        // Texts, and JSON as it came: nothing in them can fail to be written.
        serde_json::to_string(&tools).unwrap_or_default()
    });
    put("prompt_cache_key", beginning.cache_key.as_str().into());
    let system = request.system.as_deref();
    let messages = messages::write(system, &request.messages, settled.system_role)?;
    let mut written = vec![("messages", messages)];
    if !request.tools.is_empty() {
        written.push(("tools", beginning.written.1.clone()));
    }
    Ok((body.into(), written))
}

/// A tool, as the backend wants to be told of it.
#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Verbatim,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

impl<'a> Tool<'a> {
    fn of(spec: &'a ToolSpec, strict: Option<bool>) -> Self {
        Self {
            r#type: "function",
            function: Function {
                name: &spec.name,
                description: &spec.description,
                parameters: &spec.parameters,
                strict,
            },
        }
    }
}
