//! The Host API for a plugin that runs outside any session.
//!
//! What needs no session works: the environment, the plugin's config, the roots.
//! What needs one says so, after it has refused what the plugin's category may never do.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use stud_abi::CancellationToken;
use stud_contract_interaction::{Payload, Response};
use stud_contract_meta::{Kind, Result};
use stud_host_api::audit::{
    ActiveSubagent, AuditEvent, AuditLogger, AuditQuery, AuditRecord, is_core_class,
};
use stud_host_api::cancellation::{CancellationFactory, Scope};
use stud_host_api::commands::{CommandArgs, CommandRef, CommandResult, CommandSurface, Completion};
use stud_host_api::config::{ConfigReader, READ_GLOBAL_KEYS};
use stud_host_api::context::{ContextContributor, ContextFragment};
use stud_host_api::env::EnvReader;
use stud_host_api::events::{Event, EventPublisher, is_core_event};
use stud_host_api::interaction::InteractionRequester;
use stud_host_api::metrics::{
    RuntimeReader, RuntimeSnapshot, SnapshotHandler, Subscription, TokenHandler,
};
use stud_host_api::prompt::{Prompt, PromptFilter, PromptReader, PromptRef};
use stud_host_api::refusal::{self, Phase};
use stud_host_api::resource::{Resource, ResourceFilter, ResourceReader, ResourceRef};
use stud_host_api::session::{
    Appended, ChildOutcome, OpenChild, Page, SessionAccessor, SessionRecord, SessionView, StateSlot,
};
use stud_host_api::workspace::WorkspaceInfo;
use stud_host_api::{BoxFuture, HostApi};

use crate::activate::{HostSource, Identity};
use crate::contracts::CORE_VERSION;
use crate::ground::Ground;
use crate::platform::{self, Places};
use crate::scope::Scope as Layer;
use crate::settings::Settings;
use crate::validate::schema;

/// Makes hosts for plugins that run outside any session, as `stud plugin list` runs them.
#[derive(Debug)]
pub struct DetachedHosts {
    places: Places,
    settings: Settings,
    snapshot: Arc<RuntimeSnapshot>,
}

impl DetachedHosts {
    /// Hosts for plugins that stand on `ground`.
    pub fn new(ground: &Ground) -> Self {
        Self {
            places: ground.places.clone(),
            settings: ground.settings.clone(),
            snapshot: Arc::default(),
        }
    }
}

impl HostSource for DetachedHosts {
    fn host_for(&self, plugin: &Arc<Identity>) -> Arc<dyn HostApi> {
        Arc::new(DetachedHost {
            plugin: plugin.clone(),
            places: self.places.clone(),
            settings: self.settings.clone(),
            snapshot: self.snapshot.clone(),
        })
    }
}

struct DetachedHost {
    plugin: Arc<Identity>,
    places: Places,
    settings: Settings,
    snapshot: Arc<RuntimeSnapshot>,
}

impl DetachedHost {
    fn phase(&self) -> Phase {
        match self.plugin.life.word() {
            "loaded" => Phase::Loaded,
            "active" => Phase::Active,
            "inactive" => Phase::Inactive,
            "disposed" => Phase::Disposed,
            _ => Phase::Init,
        }
    }

    fn category(&self) -> &'static str {
        self.plugin.kind.as_str()
    }

    /// A plugin that was disposed has no host any more.
    fn alive(&self, service: &str) -> Result<()> {
        match self.phase() {
            Phase::Disposed => self.not_ready(service),
            _ => Ok(()),
        }
    }

    fn not_ready<T>(&self, service: &str) -> Result<T> {
        Err(refusal::not_ready(service, self.phase()))
    }

    fn later<T: Send + 'static>(&self, service: &str) -> BoxFuture<'static, Result<T>> {
        now(self.not_ready(service))
    }
}

fn now<T: Send + 'static>(answer: Result<T>) -> BoxFuture<'static, Result<T>> {
    Box::pin(std::future::ready(answer))
}

impl HostApi for DetachedHost {
    fn env(&self) -> &dyn EnvReader {
        self
    }

    fn config(&self) -> &dyn ConfigReader {
        self
    }

    fn events(&self) -> &dyn EventPublisher {
        self
    }

