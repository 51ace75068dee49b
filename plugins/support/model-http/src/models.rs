//! The models of a provider, as its config lists them.

use serde::Deserialize;
use stud_sdk::schema::{Json, Piece, Schema};
use stud_sdk::{Error, Result};

use crate::code::{MISSING_TOOL_CALLING, violation};

/// The list in the config: names, or objects that say more.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Models(pub Vec<ModelEntry>);

/// One model.
///
/// What it says beyond the id is for the host, which compares it with what a session needs; the one exception is a
/// model that cannot call tools.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "Written")]
pub struct ModelEntry {
    /// What the backend calls it.
    pub id: String,
    /// How many tokens fit into a request and its answer.
    pub context_window: Option<u64>,
    /// Whether it is known to call no tools.
    pub lacks_tools: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Id(String),
    #[serde(rename_all = "camelCase")]
    More {
        id: String,
        context_window: Option<u64>,
        tool_calling: Option<String>,
    },
}

impl From<Written> for ModelEntry {
    fn from(written: Written) -> Self {
        match written {
            Written::Id(id) => Self {
                id,
                context_window: None,
                lacks_tools: false,
            },
            Written::More {
                id,
                context_window,
                tool_calling,
            } => Self {
                id,
                context_window,
                lacks_tools: tool_calling.as_deref() == Some("absent"),
            },
        }
    }
}

impl Schema for Models {
    const BODY: Json = &[Piece::Raw(concat!(
        r#""type":"array","minItems":1,"items":{"anyOf":["#,
        r#"{"type":"string","minLength":1},"#,
        r#"{"type":"object","properties":{"#,
        r#""id":{"description":"What the backend calls it.","type":"string","minLength":1},"#,
        r#""contextWindow":{"description":"How many tokens fit into a request and its answer.","type":"integer","minimum":1},"#,
        r#""streaming":{"enum":["hard","preferred","probed","absent"]},"#,
        r#""toolCalling":{"enum":["hard","preferred","probed","absent"]},"#,
        r#""structuredOutput":{"enum":["hard","preferred","probed","absent"]},"#,
        r#""multimodal":{"enum":["hard","preferred","probed","absent"]},"#,
        r#""reasoning":{"enum":["hard","preferred","probed","absent"]},"#,
        r#""promptCaching":{"enum":["hard","preferred","probed","absent"]}"#,
        r#"},"required":["id"],"additionalProperties":false}]}"#,
    ))];
}

/// The models there are, and the one to begin with.
#[derive(Debug, Clone)]
pub struct Roster {
    ext_id: &'static str,
    first: Option<String>,
    entries: Vec<ModelEntry>,
}

impl Roster {
    /// The models of the plugin with this id.
    pub fn new(ext_id: &'static str, model: Option<String>, models: Option<Models>) -> Self {
        let entries = models.unwrap_or_default().0;
        let first = model.or_else(|| entries.first().map(|entry| entry.id.clone()));
        Self {
            ext_id,
            first,
            entries,
        }
    }

    /// The model a request is for. One that names none, or the provider instead, is for the one to begin with.
    pub fn choose(&self, requested: &str) -> Result<String> {
        if !requested.is_empty() && requested != self.ext_id {
            return Ok(requested.to_owned());
        }
        self.first.clone().ok_or_else(|| {
            let why = format!("`{}` has no model: name one in `models`", self.ext_id);
            violation("/models", why)
        })
    }

    /// Refuses to offer tools to a model that the config says calls none.
    pub fn check_tools(&self, model: &str, offered: usize) -> Result<()> {
        let lacks = |entry: &ModelEntry| entry.id == model && entry.lacks_tools;
        if offered > 0 && self.entries.iter().any(lacks) {
            return Err(no_tools(model));
        }
        Ok(())
    }
}

fn no_tools(model: &str) -> Error {
    MISSING_TOOL_CALLING
        .error(format!(
            "`{model}` calls no tools, as its entry in `models` says"
        ))
        .with("modelId", model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn models() -> Models {
        let list = json!(["small", {"id": "large", "contextWindow": 200_000, "reasoning": "hard"},
            {"id": "mute", "toolCalling": "absent"}]);
        serde_json::from_value(list).unwrap()
    }

    #[test]
    fn names_and_objects_mix() {
        let Models(entries) = models();
        let ids: Vec<&str> = entries.iter().map(|entry| &*entry.id).collect();
        assert_eq!(ids, ["small", "large", "mute"]);
        assert_eq!(entries[1].context_window, Some(200_000));
        let schema = stud_sdk::schema::value::<Models>();
        assert_eq!(schema["items"]["anyOf"][1]["required"], json!(["id"]));
    }

    #[test]
    fn a_request_without_a_model_gets_the_first() {
        let roster = Roster::new("it", None, Some(models()));
        assert_eq!(roster.choose("").unwrap(), "small");
        assert_eq!(roster.choose("it").unwrap(), "small");
        assert_eq!(roster.choose("other").unwrap(), "other");
        let named = Roster::new("it", Some("large".to_owned()), Some(models()));
        assert_eq!(named.choose("").unwrap(), "large");
        let error = Roster::new("it", None, None).choose("").unwrap_err();
        assert_eq!(error.context()["fieldPath"], "/models");
    }

    #[test]
    fn tools_are_not_offered_to_a_model_without() {
        let roster = Roster::new("it", None, Some(models()));
        let error = roster.check_tools("mute", 1).unwrap_err();
        assert_eq!(error.code(), "MissingToolCalling");
        assert!(roster.check_tools("mute", 0).is_ok());
        assert!(roster.check_tools("large", 1).is_ok());
    }
}
