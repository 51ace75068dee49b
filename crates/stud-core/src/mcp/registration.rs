//! The prompts and resources of a server in the session's registries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use stud_contract_meta::Result;
use stud_host_api::BoxFuture;
use stud_host_api::prompt::PromptSource;
use stud_host_api::resource::{ResourceRef, ResourceSource};

use super::binding::ResourceBinding;
use super::catalog::ServerCatalog;
use super::fetch;
use super::sanitize::visible;
use super::server::Server;
use crate::prompt_templates::{PromptBody, PromptDriver, PromptEntry, PromptId};
use crate::resources::{FetchError, Fetched, ResourceDriver};
use crate::visibility::Visibility;

/// Puts what a server offers into the registries, in the place of what it offered before.
pub(super) fn enter(server: &Arc<Server>, stock: &ServerCatalog) {
    withdraw(server);
    let means = &server.means;
    let driver = Arc::new(Driver(server.clone()));
    for prompt in &stock.prompts {
        let entry = PromptEntry {
            id: format!("mcp:{}:{}", server.id(), prompt.name),
            source: PromptSource::Mcp,
            description: prompt.description.as_deref().map(visible),
            body: PromptBody::Fetched(driver.clone()),
            untrusted: true,
            audience: Visibility::Everyone,
        };
        // A name that cannot be part of an id was left out before.
        let _ = means.prompt_registry.register(entry);
    }
    let own: Vec<&ResourceBinding> = means
        .bindings
        .iter()
        .filter(|binding| binding.server_id == server.id())
        .collect();
    // A resource with limits of its own need not be listed: many servers list only some of theirs.
    let listed = stock.resources.iter().map(|resource| &resource.uri);
    let uris: BTreeSet<&String> = listed.chain(own.iter().map(|own| &own.uri)).collect();
    for uri in uris {
        let own = own.iter().find(|own| own.uri == *uri);
        let reference = ResourceRef {
            id: format!("mcp:{}:{uri}", server.id()),
            source: ResourceSource::Mcp,
            uri: uri.clone(),
            byte_cap: own.map_or(means.terms.resource_bytes, |own| own.max_bytes),
            token_cap: own
                .and_then(|own| own.max_tokens)
                .unwrap_or(means.terms.resource_tokens),
        };
        let registry = &means.resource_registry;
        let _ = registry.bind(reference, driver.clone(), Visibility::Everyone);
    }
}

/// Takes everything of a server out of the registries.
pub(super) fn withdraw(server: &Server) {
    let namespace = format!("mcp:{}", server.id());
    server.means.prompt_registry.withdraw(&namespace);
    server.means.resource_registry.withdraw(&namespace);
}

/// Gets what is registered from the server.
struct Driver(Arc<Server>);

impl Driver {
    /// The configured token limit of a resource; the default is in the registry.
    fn bound_tokens(&self, uri: &str) -> Option<u64> {
        let server = &self.0;
        let mut own = server.means.bindings.iter();
        let own = own.find(|own| own.server_id == server.id() && own.uri == uri);
        own.and_then(|own| own.max_tokens)
    }
}

impl PromptDriver for Driver {
    fn fetch<'a>(&'a self, id: &'a PromptId) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let consumed = fetch::prompt(&self.0, id.name(), BTreeMap::new()).await?;
            Ok(consumed.text())
        })
    }
}

impl ResourceDriver for Driver {
    fn fetch<'a>(
        &'a self,
        reference: &'a ResourceRef,
    ) -> BoxFuture<'a, std::result::Result<Fetched, FetchError>> {
        Box::pin(async move {
            let binding = ResourceBinding {
                server_id: self.0.id().to_owned(),
                uri: reference.uri.clone(),
                max_bytes: reference.byte_cap,
                max_tokens: self.bound_tokens(&reference.uri),
            };
            match fetch::resource(&self.0, binding).await {
                Ok(bound) => Ok(Fetched {
                    bytes: bound.content,
                    mime: bound.mime_type,
                }),
                Err(error) if error.class() == "ProviderTransient" => {
                    Err(FetchError::Transient(error.message().to_owned()))
                }
                Err(error) => Err(FetchError::Typed(error)),
            }
        })
    }
}
