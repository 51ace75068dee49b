use std::sync::Arc;

use serde_json::{Map, Value, json};
use stud_contract_meta::{
    AbiDeclaration, DiscoveryRules, ExtId, Kind, Manifest, Phase, ReloadBehavior, SemVer,
};

use super::*;
use crate::identity::Life;

fn plugin(id: &str, scope: Scope, kind: Kind, members: Value) -> Identity {
    let ext_id = ExtId::parse(id).unwrap();
    let (loaded_cardinality, active_cardinality) = kind.cardinality();
    let manifest = Manifest {
        ext_id: ext_id.clone(),
        name: format!("The {id}"),
        version: SemVer::new(3, 2, 1),
        description: String::new(),
        kind,
        contract_version: "1.0.0".to_owned(),
        required_core_version: "*".to_owned(),
        lifecycle: Vec::new(),
        config_schema: json!({}),
        loaded_cardinality,
        active_cardinality,
        state_slot: None,
        discovery_rules: DiscoveryRules {
            folder: kind.folder().to_owned(),
            manifest_key: id.to_owned(),
            ordering_subsystem: None,
            default_activation: None,
        },
        reload_behavior: ReloadBehavior::BetweenTurns,
        handlers: Vec::new(),
        interaction_kinds: Vec::new(),
        interaction_protocol: None,
        events: Vec::new(),
        provides: Vec::new(),
        depends_on: Vec::new(),
        conflicts_with: Vec::new(),
        model_needs: Vec::new(),
        entry: String::new(),
        sdk_version: String::new(),
        rustc_version: String::new(),
        target: String::new(),
        panic_strategy: "unwind".to_owned(),
        abi: AbiDeclaration {
            version: String::new(),
            fingerprint: String::new(),
        },
        document: json!({"extId": id}),
    };
    let members = match kind {
        Kind::Provider => Members::Provider(serde_json::from_value(members).unwrap()),
        Kind::Tool => Members::Tool(serde_json::from_value(members).unwrap()),
        Kind::Hook => Members::Hook(serde_json::from_value(members).unwrap()),
        Kind::Ui => Members::Ui(serde_json::from_value(members).unwrap()),
        _ => Members::ContextProvider,
    };
    Identity {
        ext_id,
        kind,
        scope,
        path: None,
        generation: 1,
        manifest: Arc::new(manifest),
        members: Arc::new(members),
        config: json!({}),
        core_config: Map::new(),
        life: Life::default(),
    }
}

fn tools(id: &str, scope: Scope, names: &[(&str, bool)]) -> Identity {
    let tools: Vec<Value> = names
        .iter()
        .map(|(name, gated)| {
            json!({
                "name": name, "description": format!("From {id}."), "inputSchema": {}, "executor": "local",
                "gated": gated,
            })
        })
        .collect();
    plugin(id, scope, Kind::Tool, json!({ "tools": tools }))
}

fn hook_at(id: &str, scope: Scope, slot: &str, sub_kind: &str) -> Identity {
    let members = json!({"registration": {"slot": slot, "subKind": sub_kind}});
    plugin(id, scope, Kind::Hook, members)
}

fn capabilities(reasoning: &str, window: Value) -> Value {
    json!({
        "streaming": "hard", "toolCalling": "preferred", "structuredOutput": "absent", "multimodal": "absent",
        "reasoning": reasoning, "promptCaching": "absent", "contextWindow": window,
    })
}

fn roster(plugins: &[Identity]) -> Roster {
    Roster::of(plugins.iter(), |_, tool| !tool.gated)
}

fn shape(items: &impl serde::Serialize) -> Value {
    serde_json::to_value(items).unwrap()
}

#[test]
fn plugins_are_listed_as_they_came_up() {
    let running = plugin("b", Scope::Project, Kind::ContextProvider, Value::Null);
    running.life.passed(Phase::Activate);
    let ready = plugin("a", Scope::Bundled, Kind::ContextProvider, Value::Null);
    ready.life.passed(Phase::Init);
    assert_eq!(
        shape(&roster(&[running, ready]).extensions),
        json!([
            {"id": "b", "kind": "ContextProvider", "contractVersion": "1.0.0", "source": "project", "active": true},
            {"id": "a", "kind": "ContextProvider", "contractVersion": "1.0.0", "source": "bundled", "active": false},
        ]),
    );
}

