//! The conversation about which model answers: what there is, which is wanted, and what to do if that one will not do.
#![forbid(unsafe_code)]

use stud_sdk::command::{RawArgs, Rendered};
use stud_sdk::host::commands::Deed;
use stud_sdk::interaction::{Answer, Payload, Select};
use stud_sdk::{Class, Cx, Error, ErrorExt as _, Result, Value, json};

/// What there is to choose from, as core tells it.
#[derive(Debug, Clone)]
pub struct Choices(Value);

/// What is wanted; what is left out stays, as far as it can.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// The entry.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
}

impl Choices {
    /// Asks core.
    pub async fn of(cx: &Cx) -> Result<Self> {
        let nothing = Deed::SwitchModel {
            provider: None,
            model: None,
        };
        cx.host().commands().perform(nothing).await.map(Self)
    }

    /// The entry that answers now.
    pub fn provider(&self) -> Option<&str> {
        self.0["providerId"].as_str()
    }

    /// Every entry.
    pub fn entries(&self) -> Vec<String> {
        texts(self.listed().map(|entry| &entry["id"]))
    }

    /// The models of an entry.
    pub fn models(&self, provider: &str) -> Vec<String> {
        let entry = self.listed().find(|entry| entry["id"] == provider);
        let models = entry.and_then(|entry| entry["models"].as_array());
        texts(models.into_iter().flatten())
    }

    fn listed(&self) -> impl Iterator<Item = &Value> {
        self.0["entries"].as_array().into_iter().flatten()
    }
}

fn texts<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<String> {
    values
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// The one word that was typed, if any was.
pub fn only_word(input: &RawArgs) -> Result<Option<String>> {
    let mut words = input.raw.split_whitespace();
    let word = words.next().map(str::to_owned);
    match words.next() {
        None => Ok(word),
        Some(more) => Err(Error::invalid_input(format!(
            "`{more}` is one word too many"
        ))),
    }
}

/// Asks for one of several; nothing if the person does not want any.
pub async fn pick(cx: &Cx, prompt: String, options: Vec<String>) -> Result<Option<usize>> {
    let question = Payload::from(Select { prompt, options });
    let response = cx.host().interaction().request(question.clone()).await?;
    Ok(match response.answer(&question)? {
        Some(Answer::Select(answer)) => Some(answer.index),
        _ => None,
    })
}

/// What is shown when a person changed their mind.
pub fn unchanged() -> Rendered {
    Rendered::from("Nothing was changed.").with_payload(json!({"switched": false}))
}

/// Switches. If the model lacks what the session needs, the person is offered `alternatives`, until one will do or they
/// give up.
pub async fn switch(
    cx: &Cx,
    mut wish: Wish,
    alternatives: impl Fn(&str, &str) -> Vec<(String, Wish)>,
) -> Result<Rendered> {
    loop {
        let deed = Deed::SwitchModel {
            provider: wish.provider.clone(),
            model: wish.model.clone(),
        };
        let error = match cx.host().commands().perform(deed).await {
            Ok(switched) => return Ok(shown(switched)),
            Err(error) if error.is(Class::ProviderCapability, "MissingCapability") => error,
            Err(error) => return Err(error),
        };
        let fact = |member: &str| error.context().get(member).and_then(Value::as_str);
        let (provider, model) = (fact("providerId"), fact("modelId"));
        let others = alternatives(provider.unwrap_or_default(), model.unwrap_or_default());
        let prompt = format!(
            "`{}` of `{}` will not do: {}. Another one?",
            model.unwrap_or("the model"),
            provider.unwrap_or("the provider"),
            error.message()
        );
        let mut options: Vec<String> = others.iter().map(|(label, _)| label.clone()).collect();
        options.push("abort".to_owned());
        // Without an interactor, the error is the answer.
        let Ok(picked) = pick(cx, prompt, options).await else {
            return Err(error);
        };
        match picked.and_then(|index| others.into_iter().nth(index)) {
            Some((_, other)) => wish = other,
            None => return Ok(given_up(&error)),
        }
    }
}

fn given_up(error: &Error) -> Rendered {
    let text = format!("Nothing was changed: {}.", error.message());
    Rendered::from(text).with_payload(json!({
        "switched": false,
        "error": {"class": error.class(), "code": error.code(), "context": error.context()},
    }))
}

/// What answers from now on, and what to mind.
fn shown(mut switched: Value) -> Rendered {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (model, provider) = (text(&switched["modelId"]), text(&switched["providerId"]));
    let mut lines = vec![format!("`{model}` of `{provider}` answers from now on.")];
    let listed = |member: &str| switched[member].as_array().into_iter().flatten();
    for warning in listed("warnings") {
        let name = text(&warning["name"]);
        lines.push(match warning["reason"].as_str() {
            Some("preferred-unmet") => format!("It lacks `{name}`, which the session would use."),
            _ => format!("Whether it has `{name}` shows when it is used."),
        });
    }
    for param in listed("unheeded") {
        lines.push(format!("Mind that {}.", text(&param["message"])));
    }
    switched["switched"] = true.into();
    Rendered::from(lines.join("\n")).with_payload(switched)
}
