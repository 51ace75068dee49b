//! A snapshot of the registered tools, of plugins and of MCP servers.
//!
//! A call is judged and run without knowing which of the two it is.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jsonschema::Validator;
use serde_json::Value;
use stud_abi::CallContext;
use stud_abi::section::manifest_text;
use stud_contract_meta::{Kind, Result};
use stud_contract_provider::ToolSpec;
use stud_contract_tool::{Envelope, ToolDeclaration};
use stud_host_api::BoxFuture;

use crate::activate::{Active, Running};
use crate::environment::EmbeddedPlugin;
use crate::executor::CodeOrigin;
use crate::identity::Identity;
use crate::plugin_scope::Scope;
use crate::registry::Registry;
use crate::validate::{Members, schema};

/// Gives tools.
pub(crate) trait ToolSource: Send + Sync + fmt::Debug {
    /// Who answers for its tools in errors, scopes and records.
    fn ext_id(&self) -> &str;

    /// The origin of the code that says what an approval covers.
    fn code_origin(&self) -> CodeOrigin;

    /// Whether it is a plugin that the program carries.
    fn is_bundled(&self) -> bool {
        false
    }

    /// Whether its calls open child sessions, in a program that carries these plugins.
    fn opens_children(&self, _carried: &[EmbeddedPlugin]) -> bool {
        false
    }

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

    /// Whether its calls block on nothing but a disk, so that the caller's thread may run them.
    fn is_brief(&self, _tool: &str) -> bool {
        false
    }

    /// How long this call may take. The default applies to a tool without a timeout of its own.
    fn patience(&self, tool: &str, args: &Value, usual: Duration) -> Duration;
}

/// The one plugin that may open child sessions, if the program carries it.
pub(crate) const DELEGATE: &str = "delegate";

/// Whether a plugin is the one that may open child sessions: the program's own, or the same one as a library of the
/// user's. A library that only has its name is not, and neither is any of a project.
pub(crate) fn is_delegate(plugin: &Identity, carried: &[EmbeddedPlugin]) -> bool {
    if plugin.ext_id.as_str() != DELEGATE {
        return false;
    }
    let mut texts = carried
        .iter()
        .filter_map(|carried| manifest_text(carried.section).ok());
    let is_same = |text: &str| {
        text.contains(DELEGATE)
            && serde_json::from_str::<Value>(text).is_ok_and(|own| own == plugin.manifest.document)
    };
    match plugin.scope {
        Scope::Bundled => true,
        Scope::Global => texts.any(is_same),
        Scope::Project => false,
    }
}

/// What a tool may be told, and may be told by its config: how many milliseconds a call of it may take.
const TIMEOUT: &str = "timeoutMs";

/// As long as no process runs.
const UNLIMITED: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// How much longer a tool is waited for that keeps time itself, so that it has the last word on it.
const LAST_WORD: Duration = Duration::from_secs(5);

/// A tool, and who gives it.
#[derive(Debug, Clone)]
pub(crate) struct ToolRef {
    pub(crate) giver: Arc<dyn ToolSource>,
    place: usize,
}

impl ToolRef {
    /// The tool of this name, if `giver` gives it.
    pub(crate) fn at(giver: Arc<dyn ToolSource>, name: &str) -> Option<Self> {
        let place = giver.tools().iter().position(|tool| tool.name == name)?;
        Some(Self { giver, place })
    }

    /// What it is.
    pub(crate) fn tool(&self) -> &ToolDeclaration {
        &self.giver.tools()[self.place]
    }

    fn spec(&self) -> Option<&ToolSpec> {
        self.giver.specs().get(self.place)
    }
}

/// The tools of one moment, each name once.
#[derive(Debug)]
pub(crate) struct ToolRegistry(Vec<ToolRef>);