    fn audit(&self) -> &dyn AuditLogger {
        self
    }

    fn interaction(&self) -> &dyn InteractionRequester {
        self
    }

    fn cancellation(&self) -> &dyn CancellationFactory {
        self
    }

    fn session(&self) -> &dyn SessionAccessor {
        self
    }

    fn workspace(&self) -> &dyn WorkspaceInfo {
        self
    }

    fn prompt(&self) -> &dyn PromptReader {
        self
    }

    fn resource(&self) -> &dyn ResourceReader {
        self
    }

    fn context(&self) -> &dyn ContextContributor {
        self
    }

    fn commands(&self) -> &dyn CommandSurface {
        self
    }

    fn metrics(&self) -> &dyn RuntimeReader {
        self
    }
}

impl EnvReader for DetachedHost {
    fn get(&self, name: &str) -> Result<Option<String>> {
        self.alive("env")?;
        let from_settings = || {
            let set = self.settings.get("env", name)?.value.as_str()?;
            // `${NAME}` points at a variable of the process, so that no secret need stand in a file.
            match set
                .strip_prefix("${")
                .and_then(|rest| rest.strip_suffix('}'))
            {
                Some(variable) => platform::env_value(variable),
                None => Some(set.to_owned()).filter(|value| !value.is_empty()),
            }
        };
        Ok(platform::env_value(name).or_else(from_settings))
    }
}

impl ConfigReader for DetachedHost {
    fn read_own(&self) -> Result<Map<String, Value>> {
        self.alive("config")?;
        match &self.plugin.config {
            Value::Object(config) => Ok(config.clone()),
            _ => Ok(Map::new()),
        }
    }

    fn read_global(&self, key: &str) -> Result<Value> {
        self.alive("config")?;
        if !READ_GLOBAL_KEYS.contains(&key) {
            return Err(refusal::unknown_config_key(key));
        }
        let set = |section, member, otherwise: &str| {
            self.settings
                .get(section, member)
                .map_or_else(|| otherwise.into(), |sourced| sourced.value.clone())
        };
        Ok(match key {
            "securityMode" => set("securityMode", "mode", "ask"),
            "projectRoot" => self.places.project_root.display().to_string().into(),
            "globalRoot" => self.places.global_root.display().to_string().into(),
            "coreVersion" => CORE_VERSION.to_string().into(),
            "headless" => true.into(),
            _ => set("logging", "level", "info"),
        })
    }
}

impl EventPublisher for DetachedHost {
    fn publish(&self, event: Event) -> Result<()> {
        if is_core_event(&event.name) {
            return Err(refusal::event_name_reserved(&event.name));
        }
        let declared = &self.plugin.manifest.events;
        let Some(declared) = declared.iter().find(|declared| declared.name == event.name) else {
            return Err(refusal::event_undeclared(&event.name));
        };
        // The schema compiled when the manifest was validated.
        if let Ok(validator) = schema::build(&declared.schema)
            && let Some(error) = validator.iter_errors(&event.payload).next()
        {
            let place = schema::place(&error);
            return Err(refusal::event_payload_invalid(
                &event.name,
                &place,
                &schema::problem(&error),
            ));
        }
        self.not_ready("events")
    }
}

impl AuditLogger for DetachedHost {
    fn record(&self, event: AuditEvent) -> BoxFuture<'_, Result<()>> {
        if is_core_class(&event.class) {
            return now(Err(refusal::audit_class_reserved(&event.class)));
        }
        self.later("audit")
    }

    fn query(&self, _: AuditQuery) -> BoxFuture<'_, Result<Vec<AuditRecord>>> {
        self.later("audit")
    }

    fn active_subagents(&self) -> BoxFuture<'_, Result<Vec<ActiveSubagent>>> {
        self.later("audit")
    }
}

impl InteractionRequester for DetachedHost {
    fn request(&self, payload: Payload) -> BoxFuture<'_, Result<Response>> {
        let kind = payload.kind();
        let declared = self
            .plugin
            .manifest
            .interaction_kinds
            .iter()
            .any(|word| word == kind.as_str());
        if !declared || !kind.may_be_raised_by(self.category()) {
            return now(Err(refusal::interaction_kind_forbidden(
                kind,
                self.category(),
            )));
        }
        self.later("interaction")
    }
}

