use serde_json::{Value, json};
use stud_diagnostics::Class;

use super::*;
use crate::executor::block_on;

fn entry(id: &str, source: PromptSource) -> PromptEntry {
    PromptEntry {
        id: id.to_owned(),
        source,
        body: "Be brief.".into(),
        ..PromptEntry::default()
    }
}

fn registry(ids: &[(&str, PromptSource)]) -> PromptRegistry {
    let registry = PromptRegistry::default();
    for (id, source) in ids {
        registry.register(entry(id, *source)).unwrap();
    }
    registry
}

fn ids(registry: &PromptRegistry, viewer: &str, filter: Value) -> Vec<String> {
    let filter = serde_json::from_value(filter).unwrap();
    let listed = registry.list(viewer, &filter).into_iter();
    listed.map(|prompt| prompt.id).collect()
}

fn full(error: &Error) -> String {
    format!("{}/{}", error.class(), error.code())
}

#[test]
fn an_id_says_where_its_prompt_comes_from() {
    for (text, source, owner, name) in [
        ("bundled:review", PromptSource::Bundled, None, "review"),
        ("bundled:a/b:c", PromptSource::Bundled, None, "a/b:c"),
        (
            "mcp:git:log: all",
            PromptSource::Mcp,
            Some("git"),
            "log: all",
        ),
        ("cp:notes:style", PromptSource::Cp, Some("notes"), "style"),
        ("prompt://bundled/a/b", PromptSource::Bundled, None, "a/b"),
        (
            "prompt://mcp/git/a/b",
            PromptSource::Mcp,
            Some("git"),
            "a/b",
        ),
        (
            "prompt://cp/notes/style",
            PromptSource::Cp,
            Some("notes"),
            "style",
        ),
    ] {
        let id = PromptId::parse(text).unwrap();
        assert_eq!(
            (id.source(), id.owner(), id.name()),
            (source, owner, name),
            "{text}"
        );
    }
    assert_eq!(
        PromptId::parse("prompt://mcp/git/log").unwrap().as_str(),
        "mcp:git:log"
    );
}

#[test]
fn text_that_is_no_id_is_refused() {
    let registry = PromptRegistry::default();
    for text in [
        "",
        "review",
        "bundled",
        "bundled:",
        "bundled/review",
        "mcp:review",
        "mcp::review",
        "mcp:git:",
        "cp:Not An Id:x",
        "other:git:x",
        "MCP:git:x",
        "bundled:a\nb",
        "prompt://bundled/",
        "prompt://mcp/a:b/c",
        "prompt:bundled/a",
    ] {
        let registered = registry
            .register(entry(text, PromptSource::Bundled))
            .unwrap_err();
        let read = block_on(registry.read("any", text)).unwrap_err();
        for error in [registered, read] {
            assert_eq!(full(&error), "Validation/PromptUriMalformed", "{text:?}");
            assert_eq!(error.context()["id"], text);
            assert!(!error.message().contains(char::is_control), "{text:?}");
        }
    }
}

#[test]
fn an_id_and_a_source_that_disagree_are_refused() {
    let registry = PromptRegistry::default();
    let error = registry
        .register(entry("bundled:review", PromptSource::Mcp))
        .unwrap_err();
    stud_observed::covers!(PROMPT_SOURCE_MISMATCH, error);
    assert_eq!(
        Value::Object(error.context().clone()),
        json!({"id": "bundled:review", "source": "mcp", "expected": "bundled"})
    );
    assert!(ids(&registry, "any", json!({})).is_empty());
}

#[test]
fn text_from_a_server_is_never_trusted_and_studs_own_always_is() {
    let registry = PromptRegistry::default();
    for (id, source, said, is) in [
        ("mcp:git:log", PromptSource::Mcp, false, true),
        ("bundled:review", PromptSource::Bundled, true, false),
        ("cp:notes:a", PromptSource::Cp, true, true),
        ("cp:notes:b", PromptSource::Cp, false, false),
    ] {
        let untrusted = said;
        registry
            .register(PromptEntry {
                untrusted,
                ..entry(id, source)
            })
            .unwrap();
        let prompt = block_on(registry.read("any", id)).unwrap();
        assert_eq!((prompt.untrusted, prompt.source), (is, source), "{id}");
        let listed = registry.list("any", &PromptFilter::default());
        assert_eq!(
            listed
                .iter()
                .find(|prompt| prompt.id == id)
                .unwrap()
                .untrusted,
            is,
            "{id}"
        );
    }
}

