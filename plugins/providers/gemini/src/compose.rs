//! The request to the backend.

use std::fmt::Write as _;

use model_http::{Bag, Recollection};
use serde_json::{Map, Value, json};
use stud_sdk::Result;
use stud_sdk::provider::{Request, ToolSpec};

use crate::contents::{Contents, Signatures, Turn, text_part};
use crate::options::Options;
use crate::{params, schema};

/// Where the model is asked: a model of the backend's own, or one with its collection before it.
pub(crate) fn path(model: &str) -> String {
    let collection = if model.contains('/') { "" } else { "models/" };
    let mut path = format!("/{collection}");
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            path.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(path, "%{byte:02X}");
        }
    }
    path.push_str(":streamGenerateContent?alt=sse");
    path
}

pub(crate) fn compose(
    request: Request,
    model: &str,
    options: &Options,
    kept: &Recollection<String>,
) -> Result<Value> {
    let bag = Bag::new(&options.default_params.0, options.max_tokens, &request);
    let mut body = params::settle(bag)?;
    let signatures = Signatures {
        kept,
        are_needed: model
            .rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with("gemini-3")),
    };
    let mut contents = Contents::read(request.messages, &signatures)?;
    let system = request.system.iter().chain(&contents.system);
    let mut system: Vec<Value> = system.filter_map(|text| text_part(text)).collect();
    if contents.begins_without_user() && !system.is_empty() {
        // The backend wants a user message first, and a stage of a state machine has none.
        let parts = std::mem::take(&mut system);
        contents.turns.insert(
            0,
            Turn {
                role: "user",
                parts,
            },
        );
    }
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put(
        "contents",
        contents.turns.into_iter().map(Value::from).collect(),
    );
    if !system.is_empty() {
        put("systemInstruction", json!({"parts": system}));
    }
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.into_iter().map(tool).collect();
        put("tools", json!([{"functionDeclarations": tools}]));
    }
    Ok(body.into())
}

fn tool(spec: ToolSpec) -> Value {
    let mut tool = Map::new();
    tool.insert("name".to_owned(), spec.name.into());
    tool.insert("description".to_owned(), spec.description.into());
    if let Some(parameters) = schema::parameters(&spec.parameters.to_value()) {
        tool.insert("parameters".to_owned(), parameters);
    }
    tool.into()
}

impl From<Turn> for Value {
    fn from(turn: Turn) -> Self {
        json!({"role": turn.role, "parts": turn.parts})
    }
}
