//! What the tool is called with: what the model sends, and what core adds once it has checked that.

use serde::Deserialize;
use stud_sdk::host::session::ModelChoice;
use stud_sdk::prelude::*;
use stud_sdk::schema::{Json, Members};
use stud_sdk::{Schema, Value};

/// What the model sends.
#[derive(Debug, Args)]
pub(crate) struct Task {
    /// The task. It is all that the subagent knows, so it says everything that matters.
    #[stud(min_length = 1)]
    pub(crate) prompt: String,
    /// The names of the tools that the subagent may use without asking. Without any it asks about every call.
    #[stud(default)]
    pub(crate) requested_envelope: Vec<String>,
    /// A short name for the subagent, shown wherever it asks for something.
    pub(crate) label: Option<String>,
    /// What the subagent runs on; what you run on when it is left out.
    pub(crate) model: Option<Model>,
}

/// A model.
#[derive(Debug, Schema)]
pub(crate) struct Model {
    /// The provider; yours when it is left out.
    pub(crate) provider_id: Option<String>,
    /// The model, in the provider's own words.
    #[stud(min_length = 1)]
    pub(crate) model_id: String,
}

impl From<Model> for ModelChoice {
    fn from(model: Model) -> Self {
        Self {
            provider_id: model.provider_id,
            model_id: model.model_id,
        }
    }
}

/// A call as core hands it on. The schema is that of the [`Task`] alone: `depth` is for core to say.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) task: Task,
    /// How deep the subagent is.
    depth: Option<u32>,
}

impl Call {
    /// The depth that core has settled.
    pub(crate) fn settled_depth(&self) -> Result<u32> {
        self.depth.ok_or_else(|| {
            let why = "`delegate` was called with arguments that core has not checked: `depth` is missing";
            Error::invalid_input(why).with("fieldPath", "/depth")
        })
    }
}

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        use serde::de::Error as _;
        let mut args = Value::deserialize(deserializer)?;
        let depth = args.as_object_mut().and_then(|args| args.remove("depth"));
        let depth = depth.map(u32::deserialize).transpose();
        let task = Task::deserialize(args);
        Ok(Self {
            depth: depth.map_err(D::Error::custom)?,
            task: task.map_err(D::Error::custom)?,
        })
    }
}

impl Schema for Call {
    const BODY: Json = Task::BODY;
    const DESCRIPTION: &'static str = Task::DESCRIPTION;
}

impl Members for Call {
    const NAMES: &'static [&'static str] = Task::NAMES;
    const PROPERTIES: Json = Task::PROPERTIES;
    const REQUIRED: Json = Task::REQUIRED;
}

impl Args for Call {}
