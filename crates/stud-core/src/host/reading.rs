//! Services that only look: env, config, workspace, prompt, resource, metrics.

use std::path::PathBuf;
use std::sync::Arc;

use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};
use stud_contract_meta::Result;
use stud_host_api::BoxFuture;
use stud_host_api::config::{ConfigReader, Destination, READ_GLOBAL_KEYS};
use stud_host_api::env::EnvReader;
use stud_host_api::metrics::{
    RuntimeReader, RuntimeSnapshot, SnapshotHandler, Subscription, TokenHandler,
};
use stud_host_api::prompt::{Prompt, PromptFilter, PromptReader, PromptRef};
use stud_host_api::refusal;
use stud_host_api::resource::{Resource, ResourceFilter, ResourceReader, ResourceRef};
use stud_host_api::workspace::WorkspaceInfo;

use super::{Host, now};
use crate::contracts::CORE_VERSION;
use crate::prompt_templates::PromptRegistry;
use crate::runtime_snapshot::Reader;
use crate::settings::{LoggingSettings, SecuritySettings};
use crate::turn_policy::Network;

impl EnvReader for Host {
    fn get(&self, name: &str) -> Result<Option<String>> {
        self.alive("env")?;
        let Some(resolved) = self.facts().env.get(name)? else {
            return Ok(None);
        };
        if let Some(session) = self.link().get() {
            let payload = json!({
                "extId": self.id(),
                "name": name,
                "source": resolved.source.as_str(),
                "scopeLayer": resolved.scope_layer(),
            });
            let correlation_id = session.correlation_id();
            session
                .books()
                .audit("Env", Some("EnvResolved"), &correlation_id, payload);
        }
        Ok(Some(resolved.value.expose_secret().to_owned()))
    }

    fn require(&self, name: &str) -> Result<String> {
        let missing = || refusal::env_name_not_set(name).with("extId", self.id());
        self.get(name)?.ok_or_else(missing)
    }
}

impl ConfigReader for Host {
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
        let settings = &self.facts().ground.settings;
        let places = &self.facts().ground.places;
        Ok(match key {
            "securityMode" => match self.link().get() {
                Some(session) => json!(session.facts().mode),
                None => json!(SecuritySettings::of(settings).mode.value),
            },
            "projectRoot" => places.project_root.display().to_string().into(),
            "globalRoot" => places.global_root.display().to_string().into(),
            "coreVersion" => CORE_VERSION.to_string().into(),
            "headless" => self.facts().headless.into(),
            // The level is not checked: it is handed on as it stands in the file.
            _ => match settings.get("logging", "level") {
                Some(set) => set.value.clone(),
                None => LoggingSettings::default().level.value.into(),
            },
        })
    }

    fn may_reach(&self, to: &Destination) -> Result<()> {
        self.alive("config")?;
        match self.link().get() {
            Some(session) => session.rules().network.now().check(to),
            None => Network::read(&self.facts().ground.settings).now().check(to),
        }
    }
}

impl WorkspaceInfo for Host {
    fn project_root(&self) -> Result<PathBuf> {
        self.alive("workspace")?;
        Ok(self.facts().ground.places.project_root.clone())
    }

    fn global_root(&self) -> Result<PathBuf> {
        self.alive("workspace")?;
        Ok(self.facts().ground.places.global_root.clone())
    }

    fn correlation_id(&self) -> Result<Option<String>> {
        self.alive("workspace")?;
        Ok(self
            .link()
            .here(self.id())
            .and_then(|session| session.turn_id()))
    }

    fn session_id(&self) -> Result<String> {
        self.alive("workspace")?;
        match self.link().here(self.id()) {
            Some(session) => Ok(session.id().to_owned()),
            None => self.not_ready("workspace"),
        }
    }
}

impl PromptReader for Host {
    fn list(&self, filter: PromptFilter) -> BoxFuture<'_, Result<Vec<PromptRef>>> {
        now(self.alive("prompt").map(|()| match self.link().get() {
            Some(session) => session.prompt_registry().list(self.id(), &filter),
            None => Vec::new(),
        }))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Prompt>> {
        Box::pin(async move {
            self.alive("prompt")?;
            match self.link().get() {
                Some(session) => session.prompt_registry().read(self.id(), id).await,
                // Outside a session none are registered.
                None => PromptRegistry::default().read(self.id(), id).await,
            }
        })
    }
}

impl ResourceReader for Host {
    fn list(&self, filter: ResourceFilter) -> BoxFuture<'_, Result<Vec<ResourceRef>>> {
        now(self.alive("resource").map(|()| match self.link().get() {
            Some(session) => session.resource_registry().list(self.id(), &filter),
            None => Vec::new(),
        }))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Resource>> {
        Box::pin(async move {
            self.alive("resource")?;
            match self.link().get() {
                Some(session) => session.resource_registry().read(self.id(), id).await,
                None => Err(refusal::resource_missing(id)),
            }
        })
    }
}

impl Host {
    fn reader(&self) -> Option<&Reader> {
        if self.reader.get().is_none() {
            let reader = self.link().get()?.reader_for(self.id());
            // The second caller uses the value of the first.
            let _ = self.reader.set(reader);
        }
        self.reader.get().map(Arc::as_ref)
    }
}

impl RuntimeReader for Host {
    fn snapshot(&self) -> Result<Arc<RuntimeSnapshot>> {
        self.alive("metrics")?;
        Ok(match self.link().get() {
            Some(session) => session.metrics().snapshot(),
            None => self.facts().nothing.clone(),
        })
    }

    fn subscribe(&self, handler: SnapshotHandler) -> Result<Subscription> {
        self.alive("metrics")?;
        match self.reader() {
            Some(reader) => reader.subscribe(handler),
            // Outside a session nothing changes, so there is nothing to tell.
            None => Ok(Subscription::new(|| {})),
        }
    }

    fn subscribe_to_tokens(&self, handler: TokenHandler) -> Result<Subscription> {
        self.alive("metrics")?;
        match self.reader() {
            Some(reader) => reader.subscribe_to_tokens(handler),
            None => Ok(Subscription::new(|| {})),
        }
    }
}
