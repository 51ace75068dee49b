//! How much a model takes.

use serde_json::Value;
use stud_contract_meta::Result;
use stud_contract_provider::ContextWindow;
use stud_diagnostics::codes;

use super::refuse;
use crate::activate::Active;
use crate::validate::Members;

/// The default for a model whose window is unknown.
const UNKNOWN: u64 = 128_000;

/// The window of a model: as the operator set it in the provider's `models`, or as the provider declared it.
pub(super) fn of(provider: &Active, model_id: &str) -> Result<u64> {
    let set = configured(provider.identity().setting("models"), model_id);
    let window = set
        .cloned()
        .unwrap_or_else(|| declared(&provider.identity().members, model_id).into());
    if window == "probed" {
        return Ok(UNKNOWN);
    }
    window.as_u64().filter(|tokens| *tokens > 0).ok_or_else(|| {
        let message = format!(
            "the window of `{model_id}` is a number of tokens, at least 1, and not `{window}`"
        );
        refuse(&codes::MODEL_WINDOW_INVALID, message)
            .with("providerId", provider.identity().ext_id.as_str())
            .with("modelId", model_id)
    })
}

/// `models: [{"modelId": …, "contextWindow": …}]`. A model may also be a plain text, which says nothing of its window.
fn configured<'a>(models: Option<&'a Value>, model_id: &str) -> Option<&'a Value> {
    let models = models?.as_array()?;
    let is_it = |model: &&Value| {
        let id = model.get("modelId").or_else(|| model.get("id"));
        id.and_then(Value::as_str) == Some(model_id)
    };
    models.iter().find(is_it)?.get("contextWindow")
}

fn declared(members: &Members, model_id: &str) -> ContextWindow {
    let Members::Provider(members) = members else {
        return ContextWindow::Probed;
    };
    let model = members
        .models
        .iter()
        .find(|model| model.model_id == model_id);
    let capabilities = model.map_or(&members.capabilities, |model| &model.capabilities);
    capabilities.context_window
}

/// How much of the window a conversation may take up after it was summarized: half of the window with all that is
/// beside it, so that it is a while until the next time; or half of what is left, where there is little.
pub(super) fn room(window: u64, besides: u64) -> u64 {
    let half = window / 2;
    if besides < half / 2 {
        half - besides
    } else {
        (window.saturating_sub(besides) / 2).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_operator_knows_best() {
        let config =
            json!({"models": ["plain", {"modelId": "a", "contextWindow": 5}, {"id": "b"}]});
        assert_eq!(configured(config.get("models"), "a"), Some(&json!(5)));
        for other in ["b", "plain", "c"] {
            assert_eq!(configured(config.get("models"), other), None, "{other}");
        }
        assert_eq!(configured(None, "a"), None);
    }

    #[test]
    fn a_summary_leaves_room() {
        assert_eq!(room(1000, 100), 400);
        assert_eq!(room(1000, 400), 300);
        assert_eq!(room(1000, 1000), 1);
    }
}
