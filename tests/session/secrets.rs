//! Secrets: returned to the asker, and recorded nowhere.

use std::path::Path;

use serde_json::{Value, json};
use stud_core::executor::block_on;
use stud_tests::{World, cause_of, code_of, eventually};

use crate::stage::{Ear, install, mute, probe, ui, ui_as};

const SECRET: &str = "correct-horse-battery-staple";

/// Every file below a folder that holds the text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// A world in which everything that keeps anything is there: a store, a log, an audit trail.
fn bundled() -> Vec<stud_core::environment::EmbeddedPlugin> {
    vec![
        echo::stud_plugin(),
        file_logger::stud_plugin(),
        filesystem_session_store::stud_plugin(),
    ]
}

#[test]
fn a_password_reaches_the_asker_and_nobody_else() {
    let world = World::new();
    let give = json!({"do": "accept", "value": {"secret": SECRET}, "until": world.path("go")});
    let respond = json!({"do": "respondLate", "value": {"secret": SECRET}});
    let one = ui(&world, "one", &json!({"prompts": {"Auth.Password": give}}));
    let two = ui(
        &world,
        "two",
        &json!({"prompts": {"Auth.Password": respond}}),
    );
    let live = world.live(bundled());
    let ear = Ear::of(&live);

    let talking = live.say("!auth the example account");
    let request = one.saw("Auth.Password");
    two.saw("Auth.Password");
    assert_eq!(request["payload"], json!({"prompt": "the example account"}));
    world.write("go", "");
    let answered = talking.answered();
    assert_eq!(answered.text, format!("AUTH {}", SECRET.len()));
    let event = ear.named("InteractionAnswered");
    assert_eq!(
        event["payload"],
        json!({
            "interactionId": request["interactionId"],
            "correlationId": request["correlationId"],
            "status": "accepted",
            "extId": "one",
        })
    );
    two.line("what the host said", |line| {
        line["call"] == "interaction.respond"
    });
    live.session().close().unwrap();

    // The test itself finds what it looks for: the question is where the secret is not.
    let home = world.home();
    assert!(!files_with(&home, "the example account").is_empty());
    assert_eq!(files_with(&home, SECRET), Vec::<String>::new());
    assert_eq!(files_with(&world.project(), SECRET), Vec::<String>::new());
    for log in ["one.log", "two.log"] {
        let text = std::fs::read_to_string(world.path(log)).unwrap();
        assert!(!text.contains(SECRET), "{log}");
    }
    let events = serde_json::to_string(&ear.all()).unwrap();
    assert!(!events.contains(SECRET));
}

#[test]
fn a_secret_of_the_wrong_shape_is_quoted_nowhere() {
    let world = World::new();
    let wrong = json!({"do": "accept", "value": {"secret": {"text": SECRET}}});
    let wrong_again = json!({"do": "respond", "value": SECRET});
    let right = json!({"do": "accept", "value": {"completed": true}});
    let rules = json!({"prompts": {"Auth.Password": [wrong, wrong_again, right]}});
    let one = ui(&world, "one", &rules);
    let provider = probe(&world, "probe-provider", "providers");
    let live = world.live(bundled());
    let ask = json!({"kind": "Auth.Password", "payload": {"prompt": "the example account"}});

    // The second rule answers nothing, so it is the second question that the third one answers.
    let asked = provider.start("interaction.request", &ask);
    let said = one.line("what the host said", |line| {
        line["call"] == "interaction.respond"
    });
    assert!(
        said["error"]["code"] == "InteractionPayloadMismatch",
        "{said}"
    );
    one.heard("SuppressedError");
    live.session().close().unwrap();
    assert!(asked.result().is_err());
    assert_eq!(files_with(&world.home(), SECRET), Vec::<String>::new());
    let text = std::fs::read_to_string(world.path("one.log")).unwrap();
    assert!(!text.contains(SECRET), "{text}");
}

