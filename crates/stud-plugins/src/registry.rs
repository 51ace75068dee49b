//! registry: every [`Active`] plugin, found by id, category, tool, command or slot.

use std::collections::BTreeMap;
use std::sync::Arc;

use stud_contract_hook::Slot;
use stud_contract_meta::{ExtId, Kind};

use crate::activate::Active;
use crate::validate::Members;
use stud_config::plugin_scope::Scope;

/// The plugins of one moment.
///
/// A registry is never changed: a turn keeps the one it started with, and a reload makes the next.
/// A plugin lives until the last registry and the last caller that holds it are gone.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    plugins: BTreeMap<ExtId, Arc<Active>>,
    /// Ids in the order they came up; they go down the other way round.
    order: Vec<ExtId>,
    tools: BTreeMap<String, ExtId>,
    commands: BTreeMap<String, ExtId>,
}

impl Registry {
    /// The same with one plugin more, or in the place of the one with its id.
    #[must_use]
    pub fn with(mut self, plugin: Arc<Active>) -> Self {
        let id = plugin.identity().ext_id.clone();
        if self.plugins.insert(id.clone(), plugin).is_none() {
            self.order.push(id);
        }
        self.index();
        self
    }

    /// The same without one plugin.
    #[must_use]
    pub fn without(mut self, id: &ExtId) -> Self {
        self.plugins.remove(id);
        self.order.retain(|known| known != id);
        self.index();
        self
    }

    /// The plugin with this id.
    pub fn get(&self, id: &str) -> Option<&Arc<Active>> {
        let id = ExtId::parse(id).ok()?;
        self.plugins.get(&id)
    }

    /// All plugins in the order they came up.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Active>> {
        self.order.iter().filter_map(|id| self.plugins.get(id))
    }

    /// The plugins of one category, by scope and then by id.
    pub fn of_kind(&self, kind: Kind) -> Vec<&Arc<Active>> {
        let mut plugins: Vec<_> = self
            .plugins
            .values()
            .filter(|plugin| plugin.identity().kind == kind)
            .collect();
        plugins.sort_by(|one, other| rank(one).cmp(&rank(other)));
        plugins
    }

    /// The plugin that gives a tool; a higher scope hides a lower one.
    pub fn tool(&self, name: &str) -> Option<&Arc<Active>> {
        self.tools.get(name).and_then(|id| self.plugins.get(id))
    }

    /// The plugin that gives a command; a higher scope hides a lower one.
    pub fn command(&self, name: &str) -> Option<&Arc<Active>> {
        self.commands.get(name).and_then(|id| self.plugins.get(id))
    }

    /// The hooks of a slot in their default order: bundled, global, project, then by id.
    pub fn hooks(&self, slot: Slot) -> Vec<&Arc<Active>> {
        let attached = |plugin: &&Arc<Active>| match &*plugin.identity().members {
            Members::Hook(members) => members.registration.slot == slot,
            _ => false,
        };
        self.of_kind(Kind::Hook)
            .into_iter()
            .filter(attached)
            .collect()
    }

    fn index(&mut self) {
        let mut plugins: Vec<&Arc<Active>> = self.plugins.values().collect();
        // Higher scopes come last and so have the last word.
        plugins.sort_by(|one, other| rank(one).cmp(&rank(other)));
        let mut tools = BTreeMap::new();
        let mut commands = BTreeMap::new();
        for plugin in plugins {
            let id = &plugin.identity().ext_id;
            match &*plugin.identity().members {
                Members::Tool(members) => {
                    tools.extend(
                        members
                            .tools
                            .iter()
                            .map(|tool| (tool.name.clone(), id.clone())),
                    );
                }
                Members::Command(members) => {
                    commands.extend(
                        members
                            .commands
                            .iter()
                            .map(|command| (command.name.clone(), id.clone())),
                    );
                }
                _ => {}
            }
        }
        self.tools = tools;
        self.commands = commands;
    }
}

/// Several plugins, indexed once.
impl FromIterator<Arc<Active>> for Registry {
    fn from_iter<I: IntoIterator<Item = Arc<Active>>>(plugins: I) -> Self {
        let mut registry = Self::default();
        for plugin in plugins {
            let id = plugin.identity().ext_id.clone();
            registry.order.push(id.clone());
            registry.plugins.insert(id, plugin);
        }
        registry.index();
        registry
    }
}

fn rank(plugin: &Arc<Active>) -> (Scope, &ExtId) {
    (plugin.identity().scope, &plugin.identity().ext_id)
}
