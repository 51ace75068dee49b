//! The conformance cases bite: for each there is a plugin that fails exactly that one, and good plugins fail none.
//!
//! What the SDK cannot be made to write into a manifest is patched into one afterward.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the plugins are part of their tests"
)]
#![expect(
    clippy::unused_async,
    reason = "handlers may be async without waiting for anything"
)]

#[path = "conformance/broken.rs"]
mod broken;
#[path = "conformance/good.rs"]
mod good;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use stud_conformance::configs::Configs;
use stud_conformance::report::Report;
use stud_conformance::run::run;
use stud_conformance::subject::{self as conforming, Call, Subject};
use stud_sdk::testing::Conforming;
use stud_sdk::{Class, Error, Phase, Plugin, Result};

/// The plugin with another manifest.
fn patched(plugin: Plugin, change: impl FnOnce(&mut Value)) -> Plugin {
    let mut manifest: Value = serde_json::from_slice(&plugin.section[16..]).unwrap();
    change(&mut manifest);
    let text = manifest.to_string().into_bytes();
    let mut section = plugin.section[..8].to_vec();
    section.extend((text.len() as u64).to_le_bytes());
    section.extend(text);
    Plugin {
        section: Vec::leak(section),
        ..plugin
    }
}

fn report(plugin: Plugin, configs: Configs) -> Report {
    run(Arc::new(Conforming::new(plugin)), configs, None)
}

/// The plugin fails this case and no other.
fn fails_only(case: &str, plugin: Plugin) {
    let report = report(plugin, Configs::default());
    assert_eq!(report.failed(), [case], "{}", report.text());
}

/// Cases that a test elsewhere makes fail: they need a process of their own.
const ELSEWHERE: [&str; 2] = ["process.no-threads", "process.silent"];

/// Cases that a plugin built with the SDK cannot fail, because the SDK sees to them.
const WITHOUT_SDK: [&str; 2] = ["lifecycle.dispose-twice", "provider.one-finish"];

/// A plugin as one would see it that was built without the SDK.
struct WithoutSdk(Conforming);

/// One of its instances.
struct Bare {
    inner: Arc<dyn Subject>,
    disposed: AtomicBool,
}

impl conforming::Plugin for WithoutSdk {
    fn manifest(&self) -> Result<Value> {
        conforming::Plugin::manifest(&self.0)
    }

    fn instance(&self, config: &Value) -> Arc<dyn Subject> {
        Arc::new(Bare {
            inner: conforming::Plugin::instance(&self.0, config),
            disposed: AtomicBool::new(false),
        })
    }
}

impl Subject for Bare {
    fn lifecycle(&self, phase: Phase) -> Result<()> {
        if phase == Phase::Dispose && self.disposed.swap(true, Ordering::SeqCst) {
            return Err(Error::new(Class::ExtensionHost, "Gone", "it is gone"));
        }
        self.inner.lifecycle(phase)
    }

    fn call(&self, call: &Call) -> Result<Value> {
        let mut result = self.inner.call(call)?;
        if let (Call::Request(_), Some(events)) = (call, result.as_array_mut()) {
            events.push(json!({"type": "finish", "reason": "stop"}));
        }
        Ok(result)
    }

    fn cancel(&self) {
        self.inner.cancel();
    }

    fn raised(&self) -> Vec<String> {
        self.inner.raised()
    }

    fn answer_too_late(&self) {
        self.inner.answer_too_late();
    }
}

#[test]
fn what_the_sdk_sees_to_is_looked_at_too() {
    let bare = |plugin| {
        run(
            Arc::new(WithoutSdk(Conforming::new(plugin))),
            Configs::default(),
            None,
        )
    };
    let report = bare(good::tool::stud_plugin());
    assert_eq!(
        report.failed(),
        ["lifecycle.dispose-twice"],
        "{}",
        report.text()
    );
    let report = bare(good::provider::stud_plugin());
    assert_eq!(
        report.failed(),
        ["lifecycle.dispose-twice", "provider.one-finish"],
        "{}",
        report.text()
    );
}

macro_rules! broken {
    ($($test:ident $case:literal $plugin:expr;)+) => {
        $(
            #[test]
            fn $test() {
                fails_only($case, $plugin);
            }
        )+

        #[test]
        fn every_case_has_a_plugin_that_fails_it() {
            let mut covered = BTreeSet::from([$($case),+]);
            covered.extend(ELSEWHERE);
            covered.extend(["config.invalid", "config.worst-plausible"]);
            covered.extend(WITHOUT_SDK);
            let all: BTreeSet<&str> = stud_conformance::all().iter().map(|case| case.id).collect();
            assert_eq!(covered, all);
        }
    };
}

