//! The resources of a session: references with limits. The content is fetched when one is read, and never trusted.

use std::collections::BTreeMap;
use std::sync::Arc;

use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::resource::{Resource, ResourceFilter, ResourceRef, ResourceSource};
use stud_host_api::{BoxFuture, refusal};

use crate::platform;
use crate::sync::{Mutex, lock};
use crate::visibility::Visibility;

/// Gets the content of a resource from where it is.
pub trait ResourceDriver: Send + Sync {
    /// The content, as of now. There is no need to read much further than the binding's `byte_cap`.
    fn fetch<'a>(
        &'a self,
        binding: &'a ResourceRef,
    ) -> BoxFuture<'a, std::result::Result<Fetched, FetchError>>;
}

/// What a driver got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fetched {
    /// The content.
    pub bytes: Vec<u8>,
    /// Its media type.
    pub mime: String,
}

/// Why a driver got nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum FetchError {
    /// It may work later; these words say what was in the way.
    Transient(String),
    /// It is as this error says.
    Typed(Error),
}

/// The resources of a session.
#[derive(Default)]
pub struct ResourceRegistry(Mutex<BTreeMap<String, Arc<Binding>>>);

struct Binding {
    reference: ResourceRef,
    driver: Arc<dyn ResourceDriver>,
    audience: Visibility,
}

impl ResourceRegistry {
    /// Binds a resource, in the place of the one with its id.
    ///
    /// # Errors
    ///
    /// `Validation/ResourceBindingInvalid`, whose context says as `reason` what is wrong with it: `id`, `source` or
    /// `caps`.
    pub fn bind(
        &self,
        reference: ResourceRef,
        driver: Arc<dyn ResourceDriver>,
        audience: Visibility,
    ) -> Result<()> {
        check(&reference)?;
        let binding = Binding {
            reference,
            driver,
            audience,
        };
        lock(&self.0).insert(binding.reference.id.clone(), Arc::new(binding));
        Ok(())
    }

    /// Takes back everything in a namespace, such as `mcp:git` when that server is gone. Gives how many there were.
    pub fn withdraw(&self, namespace: &str) -> usize {
        let inside = |id: &str| {
            let rest = id.strip_prefix(namespace);
            rest.is_some_and(|rest| rest.starts_with(':'))
        };
        let mut bindings = lock(&self.0);
        let before = bindings.len();
        bindings.retain(|id, _| !inside(id));
        before - bindings.len()
    }

    /// The resources that fit and that this plugin may see, in byte order of their ids.
    pub fn list(&self, viewer: &str, filter: &ResourceFilter) -> Vec<ResourceRef> {
        let bindings = lock(&self.0);
        let seen = bindings.values().filter(|binding| {
            binding.audience.includes(viewer) && filter.matches(&binding.reference)
        });
        seen.map(|binding| binding.reference.clone()).collect()
    }

    /// The most of a resource that a model may be told, in tokens.
    pub(crate) fn token_cap(&self, id: &str) -> Option<u64> {
        let bindings = lock(&self.0);
        bindings.get(id).map(|binding| binding.reference.token_cap)
    }

    /// Fetches the content of one.
    ///
    /// # Errors
    ///
    /// `Validation/ResourceMissing` if there is none that this plugin may see, `ToolTerminal/ResourceOverBytesCap` if
    /// the content is larger than its binding allows, `ToolTransient/ResourceFetchFailed` if it cannot be had now, and
    /// whatever else its driver says.
    pub async fn read(&self, viewer: &str, id: &str) -> Result<Resource> {
        let found = lock(&self.0).get(id).cloned();
        let binding = found
            .filter(|binding| binding.audience.includes(viewer))
            .ok_or_else(|| refusal::resource_missing(id))?;
        let reference = &binding.reference;
        let fetched = binding.driver.fetch(reference).await;
        let Fetched { bytes, mime } = fetched.map_err(|error| unfetched(reference, error))?;
        let actual = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if actual > reference.byte_cap {
            return Err(too_large(reference, actual));
        }
        Ok(Resource {
            id: reference.id.clone(),
            bytes,
            mime,
            untrusted: true,
            fetched_at: platform::rfc3339(platform::now()),
        })
    }
}

/// Whether a resource can be bound like this: its id, then its source, then its limits.
fn check(reference: &ResourceRef) -> Result<()> {
    let id = &reference.id;
    let wrong = |reason: &str, why: &str| {
        let code = &codes::RESOURCE_BINDING_INVALID;
        let message = format!("`{}` cannot be bound: {why}", id.escape_debug());
        Err(Error::new(code.class, code.name, message)
            .with("reason", reason)
            .with("id", id.as_str()))
    };
    if id.is_empty() || id.contains(char::is_control) {
        return wrong("id", "an id is not empty and has no control characters");
    }
    let namespace = id.split(':').next().unwrap_or_default();
    let source = word(reference.source);
    if SOURCES.contains(&namespace) && namespace != source {
        let why = format!("its id is one for `{namespace}`, and its source is `{source}`");
        return wrong("source", &why);
    }
    if reference.byte_cap == 0 || reference.token_cap == 0 {
        return wrong("caps", "`byteCap` and `tokenCap` are at least 1");
    }
    Ok(())
}

const SOURCES: [&str; 4] = ["bundled", "mcp", "project", "http"];

/// The word for a source on every wire.
fn word(source: ResourceSource) -> &'static str {
    match source {
        ResourceSource::Bundled => "bundled",
        ResourceSource::Mcp => "mcp",
        ResourceSource::Project => "project",
        ResourceSource::Http => "http",
    }
}

fn unfetched(reference: &ResourceRef, error: FetchError) -> Error {
    let why = match error {
        FetchError::Typed(error) => return error,
        FetchError::Transient(why) => why,
    };
    let code = &codes::RESOURCE_FETCH_FAILED;
    let message = format!("`{}` could not be fetched: {why}", reference.id);
    Error::new(code.class, code.name, message)
        .with("id", reference.id.as_str())
        .with("source", word(reference.source))
        .with("uri", reference.uri.as_str())
}

fn too_large(reference: &ResourceRef, actual: u64) -> Error {
    let code = &codes::RESOURCE_OVER_BYTES_CAP;
    let (id, cap) = (&reference.id, reference.byte_cap);
    let message = format!("`{id}` has {actual} bytes, and at most {cap} may be read");
    Error::new(code.class, code.name, message)
        .with("id", id.as_str())
        .with("byteCap", cap)
        .with("actualBytes", actual)
}

impl From<Error> for FetchError {
    fn from(error: Error) -> Self {
        Self::Typed(error)
    }
}

impl std::fmt::Debug for ResourceRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(lock(&self.0).keys()).finish()
    }
}

#[cfg(test)]
mod tests;
