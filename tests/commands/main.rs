//! Commands of a real library, in a session.
#![forbid(unsafe_code)]
#![cfg(test)]

use serde_json::json;
use stud_contract_meta::Result;
use stud_core::executor::block_on;
use stud_core::launch::{Launch, Launched, launch};
use stud_core::limits::Limits;
use stud_core::startup::prepare;
use stud_host_api::audit::AuditQuery;
use stud_host_api::commands::{CommandArgs, CommandResult};
use stud_tests::{Core, Elf, World, fixture};

fn begin(core: &Core) -> Launched {
    let how = Launch {
        headless: true,
        ..Launch::default()
    };
    launch(
        &core.ground,
        &prepare(&core.ground, &Limits::default()),
        &how,
    )
    .unwrap()
}

/// A session with `/greet`, which its owner also calls `/hi`.
fn greeting(world: &World) -> Launched {
    let folder = "home/commands/good-command";
    let library = Elf::read(&fixture("good-command")).bytes;
    world.write(format!("{folder}/libgood_command.so"), library);
    world.write(format!("{folder}/config.json"), r#"{"alias": ["hi"]}"#);
    begin(&world.core(vec![]))
}

fn shown(result: Result<CommandResult>) -> String {
    match result.unwrap() {
        CommandResult::Done { rendered, .. } => rendered,
        CommandResult::Blocked { reason } => format!("blocked: {reason}"),
    }
}

#[test]
fn a_library_gives_a_command_to_a_session() {
    let world = World::new();
    let launched = greeting(&world);
    let session = &launched.session;

    assert_eq!(
        serde_json::to_value(session.list_commands()).unwrap(),
        json!([{
            "name": "greet",
            "aliases": ["hi"],
            "description": "Greets someone by name.",
            "argumentHint": "[name]",
            "source": "good-command",
            "turnSafe": true,
        }])
    );
    let completed = session.complete_command("/gr", 3);
    assert_eq!(completed.len(), 1);
    assert_eq!(completed[0].replacement, "/greet ");
    assert!(
        session.complete_command("/greet A", 8).is_empty(),
        "it has nothing to suggest"
    );

    let run =
        |name: &str, args: &str| block_on(session.dispatch_command("test", name, args.into()));
    assert_eq!(shown(run("greet", "Ada")), "Hello Ada");
    assert_eq!(shown(run("hi", "")), "Hello everyone");
    let line = block_on(session.dispatch_line("test", "/greet --name=Ada"));
    assert_eq!(shown(line), "Hello Ada");
    let members = json!({"name": 7}).as_object().unwrap().clone();
    let wrong = session.dispatch_command("test", "greet", CommandArgs::Parsed(members));
    let wrong = block_on(wrong).unwrap_err();
    assert_eq!(
        (wrong.class(), wrong.code()),
        ("ToolTerminal", "InputInvalid")
    );
    assert_eq!(wrong.context()["fieldPath"], "/name");
    assert_eq!(run("gret", "").unwrap_err().context()["nearest"], "greet");

    let query = AuditQuery {
        class: Some("Command".to_owned()),
        kind: Some("CommandResulted".to_owned()),
        ..AuditQuery::default()
    };
    let records = session.trail().unwrap().query(&query).unwrap();
    let statuses: Vec<_> = records
        .iter()
        .map(|record| &record.payload["status"])
        .collect();
    assert_eq!(statuses, ["done", "done", "done", "failed"]);

    session.close().unwrap();
    assert!(session.list_commands().is_empty(), "its plugin is gone");
    assert_eq!(run("greet", "Ada").unwrap_err().code(), "SessionCancelled");
}

#[test]
fn the_host_of_a_plugin_in_a_session_has_commands_and_prompts() {
    for (call, argument, cause) in [
        ("commands.list", "", None),
        (
            "commands.dispatch",
            "greet",
            Some("ExtensionHost/CommandDispatchForbidden"),
        ),
        (
            "prompt.read",
            "greeting",
            Some("Validation/PromptUriMalformed"),
        ),
        (
            "prompt.read",
            "bundled:greeting",
            Some("Validation/PromptMissing"),
        ),
        (
            "resource.read",
            "mcp:git:log",
            Some("Validation/ResourceMissing"),
        ),
    ] {
        let world = World::new();
        let folder = "home/tools/host-probe";
        let library = Elf::read(&fixture("host-probe")).bytes;
        world.write(format!("{folder}/libhost_probe.so"), library);
        let config = json!({"call": call, "argument": argument});
        world.write(format!("{folder}/config.json"), config.to_string());
        let launched = begin(&world.core(vec![]));
        let mut problems = launched
            .reports
            .iter()
            .flat_map(|report| &report.diagnostics);
        let found = problems.find_map(|problem| problem.context.get("cause")?.as_str());
        assert_eq!(found, cause, "{call}({argument})");
        launched.session.close().unwrap();
    }
}