#[test]
fn prompts_are_listed_in_byte_order_as_the_filter_says() {
    let registry = registry(&[
        ("mcp:github:log", PromptSource::Mcp),
        ("mcp:git:log", PromptSource::Mcp),
        ("prompt://bundled/review", PromptSource::Bundled),
        ("cp:notes:Log", PromptSource::Cp),
    ]);
    let all = [
        "bundled:review",
        "cp:notes:Log",
        "mcp:git:log",
        "mcp:github:log",
    ];
    assert_eq!(ids(&registry, "any", json!({})), all);
    assert_eq!(
        ids(&registry, "any", json!({"namespace": "mcp:git"})),
        ["mcp:git:log"]
    );
    assert_eq!(
        ids(&registry, "any", json!({"contains": "log"})),
        ["mcp:git:log", "mcp:github:log"]
    );
}

#[test]
fn registering_again_replaces() {
    let registry = registry(&[("bundled:review", PromptSource::Bundled)]);
    let body = "At length.".into();
    let again = PromptEntry {
        body,
        ..entry("prompt://bundled/review", PromptSource::Bundled)
    };
    registry.register(again).unwrap();
    assert_eq!(ids(&registry, "any", json!({})), ["bundled:review"]);
    assert_eq!(
        block_on(registry.read("any", "bundled:review"))
            .unwrap()
            .body,
        "At length."
    );
}

#[test]
fn what_a_plugin_may_not_see_is_not_there() {
    let registry = PromptRegistry::default();
    let audience = Visibility::Only("notes".to_owned());
    registry
        .register(PromptEntry {
            audience,
            ..entry("cp:notes:a", PromptSource::Cp)
        })
        .unwrap();
    assert_eq!(ids(&registry, "notes", json!({})), ["cp:notes:a"]);
    assert!(ids(&registry, "other", json!({})).is_empty());
    assert!(block_on(registry.read("notes", "cp:notes:a")).is_ok());
    for (viewer, id) in [("other", "cp:notes:a"), ("notes", "cp:notes:b")] {
        let error = block_on(registry.read(viewer, id)).unwrap_err();
        assert_eq!(full(&error), "Validation/PromptMissing");
        assert_eq!(error.context()["id"], id);
    }
}

#[test]
fn a_server_that_is_gone_takes_its_prompts_along() {
    let registry = registry(&[
        ("mcp:git:a", PromptSource::Mcp),
        ("mcp:git:b", PromptSource::Mcp),
        ("mcp:github:a", PromptSource::Mcp),
    ]);
    assert_eq!(registry.withdraw("mcp:git"), 2);
    assert_eq!(registry.withdraw("mcp:git"), 0);
    assert_eq!(ids(&registry, "any", json!({})), ["mcp:github:a"]);
}

struct Server(Result<String>);

impl PromptDriver for Server {
    fn fetch<'a>(&'a self, id: &'a PromptId) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move { self.0.clone().map(|text| format!("{text} {}", id.name())) })
    }
}

fn served(answer: Result<String>) -> Result<Prompt> {
    let registry = PromptRegistry::default();
    let body = PromptBody::Fetched(Arc::new(Server(answer)));
    registry
        .register(PromptEntry {
            body,
            ..entry("mcp:git:log", PromptSource::Mcp)
        })
        .unwrap();
    block_on(registry.read("any", "mcp:git:log"))
}

#[test]
fn text_is_fetched_when_it_is_read() {
    let prompt = served(Ok("Read the".to_owned())).unwrap();
    assert_eq!(
        (prompt.body.as_str(), prompt.untrusted),
        ("Read the log", true)
    );
}

#[test]
fn a_source_that_gives_nothing_has_no_such_prompt_unless_the_session_forbids_it() {
    let failed = |class| Error::new(class, "Said", "no");
    let error = served(Err(failed(Class::ProviderTransient))).unwrap_err();
    assert_eq!(full(&error), "Validation/PromptMissing");
    assert_eq!(
        error.context()["cause"],
        json!(["ProviderTransient", "Said"].join("/"))
    );
    let error = served(Err(failed(Class::Session))).unwrap_err();
    assert_eq!(error, failed(Class::Session));
}
