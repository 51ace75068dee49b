//! The request to the backend.

use model_http::{Bag, Recollection};
use serde_json::{Map, Value, json};
use stud_sdk::Result;
use stud_sdk::provider::{Request, ToolSpec};

use crate::options::Options;
use crate::params;
use crate::thoughts::Thoughts;
use crate::turns::{Turn, Turns, text_block};

/// A request, ready to be sent.
#[derive(Debug)]
pub(crate) struct Composed {
    pub(crate) body: Value,
    pub(crate) betas: Vec<&'static str>,
}

pub(crate) fn compose(
    request: Request,
    model: String,
    options: &Options,
    thoughts: &Recollection<Thoughts>,
) -> Result<Composed> {
    let bag = Bag::new(&options.default_params.0, options.max_tokens, &request);
    let settled = params::settle(bag)?;
    let restored = |blocks: Vec<Value>| match first_call(&blocks).and_then(|id| thoughts.find(id)) {
        Some(thoughts) if settled.sends_thoughts => thoughts.restore(blocks),
        _ => blocks,
    };
    let mut turns = Turns::read(request.messages, restored)?;
    let mut system: Vec<Value> = request
        .system
        .iter()
        .chain(&turns.system)
        .filter_map(|text| text_block(text))
        .collect();
    if turns.begins_without_user() && !system.is_empty() {
        // The backend wants a user message first, and a stage of a state machine has none.
        let blocks = std::mem::take(&mut system);
        turns.turns.insert(
            0,
            Turn {
                role: "user",
                blocks,
            },
        );
    }
    let mut turns = turns.turns;
    mark(system.last_mut());
    if let Some(turn) = turns.last_mut().filter(|turn| turn.role == "user") {
        mark(turn.blocks.last_mut());
    }

    let tool_choice = settled.tool_choice();
    let keeps_thinking = !settled.needs_thoughts() || has_thoughts(&turns);
    let mut body = settled.members;
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("model", model.into());
    put("stream", true.into());
    put("messages", turns.into_iter().map(Value::from).collect());
    if !system.is_empty() {
        put("system", system.into());
    }
    if !request.tools.is_empty() {
        let eager = settled.streams_arguments;
        put(
            "tools",
            request
                .tools
                .into_iter()
                .map(|spec| tool(spec, eager))
                .collect(),
        );
        if let Some(choice) = tool_choice {
            put("tool_choice", choice);
        }
    }
    if let Some(thinking) = settled.thinking.filter(|_| keeps_thinking) {
        put("thinking", thinking);
    }
    Ok(Composed {
        body: body.into(),
        betas: settled.betas,
    })
}

/// Asks the backend to remember everything up to and including this block.
fn mark(block: Option<&mut Value>) {
    if let Some(Value::Object(block)) = block {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

fn first_call(blocks: &[Value]) -> Option<&str> {
    let call = blocks.iter().find(|block| block["type"] == "tool_use")?;
    call["id"].as_str()
}

/// Whether the calls that are being answered come with the thinking that led to them.
///
/// They do not after a session was resumed or another model was at work. The backend refuses to think on then, and can
/// do without.
fn has_thoughts(turns: &[Turn]) -> bool {
    let mut answers = turns.iter().rev().filter(|turn| turn.role == "assistant");
    let Some(last) = answers
        .next()
        .filter(|turn| first_call(&turn.blocks).is_some())
    else {
        return true;
    };
    let first = last.blocks.first().map(|block| &block["type"]);
    first.is_some_and(|kind| kind == "thinking" || kind == "redacted_thinking")
}

fn tool(spec: ToolSpec, eager: bool) -> Value {
    let mut tool = Map::new();
    tool.insert("name".to_owned(), spec.name.into());
    tool.insert("description".to_owned(), spec.description.into());
    tool.insert("input_schema".to_owned(), spec.parameters.to_value());
    if eager {
        tool.insert("eager_input_streaming".to_owned(), true.into());
    }
    tool.into()
}

impl From<Turn> for Value {
    fn from(turn: Turn) -> Self {
        json!({"role": turn.role, "content": turn.blocks})
    }
}
