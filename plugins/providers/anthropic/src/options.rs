//! What the user can set.

use model_http::{Endpoint, KeyReference, Models, Roster, base_url};
use serde::Deserialize;
use serde_json::{Map, Value};
use stud_sdk::schema::{Json, Piece, Schema};
use stud_sdk::{Config, Result};

const DEFAULT_BASE: &str = "https://api.anthropic.com";

/// What the user can set.
#[derive(Debug, Config)]
pub(crate) struct Options {
    /// Where the key is, never the key itself. Without it no key is sent.
    api_key_ref: Option<KeyReference>,
    /// The model to begin with; the first of `models` when left out.
    #[stud(min_length = 1)]
    model: Option<String>,
    /// The models there are: names, or objects with an `id` and what is known of the model.
    models: Option<Models>,
    /// The address of the backend, before `/v1/messages`; `https://api.anthropic.com` when left out.
    #[stud(rename = "baseURL", pattern = "^[Hh][Tt][Tt][Pp][Ss]?://")]
    base_url: Option<String>,
    /// Another spelling of `baseURL`.
    #[stud(rename = "baseUrl", pattern = "^[Hh][Tt][Tt][Pp][Ss]?://")]
    base_url_too: Option<String>,
    /// After how many milliseconds of silence a request is given up; 300000 when left out.
    #[stud(min = 1)]
    timeout_ms: Option<u64>,
    /// The most tokens of an answer; 4096 when left out.
    #[stud(min = 1)]
    pub(crate) max_tokens: Option<u64>,
    /// Parameters of every request, under stud's names.
    #[stud(default)]
    pub(crate) default_params: Params,
    /// The API that is spoken.
    #[stud(values("anthropic"))]
    #[expect(dead_code, reason = "there is one, and the schema checks it")]
    protocol: Option<String>,
}

impl Options {
    pub(crate) fn endpoint(&mut self) -> Result<Endpoint> {
        let base = base_url(self.base_url.take(), self.base_url_too.take())?;
        let base = base.as_deref().unwrap_or(DEFAULT_BASE);
        Endpoint::new(base, self.api_key_ref.take(), self.timeout_ms)
    }

    pub(crate) fn roster(&mut self, ext_id: &'static str) -> Roster {
        Roster::new(ext_id, self.model.take(), self.models.take())
    }
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
        r#""effort":{"enum":["low","medium","high","xhigh","max"]},"#,
        r#""thinking":{"type":"object","properties":{"#,
        r#""type":{"enum":["adaptive","enabled","disabled"]},"#,
        r#""budgetTokens":{"type":"integer","minimum":1},"#,
        r#""display":{"enum":["omitted","summarized"]}}},"#,
        r#""sendReasoning":{"type":"boolean"},"#,
        r#""speed":{"type":"string"},"#,
        r#""inferenceGeo":{"type":"string"},"#,
        r#""taskBudget":{"type":"object"},"#,
        r#""toolStreaming":{"type":"boolean"},"#,
        r#""structuredOutputMode":{"type":"string"},"#,
        r#""disableParallelToolUse":{"type":"boolean"},"#,
        r#""metadata":{"type":"object","properties":{"userId":{"type":"string"}}},"#,
        r#""contextManagement":{"type":"object"}}"#,
    ))];
}