#[test]
fn what_the_environment_gave_is_written_down_nowhere() {
    let world = World::new();
    let settings = json!({"env": {"EXAMPLE_TOKEN": SECRET}});
    world.write("home/settings.json", settings.to_string());
    let one = ui(&world, "one", &json!({}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(bundled());
    let value = tool
        .call("env.get", &json!({"name": "EXAMPLE_TOKEN"}))
        .unwrap();
    assert_eq!(value, SECRET);
    let unset = tool
        .call("env.require", &json!({"name": "NO_SUCH_TOKEN"}))
        .unwrap_err();
    let facts = json!({"name": "NO_SUCH_TOKEN", "extId": "probe-tool"});
    assert_eq!(unset["context"], facts);

    // A plugin that gives away what it was given is stopped at each way out.
    let note = json!({"kind": "note", "text": format!("the token is {SECRET}")});
    tool.call("session.append", &note).unwrap();
    let record = json!({"class": "Example", "payload": {"token": SECRET}});
    tool.call("audit.record", &record).unwrap();
    let event = json!({"name": "Scripted", "payload": {"count": 1, "text": SECRET}});
    one.door.call("events.publish", &event).unwrap();
    assert_eq!(one.heard("Scripted")["payload"]["text"], "[REDACTED]");
    let slot = json!({"of": "probe-tool", "slotVersion": "1.0.0", "data": {"count": SECRET}});
    let refused = tool.call("slot.write", &slot).unwrap_err();
    assert_eq!(refused["code"], "SecretLeak");
    assert_ne!(refused["message"], Value::Null);
    assert_eq!(refused["context"]["paths"], json!(["/count"]));
    // An input that waits when the session ends is kept for the next time.
    let waiting = format!("use {SECRET}");
    block_on(live.session().submit("test", waiting)).unwrap();
    live.session().close().unwrap();

    let mut found = files_with(&world.home(), SECRET);
    found.retain(|file| !file.ends_with("home/settings.json"));
    assert_eq!(found, Vec::<String>::new());
    assert!(
        !std::fs::read_to_string(world.path("one.log"))
            .unwrap()
            .contains(SECRET)
    );
}

#[test]
fn an_answer_that_is_none_is_quoted_nowhere() {
    let world = World::new();
    let passive = ui_as(&world, "passive", &json!({}), mute);
    install(&world, "hostile", "ui");
    let provider = probe(&world, "probe-provider", "providers");
    let live = world.live(bundled());
    // What that UI then returns has the secret where a status should be.
    let ask = json!({"kind": "Auth.Password", "payload": {"prompt": "hostile:garbled-answer"}});
    let asked = provider.start("interaction.request", &ask);
    let named = passive.heard("SuppressedError");
    assert_eq!(named["payload"]["extId"], "hostile");
    let cause = code_of(&cause_of(&named["payload"]));
    assert_eq!(cause, "Validation/InteractionPayloadMismatch");
    live.session().close().unwrap();
    assert!(asked.result().is_err());
    let mut found = files_with(&world.home(), SECRET);
    // The library itself has it, and so has the copy that was opened.
    found.retain(|file| !std::fs::read(file).unwrap().starts_with(b"\x7fELF"));
    assert_eq!(found, Vec::<String>::new());
    let text = std::fs::read_to_string(world.path("passive.log")).unwrap();
    assert!(!text.contains(SECRET), "{text}");
}

#[test]
fn whoever_was_given_a_password_cannot_write_it_down_by_mistake() {
    let world = World::new();
    let give = json!({"do": "accept", "value": {"secret": SECRET}});
    let one = ui(&world, "one", &json!({"prompts": {"*": give}}));
    let provider = probe(&world, "probe-provider", "providers");
    let live = world.live(bundled());
    let ask = json!({"kind": "Auth.Password", "payload": {"prompt": "the example account"}});
    let response = provider.call("interaction.request", &ask).unwrap();
    assert_eq!(response["value"], json!({"secret": SECRET}));

    let note = json!({"kind": "note", "text": format!("logged in with {SECRET}")});
    provider.call("session.append", &note).unwrap();
    let record = json!({"class": "Example", "payload": {"with": SECRET}});
    provider.call("audit.record", &record).unwrap();
    let event = json!({"name": "Scripted", "payload": {"count": 1, "text": SECRET}});
    one.door.call("events.publish", &event).unwrap();
    assert_eq!(one.heard("Scripted")["payload"]["text"], "[REDACTED]");
    live.session().close().unwrap();
    assert_eq!(files_with(&world.home(), SECRET), Vec::<String>::new());
}

#[test]
fn a_handler_that_fails_over_a_secret_does_not_tell_it() {
    for how in ["fail", "panic"] {
        let world = World::new();
        let settings = json!({"env": {"EXAMPLE_TOKEN": SECRET}});
        world.write("home/settings.json", settings.to_string());
        let rule = json!({"do": how, "text": format!("{SECRET} was refused")});
        let rules = json!({"events": {"Scripted": rule}, "prompts": {"*": rule}});
        let one = ui(&world, "one", &rules);
        let passive = ui_as(&world, "passive", &json!({}), mute);
        let tool = probe(&world, "probe-tool", "tools");
        let live = world.live(bundled());
        let name = json!({"name": "EXAMPLE_TOKEN"});
        one.door.call("env.get", &name).unwrap();
        let event = json!({"name": "Scripted", "payload": {"count": 1}});
        one.door.call("events.publish", &event).unwrap();
        let ask = json!({"kind": "Ask", "payload": {"prompt": "Your name?"}});
        let asked = tool.start("interaction.request", &ask);
        let both = eventually("both failures", || {
            let named = passive.all_heard("SuppressedError");
            (named.len() == 2).then_some(named)
        });
        for named in both {
            let cause = named["payload"]["cause"].as_str().unwrap();
            assert!(cause.contains("[REDACTED] was refused"), "{how}: {cause}");
        }
        live.session().close().unwrap();
        assert!(asked.result().is_err());
        let mut found = files_with(&world.home(), SECRET);
        found.retain(|file| !file.ends_with("home/settings.json"));
        assert_eq!(found, Vec::<String>::new(), "{how}");
    }
}
