//! `/provider`: another entry of the settings.
#![forbid(unsafe_code)]

use model_choice::{Choices, Wish, only_word, pick, switch, unchanged};
use stud_sdk::command::{RawArgs, Rendered, command};
use stud_sdk::{Cx, Result};

/// Lets another provider answer; without a name, asks which.
#[command(
    id = "provider",
    name = "provider",
    category = "model",
    argument_hint = "[entry]",
    interactions("Select")
)]
async fn provider(input: RawArgs, cx: &Cx) -> Result<Rendered> {
    let named = only_word(&input)?;
    let choices = Choices::of(cx).await?;
    let entries = choices.entries();
    let named = if let Some(named) = named {
        named
    } else {
        let picked = pick(cx, "Which provider?".to_owned(), entries.clone()).await?;
        match picked.and_then(|index| entries.get(index)) {
            Some(entry) => entry.clone(),
            None => return Ok(unchanged()),
        }
    };
    let wish = |provider: &str, model: Option<&String>| Wish {
        provider: Some(provider.to_owned()),
        model: model.cloned(),
    };
    // Other models of the provider that was wanted come before other providers.
    let others = |wanted: &str, lacking: &str| {
        let models = choices.models(wanted);
        let models = models.iter().filter(|model| *model != lacking);
        let models = models.map(|model| (model.clone(), wish(wanted, Some(model))));
        let rest = entries.iter().filter(|entry| *entry != wanted);
        let rest = rest.map(|entry| (format!("provider {entry}"), wish(entry, None)));
        models.chain(rest).collect()
    };
    switch(cx, wish(&named, None), others).await
}

#[cfg(test)]
mod tests;
