//! Every case. `cases.txt` is the same list for people; the test below compares the two.

mod manifest;
mod config;
mod calls;
mod life;
mod tool;
mod command;
mod hook;
mod ui;
mod provider;
mod logger;
mod state_machine;
mod session_store;
mod context_provider;

use stud_contract_meta::Kind;

use crate::case::{Case, Context, Verdict};

/// The day on which the first cases were published.
const FIRST: &str = "2026-11-19";

const fn every(id: &'static str, rule: &'static str, check: fn(&Context) -> Verdict) -> Case {
    Case {
        id,
        since: FIRST,
        kind: None,
        rule,
        check,
    }
}

const fn of(
    kind: Kind,
    id: &'static str,
    rule: &'static str,
    check: fn(&Context) -> Verdict,
) -> Case {
    Case {
        id,
        since: FIRST,
        kind: Some(kind),
        rule,
        check,
    }
}

/// Every case, in the order in which they run.
pub fn all() -> &'static [Case] {
    &CASES
}

static CASES: [Case; 34] = [
    every(
        "manifest.shape",
        "the ten fields of every contract are there and have their types",
        manifest::shape,
    ),
    every(
        "manifest.cardinality",
        "both cardinalities are those of the category",
        manifest::cardinality,
    ),
    every(
        "manifest.described",
        "the id, the version and the description say something",
        manifest::described,
    ),
    every(
        "manifest.rights",
        "every declared interaction kind is one the category may raise",
        manifest::rights,
    ),
    every(
        "config.valid",
        "the valid config is accepted",
        config::valid,
    ),
    every(
        "config.invalid",
        "the invalid config is refused, and the refusal names a place",
        config::invalid,
    ),
    every(
        "config.worst-plausible",
        "the hostile config is refused, and nothing breaks",
        config::worst_plausible,
    ),
    every(
        "lifecycle.order",
        "`init`, `activate`, `deactivate` and `dispose` succeed in this order",
        life::order,
    ),
    every(
        "lifecycle.dispose-twice",
        "a second `dispose` succeeds",
        life::dispose_twice,
    ),
    every(
        "lifecycle.reactivates",
        "`activate` succeeds again after `deactivate`",
        life::reactivates,
    ),
    every(
        "lifecycle.independent",
        "two instances run side by side",
        life::independent,
    ),
    every(
        "lifecycle.dispose-in-call",
        "`dispose` during a call neither hangs nor panics",
        life::dispose_in_call,
    ),
    every(
        "call.cancelled",
        "a call returns after it was cancelled",
        calls::cancelled,
    ),
    every(
        "call.typed-errors",
        "a call that fails has a class and a code, and does not panic",
        calls::typed_errors,
    ),
    every(
        "call.within-rights",
        "a call raises only interaction kinds that the manifest declares",
        calls::within_rights,
    ),
    of(
        Kind::Tool,
        "tool.schemas",
        "tool names are unique, and their schemas compile and describe objects",
        tool::schemas,
    ),
    of(
        Kind::Tool,
        "tool.refuses-invalid-input",
        "input outside the schema is an error, not a result",
        tool::refuses_invalid_input,
    ),
    of(
        Kind::Tool,
        "tool.approval-key-pure",
        "equal arguments have equal approval keys",
        tool::approval_key_pure,
    ),
    of(
        Kind::Tool,
        "tool.approval-key-distinct",
        "different arguments of a gated tool have different approval keys, unless the key is the name of the tool",
        tool::approval_key_distinct,
    ),
    of(
        Kind::Command,
        "command.names",
        "command names are valid, unique and described",
        command::names,
    ),
    of(
        Kind::Hook,
        "hook.deterministic",
        "equal payloads have equal results",
        hook::deterministic,
    ),
    of(
        Kind::Hook,
        "hook.in-time",
        "a hook returns within three seconds",
        hook::in_time,
    ),
    of(
        Kind::Ui,
        "ui.roles",
        "every role has its handler",
        ui::roles,
    ),
    of(
        Kind::Ui,
        "ui.late-answer",
        "an answer that comes too late breaks nothing",
        ui::late_answer,
    ),
    of(
        Kind::Provider,
        "provider.capabilities",
        "all seven capabilities are claimed",
        provider::capabilities,
    ),
    of(
        Kind::Provider,
        "provider.one-finish",
        "an answer ends with exactly one finish",
        provider::one_finish,
    ),
    of(
        Kind::Logger,
        "logger.takes-records",
        "a record of every kind is taken",
        logger::takes_records,
    ),
    of(
        Kind::StateMachine,
        "state-machine.stages",
        "stage ids are unique, the entry stage exists, and state is kept",
        state_machine::stages,
    ),
    of(
        Kind::StateMachine,
        "state-machine.next",
        "what follows a stage is a declared stage",
        state_machine::next,
    ),
    of(
        Kind::SessionStore,
        "session-store.round-trip",
        "what was written is read, and listed",
        session_store::round_trip,
    ),
    of(
        Kind::SessionStore,
        "session-store.unknown-session",
        "an unknown session is an error of the class Session",
        session_store::unknown_session,
    ),
    of(
        Kind::ContextProvider,
        "context-provider.fragments",
        "fragments have a kind and a budget, and the same is said twice",
        context_provider::fragments,
    ),
    every(
        "process.no-threads",
        "no thread of the plugin outlives `dispose`",
        life::no_threads,
    ),
    every(
        "process.silent",
        "the plugin writes nothing to the terminal",
        life::silent,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_the_published_one() {
        let lines = all().iter().map(|case| {
            let kind = case.kind.map_or("every category", Kind::as_str);
            format!("{:<32} {}  {kind:<16} {}\n", case.id, case.since, case.rule)
        });
        let listed: String = lines.collect();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/cases.txt");
        #[expect(
            clippy::disallowed_methods,
            reason = "a test is told to write the list"
        )]
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, &listed).unwrap();
        }
        let published = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(
            listed, published,
            "`UPDATE=1` writes {path}; a case that was published stays"
        );
    }

    #[test]
    fn every_case_is_explained() {
        let page = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/author/conformance.md"
        );
        let page = std::fs::read_to_string(page).unwrap();
        for case in all() {
            assert!(
                page.contains(&format!("### {}\n", case.id)),
                "{} has no heading",
                case.id
            );
        }
    }
}
