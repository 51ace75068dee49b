//! The plugins of a registry, as a snapshot lists them.

use std::collections::BTreeMap;

use stud_contract_hook::{Slot, SubKind};
use stud_contract_provider::{ContextWindow, Level};
use stud_contract_tool::ToolDeclaration;
use stud_contract_ui::{RegionContribution, RegionMode, Role, UiMembers};
use stud_host_api::metrics::{
    Capabilities, ExtensionInfo, HookInfo, HookKind, HookPoint, Invocations, ProviderInfo,
    RegionInfo, RuntimeSnapshot, Sensitivity, Source, ToolInfo, UiInfo,
};

use crate::identity::Identity;
use crate::model;
use crate::plugin_scope::Scope;
use crate::registry::Registry;
use crate::validate::Members;

/// Who is there, and with what.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roster {
    /// In the order in which they came up.
    pub extensions: Vec<ExtensionInfo>,
    /// By scope and id, and for each provider in the order in which it declares its models.
    pub providers: Vec<ProviderInfo>,
    /// By name. A tool that another one hides is not there.
    pub tools: Vec<ToolInfo>,
    /// By scope and id.
    pub uis: Vec<UiInfo>,
    /// In the order in which they fire, unless an ordering says otherwise.
    pub hooks: Vec<HookInfo>,
}

impl Roster {
    /// Everything in `registry`. `allowed_now` says whether the gate would let a tool run without asking.
    pub fn of_registry(
        registry: &Registry,
        allowed_now: impl Fn(&Identity, &ToolDeclaration) -> bool,
    ) -> Self {
        let plugins = registry.iter().map(|plugin| &**plugin.identity());
        Self::of(plugins, allowed_now)
    }

    /// The same for plugins in the order in which they came up.
    pub fn of<'a>(
        plugins: impl Iterator<Item = &'a Identity>,
        allowed_now: impl Fn(&Identity, &ToolDeclaration) -> bool,
    ) -> Self {
        let mut plugins: Vec<&Identity> = plugins.collect();
        let extensions = plugins.iter().map(|plugin| extension(plugin)).collect();
        // Higher scopes come last and so have the last word on the name of a tool.
        plugins.sort_by_key(|plugin| (plugin.scope, &plugin.ext_id));

        let mut providers = Vec::new();
        let mut tools = BTreeMap::new();
        let mut uis = Vec::new();
        let mut hooks = Vec::new();
        for plugin in plugins {
            match &*plugin.members {
                Members::Provider(_) => providers.extend(models(plugin)),
                Members::Tool(members) => {
                    for declared in &members.tools {
                        let tool = tool(plugin, declared, allowed_now(plugin, declared));
                        tools.insert(declared.name.as_str(), tool);
                    }
                }
                Members::Ui(members) => uis.push(ui(plugin, members)),
                Members::Hook(members) => hooks.push((plugin, members.registration)),
                Members::Logger(_)
                | Members::StateMachine(_)
                | Members::Command(_)
                | Members::SessionStore(_)
                | Members::ContextProvider => {}
            }
        }
        // Stable, so that the hooks of one slot stay in the order of their scopes and ids.
        hooks.sort_by_key(|(_, registration)| registration.slot);
        let hooks = hooks.into_iter().map(|(plugin, registration)| {
            hook(
                plugin.ext_id.as_str(),
                registration.slot,
                registration.sub_kind,
            )
        });
        Self {
            extensions,
            providers,
            tools: tools.into_values().collect(),
            uis,
            hooks: hooks.collect(),
        }
    }

    /// Takes the place of what a snapshot lists, and keeps what no registry knows: calls so far, tools of MCP servers.
    pub(super) fn enter(mut self, snapshot: &mut RuntimeSnapshot) {
        let listed = std::mem::take(&mut snapshot.tools.items);
        let (remote, local): (Vec<_>, Vec<_>) = listed
            .into_iter()
            .partition(|tool| tool.source == Source::Mcp);
        let calls: BTreeMap<String, Invocations> = local
            .into_iter()
            .map(|tool| (tool.id, tool.invocations))
            .collect();
        for tool in &mut self.tools {
            tool.invocations = calls.get(&tool.id).copied().unwrap_or_default();
        }
        self.tools.extend(remote);

        snapshot.extensions.loaded = self.extensions;
        snapshot.provider.available = self.providers;
        snapshot.tools.items = self.tools;
        snapshot.ui.items = self.uis;
        snapshot.hooks.items = self.hooks;
    }
}

