//! `/model`: another model of the same provider.
#![forbid(unsafe_code)]

use model_choice::{Choices, Wish, only_word, pick, switch, unchanged};
use stud_sdk::command::{RawArgs, Rendered, command};
use stud_sdk::{Cx, Error, ErrorExt as _, Result};

/// Lets another model of the provider answer; without a name, asks which.
#[command(
    id = "model",
    name = "model",
    category = "model",
    argument_hint = "[name]",
    interactions("Select")
)]
async fn model(input: RawArgs, cx: &Cx) -> Result<Rendered> {
    let named = only_word(&input)?;
    let choices = Choices::of(cx).await?;
    let provider = choices.provider().unwrap_or_default().to_owned();
    let models = choices.models(&provider);
    let named = match named {
        Some(named) => named,
        None if models.is_empty() => {
            let why = format!("`{provider}` lists no models; name the one you want");
            return Err(Error::invalid_input(why));
        }
        None => {
            let prompt = format!("Which model of `{provider}`?");
            let picked = pick(cx, prompt, models.clone()).await?;
            match picked.and_then(|index| models.get(index)) {
                Some(model) => model.clone(),
                None => return Ok(unchanged()),
            }
        }
    };
    let wish = |model: String| Wish {
        model: Some(model),
        ..Wish::default()
    };
    let others = |_: &str, lacking: &str| {
        let others = models.iter().filter(|model| *model != lacking);
        others
            .map(|model| (model.clone(), wish(model.clone())))
            .collect()
    };
    switch(cx, wish(named), others).await
}

#[cfg(test)]
mod tests;
