//! The tools of one moment, whoever gives them: a plugin, or a server elsewhere.
//!
//! A call is judged and run without knowing which of the two it is.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jsonschema::Validator;
use serde_json::Value;
use stud_abi::CallContext;
use stud_contract_meta::{Kind, Result};
use stud_contract_provider::ToolSpec;
use stud_contract_tool::{Envelope, ToolDeclaration};
use stud_host_api::BoxFuture;

use crate::activate::{Active, Running};
use crate::registry::Registry;
use crate::validate::{Members, schema};
use crate::work::Whose;

/// Gives tools.
pub(crate) trait ToolGiver: Send + Sync + fmt::Debug {
    /// Who answers for its tools in errors, scopes and records.
    fn ext_id(&self) -> &str;

    /// Whose code says what an approval covers.
    fn whose(&self) -> Whose;

    /// The tools it gives.
    fn tools(&self) -> &[ToolDeclaration];

    /// The same as a model is told of them, in the same order.
    fn specs(&self) -> &[ToolSpec];

    /// What the arguments of a tool are held to. Nothing if its schema does not compile.
    fn validator(&self, tool: &ToolDeclaration) -> Option<Arc<Validator>>;

    /// What an approval of this call would cover.
    fn approval_key(&self, tool: &str, args: &Value) -> Result<String>;

    /// Runs a tool.
    fn execute<'a>(
        &'a self,
        tool: &'a str,
        args: &'a Value,
        cx: CallContext,
    ) -> BoxFuture<'a, Result<Envelope>>;

    /// How long its tools may take, where its owner said so.
    fn patience(&self) -> Option<Duration>;
}

/// A tool, and who gives it.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) giver: Arc<dyn ToolGiver>,
    pub(crate) tool: ToolDeclaration,
}

/// The tools of one moment, each name once: givers, and places in what they give.
#[derive(Debug)]
pub(crate) struct Toolbox(Vec<(Arc<dyn ToolGiver>, usize)>);

impl Toolbox {
    /// The tools of the plugins, and those of others whose names no plugin has.
    pub(crate) fn of(plugins: &Registry, others: Vec<Arc<dyn ToolGiver>>) -> Self {
        let mut all = Vec::new();
        let mut names = BTreeSet::new();
        for plugin in plugins.of_kind(Kind::Tool) {
            let giver: Arc<dyn ToolGiver> = plugin.clone();
            for (place, tool) in giver.tools().iter().enumerate() {
                // A tool that one of a higher scope hides is not there.
                let counts = plugins.tool(&tool.name);
                if counts.is_some_and(|counts| Arc::ptr_eq(counts, plugin)) {
                    names.insert(tool.name.clone());
                    all.push((giver.clone(), place));
                }
            }
        }
        for giver in others {
            for (place, tool) in giver.tools().iter().enumerate() {
                if names.insert(tool.name.clone()) {
                    all.push((giver.clone(), place));
                }
            }
        }
        Self(all)
    }

    /// The tool of this name.
    pub(crate) fn find(&self, name: &str) -> Option<Found> {
        let mut all = self.0.iter();
        all.find_map(|(giver, place)| {
            let tool = giver.tools().get(*place)?;
            (tool.name == name).then(|| Found {
                giver: giver.clone(),
                tool: tool.clone(),
            })
        })
    }

    /// What a model is told of them.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let tools = self.0.iter();
        let specs = tools.filter_map(|(giver, place)| giver.specs().get(*place));
        specs.cloned().collect()
    }
}

/// What a model is told of these tools. Givers keep it, since it is told with every request.
pub(crate) fn specs_of(tools: &[ToolDeclaration]) -> Vec<ToolSpec> {
    let specs = tools.iter().map(|tool| ToolSpec {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: (&tool.input_schema).into(),
    });
    specs.collect()
}

impl ToolGiver for Active {
    fn ext_id(&self) -> &str {
        self.identity().ext_id.as_str()
    }

    fn whose(&self) -> Whose {
        self.identity().whose()
    }

    fn tools(&self) -> &[ToolDeclaration] {
        match &*self.identity().members {
            Members::Tool(members) => &members.tools,
            _ => &[],
        }
    }

    fn specs(&self) -> &[ToolSpec] {
        self.specs(|| specs_of(self.tools()))
    }

    fn validator(&self, tool: &ToolDeclaration) -> Option<Arc<Validator>> {
        self.validator(&tool.name, || schema::build(&tool.input_schema))
    }

    fn approval_key(&self, tool: &str, args: &Value) -> Result<String> {
        let Running::Tool(instance) = self.running() else {
            return Err(self.lacks("deriveApprovalKey"));
        };
        let reply = instance.approval_key(tool, &args.to_string());
        self.read("deriveApprovalKey", reply)
    }

    fn execute<'a>(
        &'a self,
        tool: &'a str,
        args: &'a Value,
        cx: CallContext,
    ) -> BoxFuture<'a, Result<Envelope>> {
        Box::pin(self.execute(tool, args, cx))
    }

    fn patience(&self) -> Option<Duration> {
        let own = self.identity().config.get("timeoutMs");
        own.and_then(Value::as_u64).map(Duration::from_millis)
    }
}