broken! {
    shape "manifest.shape" patched(good::tool::stud_plugin(), |manifest| {
        manifest.as_object_mut().unwrap().remove("discoveryRules");
    });
    cardinality "manifest.cardinality" patched(good::tool::stud_plugin(), |manifest| {
        manifest["activeCardinality"] = json!("one");
    });
    described "manifest.described" patched(good::tool::stud_plugin(), |manifest| {
        manifest["description"] = json!(" ");
    });
    rights "manifest.rights" patched(good::tool::stud_plugin(), |manifest| {
        manifest["interactionKinds"] = json!(["Auth.Password"]);
    });
    valid "config.valid" patched(good::tool::stud_plugin(), |manifest| {
        manifest["configSchema"]["properties"] = json!({"word": {"type": "text"}});
    });
    order "lifecycle.order" broken::fails_to_deactivate::stud_plugin();
    reactivates "lifecycle.reactivates" broken::activates_once::stud_plugin();
    independent "lifecycle.independent" broken::is_alone::stud_plugin();
    dispose_in_call "lifecycle.dispose-in-call" broken::ignores_dispose::stud_plugin();
    cancelled "call.cancelled" broken::ignores_cancellation::stud_plugin();
    typed_errors "call.typed-errors" broken::panics::stud_plugin();
    within_rights "call.within-rights" patched(broken::asks::stud_plugin(), |manifest| {
        manifest["interactionKinds"] = json!([]);
    });
    schemas "tool.schemas" patched(good::tool::stud_plugin(), |manifest| {
        manifest["tools"][0]["description"] = json!("");
    });
    refuses_invalid_input "tool.refuses-invalid-input" patched(good::tool::stud_plugin(), |manifest| {
        // The schema promises more than the plugin checks.
        manifest["tools"][0]["inputSchema"]["required"] = json!(["more"]);
        manifest["tools"][0]["inputSchema"]["properties"]["more"] = json!({"type": "string"});
    });
    approval_key_pure "tool.approval-key-pure" broken::counts_keys::stud_plugin();
    approval_key_distinct "tool.approval-key-distinct" broken::has_one_key::stud_plugin();
    command_names "command.names" patched(good::command::stud_plugin(), |manifest| {
        let first = manifest["commands"][0].clone();
        manifest["commands"].as_array_mut().unwrap().push(first);
    });
    in_time "hook.in-time" broken::dawdles::stud_plugin();
    late_answer "ui.late-answer" broken::sulks::stud_plugin();
    deterministic "hook.deterministic" broken::flips::stud_plugin();
    roles "ui.roles" patched(good::ui::stud_plugin(), |manifest| {
        manifest["roles"] = json!(["subscriber", "region"]);
    });
    capabilities "provider.capabilities" patched(good::provider::stud_plugin(), |manifest| {
        manifest["capabilities"].as_object_mut().unwrap().remove("reasoning");
    });
    takes_records "logger.takes-records" broken::refuses_audit::stud_plugin();
    stages "state-machine.stages" patched(good::state_machine::stud_plugin(), |manifest| {
        manifest["stateSlot"] = Value::Null;
    });
    next "state-machine.next" broken::leads_nowhere::stud_plugin();
    round_trip "session-store.round-trip" broken::forgets::stud_plugin();
    unknown_session "session-store.unknown-session" broken::blames_a_tool::stud_plugin();
    fragments "context-provider.fragments" broken::changes_its_mind::stud_plugin();
}

#[test]
fn good_plugins_fail_nothing() {
    for plugin in good::all() {
        let report = report(plugin, Configs::default());
        assert!(report.ok, "{}", report.text());
    }
}

#[test]
fn config_fixtures_are_used() {
    let wrong = Configs {
        valid: Some(json!({"noSuchMember": 1})),
        ..Configs::default()
    };
    assert_eq!(
        report(good::tool::stud_plugin(), wrong).failed(),
        ["config.valid"]
    );
    let wrong = Configs {
        invalid: Some(json!({})),
        ..Configs::default()
    };
    assert_eq!(
        report(good::tool::stud_plugin(), wrong).failed(),
        ["config.invalid"]
    );
    let wrong = Configs {
        worst_plausible: Some(json!({})),
        ..Configs::default()
    };
    assert_eq!(
        report(good::tool::stud_plugin(), wrong).failed(),
        ["config.worst-plausible"]
    );
}