#[test]
fn tools_are_listed_by_name_from_the_nearest_scope() {
    let plugins = [
        tools("theirs", Scope::Project, &[("read", true)]),
        tools("files", Scope::Bundled, &[("read", false), ("edit", true)]),
        tools("net", Scope::Global, &[("fetch", false)]),
    ];
    let none = json!({"total": 0, "succeeded": 0, "failed": 0});
    assert_eq!(
        shape(&roster(&plugins).tools),
        json!([
            {
                "id": "edit", "name": "edit", "description": "From files.", "source": "bundled",
                "sensitivity": "guarded", "allowedNow": false, "invocations": none,
            },
            {
                "id": "fetch", "name": "fetch", "description": "From net.", "source": "global",
                "sensitivity": "safe", "allowedNow": true, "invocations": none,
            },
            {
                "id": "read", "name": "read", "description": "From theirs.", "source": "project",
                "sensitivity": "guarded", "allowedNow": false, "invocations": none,
            },
        ]),
    );
}

#[test]
fn every_model_of_a_provider_is_one_that_could_be_used() {
    let several = json!({
        "protocol": "x",
        "capabilities": capabilities("absent", json!("probed")),
        "models": [
            {"modelId": "large", "capabilities": capabilities("hard", json!(8000))},
            {"modelId": "small", "capabilities": capabilities("probed", json!("probed"))},
        ],
    });
    let none = json!({"protocol": "x", "capabilities": capabilities("preferred", json!(100))});
    let plugins = [
        plugin("several", Scope::Global, Kind::Provider, several),
        plugin("none", Scope::Bundled, Kind::Provider, none),
    ];
    let can = |thinking| json!({"streaming": true, "toolCalling": true, "thinking": thinking});
    let with_window = |thinking, window: u64| {
        let mut can = can(thinking);
        can["contextWindow"] = window.into();
        can
    };
    assert_eq!(
        shape(&roster(&plugins).providers),
        json!([
            {"id": "none", "label": "The none", "modelId": "unknown", "capabilities": with_window(true, 100)},
            {"id": "several", "label": "The several", "modelId": "large", "capabilities": with_window(true, 8000)},
            {"id": "several", "label": "The several", "modelId": "small", "capabilities": can(false)},
        ]),
    );
}

#[test]
fn only_a_region_draws_somewhere() {
    let regions = json!([
        {"id": "time", "region": "statusLine", "mode": "append", "priority": 1.5, "targetUI": "default-tui"},
    ]);
    let drawing = |id| {
        let members = json!({"roles": ["subscriber", "region"], "regions": regions});
        plugin(id, Scope::Global, Kind::Ui, members)
    };
    let mut sent_elsewhere = drawing("elsewhere");
    sent_elsewhere.config = json!({"targetUI": "other-tui"});
    let asking = plugin(
        "ask",
        Scope::Bundled,
        Kind::Ui,
        json!({"roles": ["interactor"]}),
    );
    asking.life.passed(Phase::Activate);
    let contributions =
        json!([{"region": "statusLine", "mode": "append", "priority": 1.5, "id": "time"}]);
    assert_eq!(
        shape(&roster(&[sent_elsewhere, drawing("clock"), asking]).uis),
        json!([
            {"id": "ask", "roles": ["interactor"], "active": true},
            {
                "id": "clock", "roles": ["subscriber", "region"], "targetUI": "default-tui",
                "regionContributions": contributions, "active": false,
            },
            {
                "id": "elsewhere", "roles": ["subscriber", "region"], "targetUI": "other-tui",
                "regionContributions": contributions, "active": false,
            },
        ]),
    );
}

#[test]
fn hooks_are_listed_as_they_fire() {
    let plugins = [
        hook_at("late", Scope::Bundled, "RENDER/post", "observer"),
        hook_at("b", Scope::Project, "TOOL_CALL/pre", "guard"),
        hook_at("z", Scope::Bundled, "TOOL_CALL/pre", "transform"),
        hook_at("a", Scope::Project, "TOOL_CALL/pre", "guard"),
    ];
    assert_eq!(
        shape(&roster(&plugins).hooks),
        json!([
            {"id": "z", "stage": "TOOL_CALL", "point": "pre", "kind": "transform"},
            {"id": "a", "stage": "TOOL_CALL", "point": "pre", "kind": "guard"},
            {"id": "b", "stage": "TOOL_CALL", "point": "pre", "kind": "guard"},
            {"id": "late", "stage": "RENDER", "point": "post", "kind": "observer"},
        ]),
    );
}

#[test]
fn an_empty_registry_gives_an_empty_roster() {
    let roster = Roster::of_registry(&Registry::default(), |_, _| true);
    assert_eq!(roster, Roster::default());
}
