//! The thirteen services, as plugins of every category find them: in each phase of their lives, and the same whether
//! the plugin is a library or embedded.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stud_core::environment::EmbeddedPlugin;
use stud_tests::{Called, Door, World, code_of};

use crate::stage::{deaf, install, ui_as};

/// A plugin of one category, in both forms.
struct Probe {
    package: &'static str,
    folder: &'static str,
    category: &'static str,
    /// Where its category stands in the settings.
    key: &'static str,
    embedded: fn() -> EmbeddedPlugin,
    /// A question it may ask.
    owns: Option<&'static str>,
    /// An event it declares.
    event: &'static str,
}

const PROBES: [Probe; 9] = [
    Probe {
        package: "probe-provider",
        folder: "providers",
        category: "Provider",
        key: "providers",
        embedded: probe_provider::stud_plugin,
        owns: Some("Auth.Password"),
        event: "Probed",
    },
    Probe {
        package: "probe-tool",
        folder: "tools",
        category: "Tool",
        key: "tools",
        embedded: probe_tool::stud_plugin,
        owns: Some("Ask"),
        event: "Probed",
    },
    Probe {
        package: "probe-hook",
        folder: "hooks",
        category: "Hook",
        key: "hooks",
        embedded: probe_hook::stud_plugin,
        owns: None,
        event: "Probed",
    },
    Probe {
        package: "script-ui",
        folder: "ui",
        category: "UI",
        key: "ui",
        embedded: script_ui::stud_plugin,
        owns: None,
        event: "Scripted",
    },
    Probe {
        package: "probe-logger",
        folder: "loggers",
        category: "Logger",
        key: "loggers",
        embedded: probe_logger::stud_plugin,
        owns: None,
        event: "Probed",
    },
    Probe {
        package: "probe-state-machine",
        folder: "state-machines",
        category: "StateMachine",
        key: "stateMachines",
        embedded: probe_state_machine::stud_plugin,
        owns: Some("Confirm"),
        event: "Probed",
    },
    Probe {
        package: "probe-command",
        folder: "commands",
        category: "Command",
        key: "commands",
        embedded: probe_command::stud_plugin,
        owns: Some("Confirm"),
        event: "Probed",
    },
    Probe {
        package: "probe-session-store",
        folder: "session-stores",
        category: "SessionStore",
        key: "sessionStores",
        embedded: probe_session_store::stud_plugin,
        owns: None,
        event: "Probed",
    },
    Probe {
        package: "probe-context-provider",
        folder: "context-providers",
        category: "ContextProvider",
        key: "contextProviders",
        embedded: probe_context_provider::stud_plugin,
        owns: None,
        event: "Probed",
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Library,
    Embedded,
}

/// One call: its name for the table, its name on the wire, and what goes with it.
type Call = (&'static str, &'static str, Value);

/// A call of each operation, and those that mean to be refused.
fn calls(probe: &Probe) -> Vec<Call> {
    let (id, event) = (probe.package, probe.event);
    let question = json!({"kind": probe.owns.unwrap_or("Ask"), "payload": {"prompt": "?"}});
    let unknown = json!({"interactionId": "i", "correlationId": "c", "status": "dismissed"});
    let slot = json!({"of": id, "slotVersion": "1.0.0", "data": {"count": 1}});
    let plain = |name: &'static str, with: Value| (name, name, with);
    vec![
        plain("env.get", json!({"name": "STUD_NO_SUCH_NAME"})),
        plain("env.require", json!({"name": "STUD_NO_SUCH_NAME"})),
        plain("config.readOwn", json!({})),
        plain("config.readGlobal", json!({"key": "securityMode"})),
        (
            "config.readGlobal another key",
            "config.readGlobal",
            json!({"key": "env"}),
        ),
        plain(
            "events.publish",
            json!({"name": event, "payload": {"count": 1}}),
        ),
        (
            "events.publish a core name",
            "events.publish",
            json!({"name": "SessionActive"}),
        ),
        (
            "events.publish another name",
            "events.publish",
            json!({"name": "NoSuchEvent"}),
        ),
        (
            "events.publish another shape",
            "events.publish",
            json!({"name": event, "payload": {"count": "one"}}),
        ),
        plain("audit.record", json!({"class": "Example"})),
        (
            "audit.record of core",
            "audit.record",
            json!({"class": "Approval"}),
        ),
        plain("audit.query", json!({})),
        plain("audit.activeSubagents", json!({})),
        plain("interaction.request", question),
        plain("interaction.respond", unknown),
        plain("cancellation.token", json!({"scope": "session"})),
        (
            "cancellation.token turn",
            "cancellation.token",
            json!({"scope": "turn"}),
        ),
        (
            "cancellation.token tool",
            "cancellation.token",
            json!({"scope": "tool"}),
        ),
        plain("session.read", json!({"limit": 1})),
        (
            "session.append note",
            "session.append",
            json!({"kind": "note", "text": "n"}),
        ),
        (
            "session.append input",
            "session.append",
            json!({"kind": "userInput", "text": "i"}),
        ),
        plain("session.openChild", json!({})),
        plain("slot.write", slot),
        plain("slot.read", json!({"of": id})),
        (
            "slot.read of another",
            "slot.read",
            json!({"of": "another"}),
        ),
        plain("workspace.projectRoot", json!({})),
        plain("workspace.globalRoot", json!({})),
        plain("workspace.correlationId", json!({})),
        plain("workspace.sessionId", json!({})),
        plain("prompt.list", json!({})),
        plain("prompt.read", json!({"id": "bundled:no-such-prompt"})),
        plain("resource.list", json!({})),
        plain("resource.read", json!({"id": "bundled:no-such-resource"})),
        plain("context.contribute", json!({})),
        plain("context.compact", json!({})),
        plain("commands.list", json!({})),
        plain("commands.complete", json!({"input": "/"})),
        plain("commands.dispatch", json!({"name": "no-such-command"})),
        plain("metrics.snapshot", json!({})),
        plain("metrics.subscribe", json!({})),
        plain("metrics.subscribeToTokens", json!({})),
    ]
}

/// What each call came to: `ok`, or the code and the phase.
type Outcomes = BTreeMap<&'static str, String>;

fn outcome(called: &Called) -> String {
    match called {
        Ok(_) => "ok".to_owned(),
        Err(error) => match error["context"]["phase"].as_str() {
            Some(phase) => format!("{} in {phase}", code_of(error)),
            None => code_of(error),
        },
    }
}

/// A plugin's life in one session, call by call.
struct Life {
    init: Outcomes,
    active: Outcomes,
    disposed: Outcomes,
    /// The services that refused after `dispose`.
    services: BTreeMap<&'static str, Value>,
}

fn live(probe: &Probe, form: Form) -> Life {
    let world = World::new();
    let door = Door::listen(&world.path("door"));
    let calls = calls(probe);
    let in_init = calls
        .iter()
        .map(|(_, call, with)| json!({"call": call, "with": with}));
    let config = json!({"door": door.path(), "inInit": in_init.collect::<Vec<_>>()});
    let settings = json!({
        probe.key: {probe.package: config},
        "active": {"sessionStore": "filesystem-session-store"},
    });
    world.write("home/settings.json", settings.to_string());
    let mut bundled = vec![filesystem_session_store::stud_plugin()];
    match form {
        Form::Library => install(&world, probe.package, probe.folder),
        Form::Embedded => bundled.push((probe.embedded)()),
    }
    // A UI answers what the probe asks.
    let answers = json!({"prompts": {"*": {"do": "reject"}}});
    ui_as(&world, "answerer", &answers, deaf);
    let live = world.live(bundled);
    let make = |door: &Door| -> Vec<Called> {
        calls
            .iter()
            .map(|(_, call, with)| door.call(call, with))
            .collect()
    };
    let active = make(&door);
    live.session().close().unwrap();
    let disposed = make(&door);
    let init = door.in_init().remove(0);

    let table = |results: &[Called]| -> Outcomes {
        let names = calls.iter().map(|(name, ..)| *name);
        names.zip(results.iter().map(outcome)).collect()
    };
    let services = calls.iter().zip(&disposed).map(|((name, ..), result)| {
        let service = match result {
            Ok(_) => Value::Null,
            Err(error) => error["context"]["service"].clone(),
        };
        (*name, service)
    });
    Life {
        init: table(&init),
        active: table(&active),
        services: services.collect(),
        disposed: table(&disposed),
    }
}

/// What is refused to every plugin that takes part in a session.
const REFUSED: &[(&str, &str)] = &[
    ("env.require", "Validation/EnvNameNotSet"),
    (
        "config.readGlobal another key",
        "Validation/UnknownConfigKey",
    ),
    ("events.publish a core name", "Validation/EventNameReserved"),
    ("events.publish another name", "Validation/EventUndeclared"),
    (
        "events.publish another shape",
        "Validation/EventPayloadInvalid",
    ),
    ("audit.record of core", "ExtensionHost/AuditClassReserved"),
    ("session.openChild", "Validation/OpenChildForbidden"),
    ("slot.read of another", "ExtensionHost/SlotAccessDenied"),
    ("prompt.read", "Validation/PromptMissing"),
    ("resource.read", "Validation/ResourceMissing"),
];

fn expected_in_a_session(probe: &Probe) -> Outcomes {
    let phase = match probe.category {
        // State machines wait to be attached, and a store that was not chosen is only loaded.
        "StateMachine" | "SessionStore" => "loaded",
        _ => "active",
    };
    let not_ready = format!("ExtensionHost/NotReady in {phase}");
    let mut expected: Outcomes = calls(probe)
        .iter()
        .map(|(name, ..)| (*name, "ok".to_owned()))
        .collect();
    let mut refuse = |name: &'static str, code: &str| expected.insert(name, code.to_owned());
    for (name, code) in REFUSED {
        refuse(name, code);
    }
    refuse("cancellation.token turn", &not_ready);
    refuse("cancellation.token tool", &not_ready);
    if probe.category == "UI" {
        refuse("interaction.respond", "Session/InteractionNotFound");
    } else {
        refuse("interaction.respond", &not_ready);
        refuse("session.append input", "ExtensionHost/UserInputForbidden");
    }
    match (probe.category, probe.owns) {
        (_, None) => refuse("interaction.request", "Validation/InteractionKindForbidden"),
        ("StateMachine", _) => refuse("interaction.request", &not_ready),
        _ => None,
    };
    match probe.category {
        "UI" | "Command" => refuse("commands.dispatch", "Validation/CommandUnknown"),
        _ => refuse(
            "commands.dispatch",
            "ExtensionHost/CommandDispatchForbidden",
        ),
    };
    match probe.category {
        "ContextProvider" => refuse("context.contribute", &not_ready),
        _ => refuse(
            "context.contribute",
            "ExtensionHost/ContextContributionForbidden",
        ),
    };
    match probe.category {
        // No model was asked anything yet.
        "Tool" | "Command" => refuse("context.compact", &not_ready),
        _ => refuse(
            "context.compact",
            "ExtensionHost/ContextContributionForbidden",
        ),
    };
    expected
}

/// What needs a session, or a part in one, and is refused in `init`.
const NOT_IN_INIT: &[&str] = &[
    "events.publish",
    "audit.record",
    "audit.query",
    "audit.activeSubagents",
    "interaction.respond",
    "cancellation.token",
    "cancellation.token turn",
    "session.read",
    "session.append note",
    "slot.write",
    "slot.read",
    "commands.list",
];

/// What works from the start.
const IN_INIT: &[&str] = &[
    "env.get",
    "config.readOwn",
    "config.readGlobal",
    "workspace.projectRoot",
    "workspace.globalRoot",
    "prompt.list",
    "resource.list",
    "metrics.snapshot",
];

/// Lives each life in both forms and holds them to what is promised.
fn holds(category: &str) {
    let probe = PROBES
        .iter()
        .find(|probe| probe.category == category)
        .unwrap();
    let [library, embedded] = [Form::Library, Form::Embedded].map(|form| live(probe, form));
    for (phase, one, other) in [
        ("init", &library.init, &embedded.init),
        ("active", &library.active, &embedded.active),
        ("disposed", &library.disposed, &embedded.disposed),
    ] {
        assert_eq!(one, other, "{category} in {phase}: library and embedded");
    }
    assert_eq!(
        library.active,
        expected_in_a_session(probe),
        "{category} in a session"
    );
    for name in NOT_IN_INIT {
        let said = &library.init[name];
        assert_eq!(said, "ExtensionHost/NotReady in init", "{category} {name}");
    }
    for name in IN_INIT {
        assert_eq!(library.init[name], "ok", "{category} {name} in init");
    }
    for (name, said) in &library.disposed {
        assert_eq!(
            said, "ExtensionHost/NotReady in disposed",
            "{category} {name}"
        );
        let service = name.split(['.', ' ']).next().unwrap();
        let service = if service == "slot" {
            "session"
        } else {
            service
        };
        assert_eq!(library.services[name], service, "{category} {name}");
    }
}

#[test]
fn a_provider_finds_what_it_may_use() {
    holds("Provider");
}

#[test]
fn a_tool_finds_what_it_may_use() {
    holds("Tool");
}

#[test]
fn a_hook_finds_what_it_may_use() {
    holds("Hook");
}

#[test]
fn a_ui_finds_what_it_may_use() {
    holds("UI");
}

#[test]
fn a_logger_finds_what_it_may_use() {
    holds("Logger");
}

#[test]
fn a_state_machine_finds_what_it_may_use() {
    holds("StateMachine");
}

#[test]
fn a_command_finds_what_it_may_use() {
    holds("Command");
}

#[test]
fn a_session_store_finds_what_it_may_use() {
    holds("SessionStore");
}

#[test]
fn a_context_provider_finds_what_it_may_use() {
    holds("ContextProvider");
}
