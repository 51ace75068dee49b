//! The stages of a machine: Markdown files in a folder, or JSON in the attribute or in a file. They are checked while the
//! plugin compiles.

use std::path::PathBuf;

use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;
use syn::{Error, LitStr, Result};

use super::markdown;
use crate::arguments::Arguments;

/// Where the stages are written.
pub(crate) enum Source {
    /// `stages = r#"[…]"#`
    Inline(LitStr),
    /// `stages = "stages"`: a folder of Markdown files, from the folder of `Cargo.toml`.
    Folder(LitStr),
    /// `stages_file = "stages.json"`, from the folder of `Cargo.toml`.
    File(LitStr),
}

/// Stages that have every member.
#[derive(Debug)]
pub(crate) struct Stages {
    list: Value,
    ids: Vec<String>,
}

impl Source {
    pub(crate) fn take(given: &mut Arguments) -> Result<Self> {
        match (given.text("stages")?, given.text("stages_file")?) {
            (Some(text), None) if text.value().trim_start().starts_with('[') => {
                Ok(Self::Inline(text))
            }
            (Some(folder), None) => Ok(Self::Folder(folder)),
            (None, Some(file)) => Ok(Self::File(file)),
            (None, None) => Err(given.missing(
                "`#[state_machine]` needs `stages = \"stages\"`, a folder of Markdown files, `stages = r#\"[…]\"#` or `stages_file = \"stages.json\"`",
            )),
            (Some(_), Some(file)) => {
                Err(Error::new_spanned(file, "either `stages` or `stages_file`"))
            }
        }
    }

    fn literal(&self) -> &LitStr {
        match self {
            Self::Inline(literal) | Self::Folder(literal) | Self::File(literal) => literal,
        }
    }

    /// Reads and checks the stages; `entry` must be one of them.
    pub(crate) fn read(&self, entry: Option<&LitStr>) -> Result<Stages> {
        let wrong = |problem: String| Error::new_spanned(self.literal(), problem);
        let text = match self {
            Self::Inline(text) => text.value(),
            Self::Folder(folder) => read_folder(&folder.value()).map_err(wrong)?,
            Self::File(file) => {
                let path = package().join(file.value());
                std::fs::read_to_string(&path)
                    .map_err(|error| wrong(format!("{}: {error}", path.display())))?
            }
        };
        let stages = Stages::check(&text).map_err(wrong)?;
        if let Some(entry) = entry
            && !stages.ids.contains(&entry.value())
        {
            let known = stages.ids.join(", ");
            return Err(Error::new_spanned(
                entry,
                format!("no stage has this id; there are {known}"),
            ));
        }
        Ok(stages)
    }

    /// Makes cargo build again when the file changes.
    pub(crate) fn watched(&self) -> TokenStream {
        match self {
            Self::Inline(_) => TokenStream::new(),
            Self::Folder(folder) => {
                let files = markdown::files(&package().join(folder.value())).unwrap_or_default();
                let files = files.iter().filter_map(|file| file.to_str());
                quote! { #(const _: &str = ::core::include_str!(#files);)* }
            }
            Self::File(file) => quote! {
                const _: &str = ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #file));
            },
        }
    }
}

/// The folder of `Cargo.toml`.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a macro its folder through the environment"
)]
fn package() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default())
}

/// The stages of a folder as JSON. What is wrong with a file is said with its name, the line and the key.
fn read_folder(folder: &str) -> std::result::Result<String, String> {
    let mut stages = Vec::new();
    for path in markdown::files(&package().join(folder))? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text =
            std::fs::read_to_string(&path).map_err(|error| format!("{folder}/{name}: {error}"))?;
        let stage = markdown::stage(&text)
            .map_err(|fault| format!("{folder}/{name}:{}: {}", fault.line, fault.problem))?;
        stages.push(stage);
    }
    Ok(Value::Array(stages).to_string())
}

const REQUIRED: [&str; 9] = [
    "id",
    "name",
    "body",
    "allowedTools",
    "completionTool",
    "completionSchema",
    "retryPolicy",
    "turnCap",
    "resolutionPolicy",
];

impl Stages {
    fn check(text: &str) -> std::result::Result<Self, String> {
        let list: Value = serde_json::from_str(text)
            .map_err(|error| format!("the stages are not JSON: {error}"))?;
        let Some(stages) = list.as_array().filter(|stages| !stages.is_empty()) else {
            return Err("the stages are a JSON list with at least one object".to_owned());
        };
        let mut ids: Vec<String> = Vec::new();
        for (index, stage) in stages.iter().enumerate() {
            let id = stage.get("id").and_then(Value::as_str).unwrap_or_default();
            let who = if id.is_empty() {
                format!("stage {index}")
            } else {
                format!("stage `{id}`")
            };
            let missing = REQUIRED.iter().find(|member| stage.get(**member).is_none());
            if let Some(missing) = missing {
                return Err(format!("{who} has no `{missing}`"));
            }
            if stage["turnCap"].as_u64().is_none_or(|cap| cap == 0) {
                return Err(format!(
                    "the `turnCap` of {who} is not a whole number of at least 1"
                ));
            }
            if ids.iter().any(|other| other == id) {
                return Err(format!("{who} is there twice"));
            }
            ids.push(id.to_owned());
        }
        Ok(Self { list, ids })
    }

    pub(crate) fn json(&self) -> String {
        self.list.to_string()
    }

    pub(crate) fn first_id(&self) -> &str {
        self.ids.first().map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stage(id: &str) -> Value {
        json!({
            "id": id, "name": "A", "body": "", "allowedTools": [], "completionTool": "done",
            "completionSchema": {}, "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
            "turnCap": 1, "resolutionPolicy": "fail",
        })
    }

    #[test]
    fn whole_stages_pass() {
        let stages = Stages::check(&json!([stage("a"), stage("b")]).to_string()).unwrap();
        assert_eq!((stages.first_id(), stages.ids.len()), ("a", 2));
    }

    #[test]
    fn each_fault_is_named() {
        let with = |change: fn(&mut Value)| {
            let mut one = stage("a");
            change(&mut one);
            json!([one]).to_string()
        };
        for (text, says) in [
            ("[".to_owned(), "not JSON"),
            ("{}".to_owned(), "a JSON list"),
            ("[]".to_owned(), "a JSON list"),
            (
                json!([stage("a"), stage("a")]).to_string(),
                "stage `a` is there twice",
            ),
            (with(|s| s["turnCap"] = json!(0)), "turnCap"),
            (
                with(|s| drop(s.as_object_mut().unwrap().remove("body"))),
                "stage `a` has no `body`",
            ),
        ] {
            let error = Stages::check(&text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
