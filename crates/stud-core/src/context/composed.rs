//! A request that was put together, on its way to the provider.
//!
//! Most of a request was in the one before it too. What was written for that one is kept with each message and with the
//! tools, so that a long conversation costs little more with every request than its new end.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use stud_contract_provider::Request;

use super::history::RequestMessage;
use crate::request_state::Toolset;

/// A request, as core puts it together: a [`Request`] that knows what of it has been written before.
#[derive(Debug, Clone)]
pub(crate) struct Composed {
    pub(super) system: Option<String>,
    pub(super) messages: Vec<RequestMessage>,
    pub(super) tools: Arc<Toolset>,
    pub(super) model_id: String,
    pub(super) max_tokens: Option<u64>,
    pub(super) temperature: Option<f64>,
    pub(super) params: Map<String, Value>,
}

/// The members of a [`Request`], written already where they can be.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'a str>,
    messages: Vec<Cow<'a, RawValue>>,
    tools: &'a RawValue,
    model_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    params: &'a Map<String, Value>,
}

impl Composed {
    /// How many messages it has.
    pub(crate) fn message_count(&self) -> usize {
        self.messages.len()
    }

    /// How many tools it names.
    pub(crate) fn tool_count(&self) -> usize {
        self.tools.specs().len()
    }

    /// The same with the limits that every backend has standing by themselves too, for a provider that looks for them
    /// there. What a hook put there stays.
    pub(crate) fn with_limits(mut self) -> Self {
        let set = |name: &str| self.params.get(name);
        let limit = ["maxOutputTokens", "maxTokens"].into_iter().find_map(set);
        self.max_tokens = self.max_tokens.or_else(|| limit?.as_u64());
        let temperature = set("temperature").and_then(Value::as_f64);
        self.temperature = self.temperature.or(temperature);
        self
    }

    /// The request as a provider takes it.
    pub(crate) fn to_text(&self) -> String {
        let messages: Vec<_> = self.messages.iter().map(RequestMessage::text).collect();
        let written = Written {
            system: self.system.as_deref(),
            tools: self.tools.raw(),
            model_id: &self.model_id,
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            params: &self.params,
            messages,
        };
        let known = written.messages.iter().map(|text| text.get().len() + 1);
        let known = known.sum::<usize>() + written.tools.get().len();
        let system = self.system.as_ref().map_or(0, String::len);
        let mut text = Vec::with_capacity(known + system + system / 8 + 512);
        // Texts, and JSON as it was written: nothing in them can fail to be written.
        let _ = serde_json::to_writer(&mut text, &written);
        String::from_utf8(text).unwrap_or_default()
    }

    /// The request as hooks see it.
    pub(crate) fn to_request(&self) -> Request {
        Request {
            system: self.system.clone(),
            messages: self
                .messages
                .iter()
                .filter_map(RequestMessage::message)
                .collect(),
            tools: self.tools.specs().to_vec(),
            model_id: self.model_id.clone(),
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            params: self.params.clone(),
        }
    }
}

impl From<Request> for Composed {
    fn from(request: Request) -> Self {
        Self {
            system: request.system,
            messages: request
                .messages
                .into_iter()
                .map(RequestMessage::New)
                .collect(),
            tools: Arc::new(Toolset::of(request.tools)),
            model_id: request.model_id,
            max_tokens: request.max_tokens,
            temperature: request.temperature,
            params: request.params,
        }
    }
}