fn extension(plugin: &Identity) -> ExtensionInfo {
    ExtensionInfo {
        id: plugin.ext_id.to_string(),
        kind: plugin.kind.as_str().to_owned(),
        contract_version: plugin.manifest.contract_version.clone(),
        source: source(plugin.scope),
        active: is_active(plugin),
    }
}

/// One entry for each model a provider has; one unknown model if none is listed.
fn models(plugin: &Identity) -> Vec<ProviderInfo> {
    let info = |model_id: &str| ProviderInfo {
        id: plugin.ext_id.to_string(),
        label: plugin.manifest.name.clone(),
        model_id: model_id.to_owned(),
        capabilities: capabilities(&model::capabilities(plugin, model_id)),
    };
    let models = model::models(plugin);
    if models.is_empty() {
        return vec![info(&ProviderInfo::default().model_id)];
    }
    models.iter().map(|model| info(model)).collect()
}

fn capabilities(claimed: &stud_contract_provider::Capabilities) -> Capabilities {
    // What has to be tried first is not there yet.
    let there = |level| matches!(level, Level::Hard | Level::Preferred);
    Capabilities {
        streaming: there(claimed.streaming),
        tool_calling: there(claimed.tool_calling),
        thinking: there(claimed.reasoning),
        context_window: match claimed.context_window {
            ContextWindow::Tokens(tokens) => Some(tokens),
            ContextWindow::Probed => None,
        },
    }
}

fn tool(plugin: &Identity, declared: &ToolDeclaration, allowed_now: bool) -> ToolInfo {
    ToolInfo {
        // Names are unique once scopes are laid over one another, and approvals go by them too.
        id: declared.name.clone(),
        name: declared.name.clone(),
        description: Some(declared.description.clone()),
        source: source(plugin.scope),
        sensitivity: if declared.gated {
            Sensitivity::Guarded
        } else {
            Sensitivity::Safe
        },
        allowed_now,
        // A tool derives its key from the arguments, so no key stands for all of its calls.
        approval_key: None,
        invocations: Invocations::default(),
    }
}

fn ui(plugin: &Identity, members: &UiMembers) -> UiInfo {
    let is_region = members.roles.contains(&Role::Region);
    UiInfo {
        id: plugin.ext_id.to_string(),
        roles: members.roles.iter().map(ToString::to_string).collect(),
        target_ui: is_region.then(|| target(plugin, members)).flatten(),
        region_contributions: is_region.then(|| members.regions.iter().map(region).collect()),
        active: is_active(plugin),
    }
}

/// The config may send a plugin to another UI than its manifest names.
fn target(plugin: &Identity, members: &UiMembers) -> Option<String> {
    let configured = plugin
        .config
        .get("targetUI")
        .and_then(|target| target.as_str());
    let declared = || members.regions.first().map(|region| &*region.target_ui);
    configured.or_else(declared).map(str::to_owned)
}

fn region(contribution: &RegionContribution) -> RegionInfo {
    let mode = match contribution.mode {
        RegionMode::Replace => "replace",
        RegionMode::Append => "append",
        RegionMode::Decorate => "decorate",
    };
    RegionInfo {
        region: contribution.region.clone(),
        mode: mode.to_owned(),
        priority: contribution.priority,
        id: contribution.id.clone(),
    }
}

fn hook(id: &str, slot: Slot, sub_kind: SubKind) -> HookInfo {
    let (stage, _) = slot.as_str().split_once('/').unwrap_or((slot.as_str(), ""));
    HookInfo {
        id: id.to_owned(),
        stage: stage.to_owned(),
        point: if slot.is_pre() {
            HookPoint::Pre
        } else {
            HookPoint::Post
        },
        kind: match sub_kind {
            SubKind::Transform => HookKind::Transform,
            SubKind::Guard => HookKind::Guard,
            SubKind::Observer => HookKind::Observer,
        },
    }
}

/// The word of a snapshot for a scope.
pub(crate) fn source(scope: Scope) -> Source {
    match scope {
        Scope::Bundled => Source::Bundled,
        Scope::Global => Source::Global,
        Scope::Project => Source::Project,
    }
}

fn is_active(plugin: &Identity) -> bool {
    plugin.life.word() == "active"
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests;