impl CancellationFactory for DetachedHost {
    fn token(&self, _: Scope) -> Result<CancellationToken> {
        self.not_ready("cancellation")
    }
}

impl SessionAccessor for DetachedHost {
    fn read(&self, _: Page) -> BoxFuture<'_, Result<SessionView>> {
        self.later("session")
    }

    fn append(&self, record: SessionRecord) -> BoxFuture<'_, Result<Appended>> {
        if matches!(record, SessionRecord::UserInput { .. }) && self.plugin.kind != Kind::Ui {
            return now(Err(refusal::user_input_forbidden(self.category())));
        }
        self.later("session")
    }

    fn state_slot(&self, ext_id: &str) -> Result<Box<dyn StateSlot>> {
        let own = self.plugin.ext_id.as_str();
        if ext_id != own {
            return Err(refusal::slot_access_denied(own, ext_id));
        }
        self.not_ready("session")
    }

    fn open_child(&self, _: OpenChild) -> BoxFuture<'_, Result<ChildOutcome>> {
        let is_delegate =
            self.plugin.scope == Layer::Bundled && self.plugin.ext_id.as_str() == "delegate";
        if !is_delegate {
            return now(Err(refusal::open_child_forbidden(
                self.plugin.ext_id.as_str(),
            )));
        }
        self.later("session")
    }
}

impl WorkspaceInfo for DetachedHost {
    fn project_root(&self) -> Result<PathBuf> {
        self.alive("workspace")?;
        Ok(self.places.project_root.clone())
    }

    fn global_root(&self) -> Result<PathBuf> {
        self.alive("workspace")?;
        Ok(self.places.global_root.clone())
    }

    fn correlation_id(&self) -> Result<Option<String>> {
        self.alive("workspace")?;
        Ok(None)
    }

    fn session_id(&self) -> Result<String> {
        self.not_ready("workspace")
    }
}

impl PromptReader for DetachedHost {
    fn list(&self, _: PromptFilter) -> BoxFuture<'_, Result<Vec<PromptRef>>> {
        now(self.alive("prompt").map(|()| Vec::new()))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Prompt>> {
        now(self
            .alive("prompt")
            .and_then(|()| Err(refusal::prompt_missing(id))))
    }
}

impl ResourceReader for DetachedHost {
    fn list(&self, _: ResourceFilter) -> BoxFuture<'_, Result<Vec<ResourceRef>>> {
        now(self.alive("resource").map(|()| Vec::new()))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Resource>> {
        now(self
            .alive("resource")
            .and_then(|()| Err(refusal::resource_missing(id))))
    }
}

impl ContextContributor for DetachedHost {
    fn contribute(&self, _: ContextFragment) -> BoxFuture<'_, Result<()>> {
        if self.plugin.kind != Kind::ContextProvider {
            return now(Err(refusal::context_contribution_forbidden(
                self.category(),
            )));
        }
        self.later("context")
    }
}

impl CommandSurface for DetachedHost {
    fn list(&self) -> Result<Vec<CommandRef>> {
        self.not_ready("commands")
    }

    fn complete(&self, _: &str, _: usize) -> Result<Vec<Completion>> {
        self.not_ready("commands")
    }

    fn dispatch<'a>(&'a self, _: &'a str, _: CommandArgs) -> BoxFuture<'a, Result<CommandResult>> {
        if !matches!(self.plugin.kind, Kind::Ui | Kind::Command) {
            return now(Err(refusal::command_dispatch_forbidden(self.category())));
        }
        self.later("commands")
    }
}

impl RuntimeReader for DetachedHost {
    fn snapshot(&self) -> Result<Arc<RuntimeSnapshot>> {
        self.alive("metrics")?;
        Ok(self.snapshot.clone())
    }

    fn subscribe(&self, _: SnapshotHandler) -> Result<Subscription> {
        self.alive("metrics")?;
        // Outside a session nothing changes, so there is nothing to tell.
        Ok(Subscription::new(|| {}))
    }

    fn subscribe_to_tokens(&self, _: TokenHandler) -> Result<Subscription> {
        self.alive("metrics")?;
        Ok(Subscription::new(|| {}))
    }
}
