use super::*;

fn labels(room: &Arc<Room>, input: &str, cursor: usize) -> Vec<String> {
    let suggested = room.commands.complete(&room.catalog(), input, cursor);
    suggested.into_iter().map(|one| one.label).collect()
}

fn at_end(room: &Arc<Room>, input: &str) -> Vec<String> {
    labels(room, input, input.len())
}

fn some_commands() -> Arc<Room> {
    let room = room();
    room.add("mode-command", "mode", |_| {});
    room.add("model-command", "model", |fake| {
        fake.aliases = vec!["llm", "m2"];
    });
    room.add("demo-command", "demo", |_| {});
    room
}

#[test]
fn names_that_begin_so_come_first() {
    let room = some_commands();
    assert_eq!(at_end(&room, "/mo"), ["/mode", "/model", "/demo"]);
    assert_eq!(at_end(&room, "/"), ["/demo", "/mode", "/model"]);
    assert_eq!(at_end(&room, "/MODEL"), ["/model"]);
    assert_eq!(at_end(&room, "/x"), [""; 0]);
    assert_eq!(
        room.commands.complete(&room.catalog(), "/model", 6),
        [Completion {
            label: "/model".to_owned(),
            replacement: "/model ".to_owned(),
            description: Some("Does model.".to_owned()),
        }]
    );
}

#[test]
fn an_alias_is_suggested_when_it_is_what_was_meant() {
    let room = some_commands();
    assert_eq!(at_end(&room, "/ll"), ["/llm"]);
    assert_eq!(at_end(&room, "/m2"), ["/m2"]);
}

#[test]
fn nothing_but_a_slash_line_is_completed() {
    let room = some_commands();
    for input in ["", "mo", " /mo", "tell me about /mo"] {
        assert_eq!(at_end(&room, input), [""; 0], "{input:?}");
    }
}

#[test]
fn a_palette_is_not_flooded() {
    let room = room();
    room.add("many-commands", "c0", |fake| {
        fake.commands = (0..30)
            .map(|number| declared(&format!("c{number}")))
            .collect();
    });
    assert_eq!(at_end(&room, "/").len(), 8);
}

#[test]
fn only_what_is_before_the_cursor_counts() {
    let room = some_commands();
    assert_eq!(labels(&room, "/model x", 4), ["/mode", "/model"]);
    assert_eq!(labels(&room, "/model x", 0), [""; 0]);
}

#[test]
fn a_cursor_outside_or_inside_a_character_is_put_in_its_place() {
    let room = some_commands();
    assert_eq!(labels(&room, "/mod", 4000), ["/mode", "/model"]);
    assert_eq!(labels(&room, "/mod", usize::MAX), ["/mode", "/model"]);
    // The cursor is inside the second letter, so only the slash is before it.
    assert_eq!(labels(&room, "/é", 2).len(), 3);
    room.add("echo-command", "echo", |fake| {
        fake.complete = Box::new(|draft| {
            let label = draft.draft[..draft.cursor].to_owned();
            Ok(vec![Completion {
                label,
                ..Completion::default()
            }])
        });
    });
    assert_eq!(labels(&room, "/echo é", 7), ["/echo "]);
}

#[test]
fn a_command_suggests_its_own_arguments() {
    let room = room();
    room.add("model-command", "model", |fake| {
        fake.aliases = vec!["m"];
        fake.complete = Box::new(|draft| {
            let label = format!("{}@{}", draft.draft, draft.cursor);
            Ok(vec![Completion {
                label,
                ..Completion::default()
            }])
        });
    });
    assert_eq!(at_end(&room, "/model ec"), ["/model ec@9"]);
    assert_eq!(labels(&room, "/m echo", 3), ["/m echo@3"]);
    assert_eq!(at_end(&room, "/unknown x"), [""; 0]);
    assert!(lock(&room.ran).is_empty(), "nothing runs for it");
}

#[test]
fn a_plugin_that_fails_suggests_nothing_and_is_named() {
    let room = room();
    room.add("bad-command", "bad", |fake| {
        fake.complete = Box::new(|_| {
            let error =
                Error::new(Class::ExtensionHost, "CallPanicked", "oh").with("extId", "bad-command");
            Err(error)
        });
    });
    assert_eq!(at_end(&room, "/bad x"), [""; 0]);
    let (name, _, payload) = room.event();
    assert_eq!(
        (name.as_str(), &payload["extId"]),
        ("SuppressedError", &json!("bad-command"))
    );
    let cause: Value = serde_json::from_str(payload["cause"].as_str().unwrap()).unwrap();
    assert_eq!(
        cause,
        json!({
            "class": "ExtensionHost",
            "code": "CallPanicked",
            "message": "oh",
            "context": {"extId": "bad-command"},
        })
    );
}

#[test]
fn a_plugin_that_hangs_is_named_and_not_asked_again() {
    let limits = Limits {
        completion: Duration::from_millis(20),
        ..Limits::default()
    };
    let room = room_with(None, limits);
    let (asked, was_asked) = mpsc::channel();
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    room.add("stuck-command", "stuck", |fake| {
        fake.complete = Box::new(move |_| {
            let _ = asked.send(());
            let _ = lock(&held).recv();
            Ok(Vec::new())
        });
    });
    assert_eq!(at_end(&room, "/stuck x"), [""; 0]);
    let (name, _, payload) = room.event();
    assert_eq!(
        (name.as_str(), &payload["extId"]),
        ("SuppressedError", &json!("stuck-command"))
    );
    let cause: Value = serde_json::from_str(payload["cause"].as_str().unwrap()).unwrap();
    stud_observed::covers!(EXECUTION_TIMEOUT, cause);
    was_asked.recv().unwrap();
    assert_eq!(at_end(&room, "/stuck x"), [""; 0]);
    assert!(was_asked.try_recv().is_err());
    drop(release);
}

#[test]
fn suggestions_that_give_a_secret_away_are_left_out() {
    let room = room();
    room.books.redactor.learn_text("hunter2");
    room.add("key-command", "key", |fake| {
        fake.complete = Box::new(|_| {
            let of = |label: &str, replacement: &str, description: Option<&str>| Completion {
                label: label.to_owned(),
                replacement: replacement.to_owned(),
                description: description.map(str::to_owned),
            };
            Ok(vec![
                of("hunter2", "", None),
                of("a", "/key hunter2", None),
                of("b", "", Some("it is hunter2")),
                of("c", "/key c", Some("harmless")),
            ])
        });
    });
    assert_eq!(at_end(&room, "/key "), ["c"]);
}