impl ToolRegistry {
    /// The tools of the plugins, and those of others whose names no plugin has.
    pub(crate) fn of(plugins: &Registry, others: Vec<Arc<dyn ToolSource>>) -> Self {
        let mut all = Vec::new();
        for plugin in plugins.of_kind(Kind::Tool) {
            let giver: Arc<dyn ToolSource> = plugin.clone();
            for (place, tool) in giver.tools().iter().enumerate() {
                // A tool that one of a higher scope hides is not there.
                let counts = plugins.tool(&tool.name);
                if counts.is_some_and(|counts| Arc::ptr_eq(counts, plugin)) {
                    let giver = giver.clone();
                    all.push(ToolRef { giver, place });
                }
            }
        }
        let mut names = BTreeSet::new();
        for giver in others {
            for (place, tool) in giver.tools().iter().enumerate() {
                if plugins.tool(&tool.name).is_none() && names.insert(tool.name.clone()) {
                    let giver = giver.clone();
                    all.push(ToolRef { giver, place });
                }
            }
        }
        Self(all)
    }

    /// The tool of this name.
    pub(crate) fn find(&self, name: &str) -> Option<ToolRef> {
        let found = self.0.iter().find(|found| found.tool().name == name);
        found.cloned()
    }

    /// What a model is told of them.
    pub(crate) fn specs(&self) -> impl Iterator<Item = &ToolSpec> + Clone {
        self.0.iter().filter_map(ToolRef::spec)
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

impl ToolSource for Active {
    fn ext_id(&self) -> &str {
        self.identity().ext_id.as_str()
    }

    fn code_origin(&self) -> CodeOrigin {
        self.identity().code_origin()
    }

    fn is_bundled(&self) -> bool {
        self.identity().scope == Scope::Bundled
    }

    fn opens_children(&self, carried: &[EmbeddedPlugin]) -> bool {
        is_delegate(self.identity(), carried)
    }

    fn tools(&self) -> &[ToolDeclaration] {
        match &*self.identity().members {
            Members::Tool(members) => &members.tools,
            _ => &[],
        }
    }

    fn specs(&self) -> &[ToolSpec] {
        self.cached_specs(|| specs_of(self.tools()))
    }

    fn validator(&self, tool: &ToolDeclaration) -> Option<Arc<Validator>> {
        self.cached_validator(&tool.name, || schema::build(&tool.input_schema))
    }

    fn approval_key(&self, tool: &str, args: &Value) -> Result<String> {
        let Running::Tool(instance) = self.running() else {
            return Err(self.lacks("deriveApprovalKey"));
        };
        let _entered = self.call_span("deriveApprovalKey").entered();
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

    /// What the program carries comes back, and what may take long says how long it may.
    fn is_brief(&self, tool: &str) -> bool {
        self.code_origin() == CodeOrigin::Bundled && !takes_timeout(self, tool)
    }

    fn patience(&self, tool: &str, args: &Value, usual: Duration) -> Duration {
        let millis = |set: Option<&Value>| set.and_then(Value::as_u64).map(Duration::from_millis);
        let identity = self.identity();
        if let Some(own) = millis(identity.setting_or_default(TIMEOUT)) {
            // Only a tool whose schema allows for 0 can say that its calls end by themselves.
            return if own.is_zero() { UNLIMITED } else { own };
        }
        if !takes_timeout(self, tool) {
            return usual;
        }
        let asked_for = millis(args.get(TIMEOUT));
        let own = millis(identity.setting_or_default("defaultTimeoutMs"));
        let longest = [asked_for, own].into_iter().flatten().max();
        longest.map_or(usual, |longest| longest.max(usual)) + LAST_WORD
    }
}

/// Whether a tool takes its timeout as an argument.
fn takes_timeout(plugin: &Active, tool: &str) -> bool {
    let takes = |schema: &Value| schema["properties"].get(TIMEOUT).is_some();
    let mut tools = ToolSource::tools(plugin).iter();
    tools.any(|known| known.name == tool && takes(&known.input_schema))
}
