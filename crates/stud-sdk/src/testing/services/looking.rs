//! Services that only tell: env, config, workspace, prompts, resources, metrics.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use serde_json::{Map, Value};
use stud_contract_meta::Result;
use stud_host_api::config::{ConfigReader, Destination, READ_GLOBAL_KEYS};
use stud_host_api::env::EnvReader;
use stud_host_api::metrics::{
    RuntimeReader, RuntimeSnapshot, SnapshotHandler, Subscription, TokenHandler,
};
use stud_host_api::prompt::{Prompt, PromptFilter, PromptReader, PromptRef};
use stud_host_api::resource::{Resource, ResourceFilter, ResourceReader, ResourceRef};
use stud_host_api::workspace::WorkspaceInfo;
use stud_host_api::{BoxFuture, refusal};

use super::super::record::{Record, SESSION};
use super::super::script::TURN;
use super::{Services, ready};

impl EnvReader for Services {
    fn get(&self, name: &str) -> Result<Option<String>> {
        let record = self.open("env")?;
        Ok(record
            .env
            .get(name)
            .filter(|value| !value.is_empty())
            .cloned())
    }
}

impl ConfigReader for Services {
    fn read_own(&self) -> Result<Map<String, Value>> {
        Ok(self.open("config")?.config.clone())
    }

    fn read_global(&self, key: &str) -> Result<Value> {
        if !READ_GLOBAL_KEYS.contains(&key) {
            return Err(refusal::unknown_config_key(key));
        }
        Ok(self
            .open("config")?
            .globals
            .get(key)
            .cloned()
            .unwrap_or_default())
    }

    fn may_reach(&self, to: &Destination) -> Result<()> {
        let record = self.open("config")?;
        let address = to.address.map(|address| address.to_string());
        let port = to.port.map(|port| format!("{}:{port}", to.host));
        let meant = |host: &String| {
            *host == to.host || Some(host) == address.as_ref() || Some(host) == port.as_ref()
        };
        if record.out_of_reach.iter().any(meant) {
            let why = format!("`{}` is on the list of denied hosts", to.host);
            return Err(refusal::network_denied(to, &why));
        }
        Ok(())
    }
}

impl WorkspaceInfo for Services {
    fn project_root(&self) -> Result<PathBuf> {
        Ok(self.open("workspace")?.project_root.clone())
    }

    fn global_root(&self) -> Result<PathBuf> {
        Ok(self.open("workspace")?.global_root.clone())
    }

    fn correlation_id(&self) -> Result<Option<String>> {
        self.open("workspace").map(|_| Some(TURN.to_owned()))
    }

    fn session_id(&self) -> Result<String> {
        self.open("workspace").map(|_| SESSION.to_owned())
    }
}

impl PromptReader for Services {
    fn list(&self, filter: PromptFilter) -> BoxFuture<'_, Result<Vec<PromptRef>>> {
        ready(self.open("prompt").map(|record| {
            let fitting = record
                .prompts
                .iter()
                .filter(|prompt| filter.matches(&prompt.id));
            let mut found: Vec<_> = fitting
                .map(|prompt| PromptRef {
                    id: prompt.id.clone(),
                    source: prompt.source,
                    description: None,
                    untrusted: prompt.untrusted,
                })
                .collect();
            found.sort_unstable_by(|a, b| a.id.cmp(&b.id));
            found
        }))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Prompt>> {
        ready(self.open("prompt").and_then(|record| {
            let found = record.prompts.iter().find(|prompt| prompt.id == id);
            found.cloned().ok_or_else(|| refusal::prompt_missing(id))
        }))
    }
}

impl ResourceReader for Services {
    fn list(&self, filter: ResourceFilter) -> BoxFuture<'_, Result<Vec<ResourceRef>>> {
        ready(self.open("resource").map(|record| {
            let all = record.resources.iter().map(|(reference, _)| reference);
            let mut found: Vec<_> = all
                .filter(|resource| filter.matches(resource))
                .cloned()
                .collect();
            found.sort_unstable_by(|a, b| a.id.cmp(&b.id));
            found
        }))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Resource>> {
        ready(self.open("resource").and_then(|record| {
            let found = record
                .resources
                .iter()
                .find(|(reference, _)| reference.id == id);
            found
                .map(|(_, resource)| resource.clone())
                .ok_or_else(|| refusal::resource_missing(id))
        }))
    }
}

impl RuntimeReader for Services {
    fn snapshot(&self) -> Result<Arc<RuntimeSnapshot>> {
        Ok(self.open("metrics")?.snapshot.clone())
    }

    fn subscribe(&self, handler: SnapshotHandler) -> Result<Subscription> {
        self.watch(|record, id| record.snapshot_handlers.push((id, Arc::new(handler))))
    }

    fn subscribe_to_tokens(&self, handler: TokenHandler) -> Result<Subscription> {
        self.watch(|record, id| record.token_handlers.push((id, Arc::new(handler))))
    }
}

impl Services {
    fn watch(&self, add: impl FnOnce(&mut Record, u64)) -> Result<Subscription> {
        let mut record = self.open("metrics")?;
        let id = record.next_handler;
        record.next_handler += 1;
        add(&mut record, id);
        drop(record);
        let shared = self.0.clone();
        Ok(Subscription::new(move || {
            let mut record = shared.lock().unwrap_or_else(PoisonError::into_inner);
            record.snapshot_handlers.retain(|(other, _)| *other != id);
            record.token_handlers.retain(|(other, _)| *other != id);
        }))
    }
}
