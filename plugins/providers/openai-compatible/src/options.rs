//! What the user can set.

use model_http::{Endpoint, KeyReference, Models, Roster, base_url, violation};
use serde::Deserialize;
use serde_json::{Map, Value};
use stud_sdk::schema::{Json, Piece};
use stud_sdk::{Config, Error, Result, Schema};

/// What the user can set.
#[derive(Debug, Config)]
pub(crate) struct Options {
    /// Where the key is, never the key itself. Without it no key is sent, as a server of your own may want it.
    api_key_ref: Option<KeyReference>,
    /// The model to begin with; the first of `models` when left out.
    #[stud(min_length = 1)]
    model: Option<String>,
    /// The models there are: names, or objects with an `id` and what is known of the model.
    models: Option<Models>,
    /// The address of the backend, before `/chat/completions` or `/responses`, such as `https://api.openai.com/v1`.
    #[stud(rename = "baseURL", pattern = "^[Hh][Tt][Tt][Pp][Ss]?://")]
    base_url: Option<String>,
    /// Another spelling of `baseURL`.
    #[stud(rename = "baseUrl", pattern = "^[Hh][Tt][Tt][Pp][Ss]?://")]
    base_url_too: Option<String>,
    /// After how many milliseconds of silence a request is given up; 300000 when left out.
    #[stud(min = 1)]
    timeout_ms: Option<u64>,
    /// The most tokens of an answer; the backend's own limit when left out.
    #[stud(min = 1)]
    pub(crate) max_tokens: Option<u64>,
    /// Which of the two APIs is spoken; `chat-completions` when left out.
    #[stud(default)]
    pub(crate) api_shape: ApiShape,
    /// Parameters of every request, under stud's names.
    #[stud(default)]
    pub(crate) default_params: Params,
    /// The API that is spoken.
    #[stud(values("openai-compatible"))]
    #[expect(dead_code, reason = "there is one, and the schema checks it")]
    protocol: Option<String>,
}

/// One of the two APIs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Schema)]
pub(crate) enum ApiShape {
    /// The older one, which others speak too.
    #[default]
    #[stud(rename = "chat-completions")]
    ChatCompletions,
    /// The newer one.
    #[stud(rename = "responses")]
    Responses,
}

impl Options {
    /// Where the backend is; nothing if nothing is configured at all.
    ///
    /// A plugin that comes with stud is always present, and an unconfigured one is not an error.
    pub(crate) fn endpoint(&mut self) -> Result<Option<Endpoint>> {
        let base = base_url(self.base_url.take(), self.base_url_too.take())?;
        match base {
            Some(base) => Endpoint::new(&base, self.api_key_ref.take(), self.timeout_ms).map(Some),
            None if self.api_key_ref.is_none() && self.model.is_none() && self.models.is_none() => {
                Ok(None)
            }
            None => Err(unconfigured()),
        }
    }

    /// Whether an address is configured that does not end in `/v1`.
    pub(crate) fn lacks_v1(&self) -> bool {
        let base = self.base_url.as_deref().or(self.base_url_too.as_deref());
        base.is_some_and(|base| !base.trim_end_matches('/').ends_with("/v1"))
    }

    pub(crate) fn roster(&mut self, ext_id: &'static str) -> Roster {
        Roster::new(ext_id, self.model.take(), self.models.take())
    }
}

pub(crate) fn unconfigured() -> Error {
    let why = "`baseURL` is missing: say where the backend is, such as `https://api.openai.com/v1`";
    violation("/baseURL", why)
}

/// Parameters. The schema lists them all and is open, so that the check can report more than an unknown name.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Params(pub(crate) Map<String, Value>);

impl Schema for Params {
    const BODY: Json = &[Piece::Raw(concat!(
        r#""type":"object","properties":{"#,
        r#""temperature":{"type":"number","minimum":0,"maximum":2},"#,
        r#""topP":{"type":"number","minimum":0,"maximum":1},"#,
        r#""topK":{"type":"integer","minimum":0},"#,
        r#""maxOutputTokens":{"type":"integer","minimum":1},"#,
        r#""stopSequences":{"type":"array","items":{"type":"string"}},"#,
        r#""seed":{"type":"integer"},"#,
        r#""reasoningEffort":{"enum":["none","minimal","low","medium","high","xhigh"]},"#,
        r#""reasoningSummary":{"type":"string"},"#,
        r#""forceReasoning":{"type":"boolean"},"#,
        r#""textVerbosity":{"type":"string"},"#,
        r#""serviceTier":{"type":"string"},"#,
        r#""safetyIdentifier":{"type":"string"},"#,
        r#""systemMessageMode":{"enum":["system","developer","remove"]},"#,
        r#""parallelToolCalls":{"type":"boolean"},"#,
        r#""store":{"type":"boolean"},"#,
        r#""maxToolCalls":{"type":"integer","minimum":1},"#,
        r#""metadata":{"type":"object"},"#,
        r#""conversation":{"type":"string"},"#,
        r#""previousResponseId":{"type":"string"},"#,
        r#""user":{"type":"string"},"#,
        r#""logprobs":{"type":["boolean","integer"]},"#,
        r#""truncation":{"type":"string"},"#,
        r#""strictJsonSchema":{"type":"boolean"},"#,
        r#""include":{"type":"array","items":{"type":"string"}},"#,
        r#""presencePenalty":{"type":"number","minimum":-2,"maximum":2},"#,
        r#""frequencyPenalty":{"type":"number","minimum":-2,"maximum":2},"#,
        r#""logitBias":{"type":"object"},"#,
        r#""maxCompletionTokens":{"type":"integer","minimum":1}}"#,
    ))];
}
