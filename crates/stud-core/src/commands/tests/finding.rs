use super::*;

fn names(room: &Arc<Room>) -> Vec<(String, Vec<String>, String)> {
    let listed = room.catalog().list().into_iter();
    listed
        .map(|command| (command.name, command.aliases, command.source))
        .collect()
}

fn entry(name: &str, aliases: &[&str], source: &str) -> (String, Vec<String>, String) {
    let aliases = aliases.iter().map(ToString::to_string).collect();
    (name.to_owned(), aliases, source.to_owned())
}

#[test]
fn commands_are_listed_in_byte_order_with_all_there_is_to_show() {
    let room = room();
    room.add("two-commands", "b", |fake| {
        fake.aliases = vec!["bee", "b", "no way", "bee"];
        fake.commands.push(CommandDeclaration {
            argument_hint: Some("[name]".to_owned()),
            category: Some("model".to_owned()),
            turn_safe: false,
            ..declared("B")
        });
    });
    room.add("a-command", "a", |_| {});
    let listed = serde_json::to_value(room.catalog().list()).unwrap();
    assert_eq!(
        listed,
        json!([
            {
                "name": "B", "aliases": [], "description": "Does B.", "argumentHint": "[name]",
                "category": "model", "source": "two-commands", "turnSafe": false,
            },
            {"name": "a", "aliases": [], "description": "Does a.", "source": "a-command", "turnSafe": true},
            {
                "name": "b", "aliases": ["bee"], "description": "Does b.", "source": "two-commands",
                "turnSafe": true,
            },
        ])
    );
}

#[test]
fn a_nearer_scope_takes_the_place_of_a_namesake_and_its_aliases() {
    let room = room();
    room.add("bundled-model", "model", |fake| {
        fake.scope = Scope::Bundled;
        fake.aliases = vec!["m"];
    });
    room.add("bundled-help", "help", |fake| {
        fake.scope = Scope::Bundled;
        fake.aliases = vec!["h", "list"];
    });
    room.add("own-model", "model", |fake| fake.scope = Scope::Project);
    room.add("own-list", "ls", |fake| {
        fake.scope = Scope::Project;
        fake.aliases = vec!["list"];
    });
    assert_eq!(
        names(&room),
        [
            entry("help", &["h"], "bundled-help"),
            entry("ls", &["list"], "own-list"),
            entry("model", &[], "own-model"),
        ]
    );
    let catalog = room.catalog();
    let source = |word: &str| {
        catalog
            .find(word)
            .map(|offer| offer.handler().ext_id().to_owned())
    };
    assert_eq!(source("model"), Ok("own-model".to_owned()));
    assert_eq!(source("list"), Ok("own-list".to_owned()));
    assert_eq!(source("h"), Ok("bundled-help".to_owned()));
    assert_eq!(full(&source("m").unwrap_err()), "Validation/CommandUnknown");
}

#[test]
fn an_alias_of_a_nearer_scope_hides_a_command() {
    let room = room();
    room.add("bundled-help", "help", |fake| fake.scope = Scope::Bundled);
    room.add("own-command", "assist", |fake| fake.aliases = vec!["help"]);
    assert_eq!(names(&room), [entry("assist", &["help"], "own-command")]);
}

#[test]
fn a_word_that_two_plugins_of_one_scope_want_means_neither() {
    let room = room();
    room.add("one", "first", |fake| fake.aliases = vec!["x"]);
    room.add("two", "second", |fake| fake.aliases = vec!["x", "first"]);
    assert_eq!(names(&room), [entry("second", &[], "two")]);
    let error = block_on(room.dispatch("x", "".into())).unwrap_err();
    assert_eq!(full(&error), "Validation/CommandAmbiguous");
    assert_eq!(
        Value::Object(error.context().clone()),
        json!({"name": "x", "candidates": ["one", "two"]})
    );
}

#[test]
fn a_command_is_looked_up_when_it_runs() {
    let room = room();
    room.add("late-command", "late", |_| {});
    let late = std::mem::take(&mut *lock(&room.handlers));
    let late = Mutex::new(late);
    room.add("load-command", "load", |fake| {
        fake.run = Box::new(move |room, _, _| {
            lock(&room.handlers).append(&mut lock(&late));
            Box::pin(async { Ok(Rendered::from("")) })
        });
    });
    block_on(room.dispatch("load", "".into())).unwrap();
    assert!(block_on(room.dispatch("late", "".into())).is_ok());
}

#[test]
fn a_name_that_nobody_has_is_looked_for_once_more() {
    let room = room();
    room.add("late", "greet", |_| {});
    *lock(&room.late) = lock(&room.handlers).pop();
    block_on(room.dispatch("greet", CommandArgs::default())).unwrap();
    let unknown = block_on(room.dispatch("nobody", CommandArgs::default())).unwrap_err();
    assert_eq!(unknown.code(), "CommandUnknown");
    let gone = block_on(room.dispatch("gone", CommandArgs::default())).unwrap_err();
    assert_eq!(gone.code(), closed().code(), "why it cannot be fetched");
}
