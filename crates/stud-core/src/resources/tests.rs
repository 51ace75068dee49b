use serde_json::{Value, json};
use stud_diagnostics::Class;

use super::*;
use crate::executor::block_on;

/// Gives what the test says.
struct Driver(std::result::Result<usize, FetchError>);

impl ResourceDriver for Driver {
    fn fetch<'a>(
        &'a self,
        binding: &'a ResourceRef,
    ) -> BoxFuture<'a, std::result::Result<Fetched, FetchError>> {
        Box::pin(async move {
            let bytes = vec![b'x'; self.0.clone()?];
            let mime = format!("text/{}", binding.uri);
            Ok(Fetched { bytes, mime })
        })
    }
}

fn reference(id: &str) -> ResourceRef {
    ResourceRef {
        id: id.to_owned(),
        source: ResourceSource::Mcp,
        uri: "plain".to_owned(),
        byte_cap: 8,
        token_cap: 2,
    }
}

fn bound(id: &str, answer: std::result::Result<usize, FetchError>) -> ResourceRegistry {
    let registry = ResourceRegistry::default();
    bind(&registry, reference(id), answer);
    registry
}

fn bind(
    registry: &ResourceRegistry,
    reference: ResourceRef,
    answer: std::result::Result<usize, FetchError>,
) {
    registry
        .bind(reference, Arc::new(Driver(answer)), Visibility::Everyone)
        .unwrap();
}

fn ids(registry: &ResourceRegistry, viewer: &str, filter: Value) -> Vec<String> {
    let filter = serde_json::from_value(filter).unwrap();
    let listed = registry.list(viewer, &filter).into_iter();
    listed.map(|resource| resource.id).collect()
}

fn full(error: &Error) -> String {
    format!("{}/{}", error.class(), error.code())
}

#[test]
fn a_binding_is_checked_part_by_part() {
    let registry = ResourceRegistry::default();
    let of = |id: &str, source, byte_cap, token_cap| ResourceRef {
        source,
        byte_cap,
        token_cap,
        ..reference(id)
    };
    let (mcp, http) = (ResourceSource::Mcp, ResourceSource::Http);
    for (wrong, reason) in [
        (of("", http, 0, 0), "id"),
        (of("mcp:a\n", mcp, 1, 1), "id"),
        (of("mcp:git:log", http, 0, 0), "source"),
        (of("mcp:git:log", mcp, 0, 1), "caps"),
        (of("mcp:git:log", mcp, 1, 0), "caps"),
    ] {
        let driver = Arc::new(Driver(Ok(1)));
        let error = registry
            .bind(wrong.clone(), driver, Visibility::Everyone)
            .unwrap_err();
        stud_observed::covers!(RESOURCE_BINDING_INVALID, error);
        assert_eq!(
            Value::Object(error.context().clone()),
            json!({"reason": reason, "id": wrong.id})
        );
    }
    assert!(ids(&registry, "any", json!({})).is_empty());
    bind(&registry, of("page", http, 1, 1), Ok(1));
    bind(&registry, of("http://example.test", http, 1, 1), Ok(1));
}

#[test]
fn resources_are_listed_in_byte_order_as_the_filter_says() {
    let registry = ResourceRegistry::default();
    for id in ["mcp:b:log", "mcp:a:log", "mcp:a:tree"] {
        bind(&registry, reference(id), Ok(1));
    }
    let source = ResourceSource::Project;
    bind(
        &registry,
        ResourceRef {
            source,
            ..reference("project:log")
        },
        Ok(1),
    );
    let all = ["mcp:a:log", "mcp:a:tree", "mcp:b:log", "project:log"];
    assert_eq!(ids(&registry, "any", json!({})), all);
    assert_eq!(
        ids(
            &registry,
            "any",
            json!({"source": "mcp", "contains": "log"})
        ),
        ["mcp:a:log", "mcp:b:log"]
    );
}

#[test]
fn content_is_never_trusted() {
    let registry = ResourceRegistry::default();
    let source = ResourceSource::Bundled;
    bind(
        &registry,
        ResourceRef {
            source,
            ..reference("bundled:guide")
        },
        Ok(8),
    );
    let resource = block_on(registry.read("any", "bundled:guide")).unwrap();
    assert_eq!(
        (resource.bytes.len(), resource.mime.as_str()),
        (8, "text/plain")
    );
    assert!(resource.untrusted);
    assert!(
        crate::audit::moment(&resource.fetched_at).is_some(),
        "{}",
        resource.fetched_at
    );
}

#[test]
fn content_over_its_cap_is_refused_whole() {
    let registry = bound("mcp:git:log", Ok(9));
    let error = block_on(registry.read("any", "mcp:git:log")).unwrap_err();
    stud_observed::covers!(RESOURCE_OVER_BYTES_CAP, error);
    assert_eq!(
        Value::Object(error.context().clone()),
        json!({"id": "mcp:git:log", "byteCap": 8, "actualBytes": 9})
    );
}

#[test]
fn a_failure_that_may_pass_says_so() {
    let why = "the connection was closed".to_owned();
    let registry = bound("mcp:git:log", Err(FetchError::Transient(why)));
    let error = block_on(registry.read("any", "mcp:git:log")).unwrap_err();
    stud_observed::covers!(RESOURCE_FETCH_FAILED, error);
    assert_eq!(
        Value::Object(error.context().clone()),
        json!({"id": "mcp:git:log", "source": "mcp", "uri": "plain"})
    );
    assert!(
        error.message().ends_with("the connection was closed"),
        "{error}"
    );
}

#[test]
fn what_a_driver_says_in_a_code_of_its_own_passes() {
    let said = Error::new(Class::Session, "Said", "not trusted");
    let registry = bound("mcp:git:log", Err(said.clone().into()));
    assert_eq!(block_on(registry.read("any", "mcp:git:log")), Err(said));
}

#[test]
fn what_a_plugin_may_not_see_is_not_there() {
    let registry = ResourceRegistry::default();
    let owner = Visibility::Only("notes".to_owned());
    registry
        .bind(reference("mcp:git:log"), Arc::new(Driver(Ok(1))), owner)
        .unwrap();
    assert_eq!(ids(&registry, "notes", json!({})), ["mcp:git:log"]);
    assert!(ids(&registry, "other", json!({})).is_empty());
    assert!(block_on(registry.read("notes", "mcp:git:log")).is_ok());
    for (viewer, id) in [("other", "mcp:git:log"), ("notes", "mcp:git:tree")] {
        let error = block_on(registry.read(viewer, id)).unwrap_err();
        assert_eq!(full(&error), "Validation/ResourceMissing");
        assert_eq!(error.context()["id"], id);
    }
}

#[test]
fn binding_again_replaces_and_a_server_that_is_gone_takes_its_own_along() {
    let registry = bound("mcp:git:log", Ok(1));
    bind(&registry, reference("mcp:git:log"), Ok(2));
    bind(&registry, reference("mcp:github:log"), Ok(1));
    let read = block_on(registry.read("any", "mcp:git:log")).unwrap();
    assert_eq!(read.bytes.len(), 2);
    assert_eq!(registry.withdraw("mcp:git"), 1);
    assert_eq!(ids(&registry, "any", json!({})), ["mcp:github:log"]);
}
