//! `stud attach`: a terminal beside the other screens of a session that is served.

use serde_json::{Value, json};
use stud_tests::{Client, Terminal, World, eventually};

use super::{screen, shows};

fn world() -> World {
    let world = World::with_fixture_tools();
    let settings = json!({"active": {"provider": "echo"}});
    world.write("home/settings.json", settings.to_string());
    world
}

fn attach(world: &World, arguments: &[&str]) -> Terminal {
    let mut command = world.command();
    command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
    Terminal::start(command.arg("attach").args(arguments))
}

/// The prompt of a tool that is asked now.
fn asked(client: &mut Client, session: &str, text: &str) -> Value {
    client.say(session, text);
    client.event("interaction_request")
}

#[test]
fn a_terminal_answers_what_a_client_is_asked_and_the_other_way_round() {
    let world = world();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    let terminal = attach(&world, &[]);
    shows(&terminal, "mode ask");

    // What is said anywhere is seen everywhere.
    terminal.types("from the terminal\r");
    assert_eq!(client.event("user_message")["text"], "from the terminal");
    client.event("turn_end");
    shows(&terminal, "USER from the terminal");
    client.turn(&session, "from the client");
    shows(&terminal, "USER from the client");

    let prompt = asked(
        &mut client,
        &session,
        r#"!tool ask_user {"question":"Which color?"}"#,
    );
    shows(&terminal, "Enter next or press");
    // The field, and then its button.
    terminal.types("blue\r");
    terminal.types("\r");
    let answered = client.event("interaction_response");
    assert_eq!(answered["interactionId"], prompt["interactionId"]);
    assert_eq!(answered["input"], json!({"answer": "blue"}));
    assert_eq!(answered["answeredBy"]["extId"], "default-tui");
    client.event("turn_end");

    let prompt = asked(
        &mut client,
        &session,
        r#"!tool ask_user {"question":"Which day?"}"#,
    );
    shows(&terminal, "Which day?");
    let answer = json!({"action": "submit", "input": {"answer": "Monday"}});
    client.answer(&session, &prompt, answer);
    let answered = client.event("interaction_response");
    assert_eq!(answered["answeredBy"]["extId"], "web");
    client.event("turn_end");
    shows(
        &terminal,
        r#"RESULT {"ok":true,"result":{"answer":"Monday","ok":true}}"#,
    );

    // Leaving is not ending: the session continues, and the terminal is as it was.
    terminal.types("/exit\r");
    eventually("the terminal as it was", || {
        terminal.shows_keys().then_some(())
    });
    let (status, bytes) = terminal.end();
    assert_eq!(status, 0);
    assert!(bytes.contains("which continues"), "{bytes:?}");
    let events = client.turn(&session, "still here");
    assert_eq!(events.last().unwrap()["event"]["type"], "turn_end");
}

#[test]
fn a_terminal_counts_as_a_screen_until_it_leaves() {
    let world = world();
    let served = world.serve();
    let mut client = served.client_with(json!({"supported": true, "enabled": false}));
    let session = client.session();
    let probe = |client: &mut Client| {
        client.say(&session, "!tool fx_probe {}");
        let result = client.event("tool_result")["result"].clone();
        client.event("turn_end");
        result
    };
    let seen = |available: bool, supported: u32, enabled: u32| json!({"available": available, "supportedCount": supported, "enabledCount": enabled});
    assert_eq!(probe(&mut client), seen(false, 1, 0));
    let terminal = attach(&world, &[&session[..18]]);
    shows(&terminal, "mode ask");
    assert_eq!(probe(&mut client), seen(true, 2, 1));

    // One terminal at a time.
    let other = attach(&world, &[]);
    let (status, bytes) = other.end();
    assert_eq!(status, 1, "{bytes}");
    assert!(
        bytes.contains("another terminal shows the session"),
        "{bytes}"
    );

    // The end of the session is the end of its screens.
    client.send(json!({"type": "session_close", "sessionId": session}));
    client.until_type("session_closed");
    eventually("the terminal as it was", || {
        terminal.shows_keys().then_some(())
    });
    let (status, bytes) = terminal.end();
    assert_eq!(status, 0);
    assert!(bytes.contains("has ended here"), "{bytes:?}");

    // A session that is kept is opened again.
    let terminal = attach(&world, &[&session]);
    shows(&terminal, "mode ask");
    terminal.types("again\r");
    shows(&terminal, "USER again");
    assert!(!screen(&terminal).contains("panicked"));
    served.kill();
    let (status, bytes) = terminal.end();
    assert_eq!(status, 0, "{bytes:?}");
}

#[test]
fn without_a_server_or_a_session_attach_says_what_to_do() {
    let world = world();
    let (status, bytes) = attach(&world, &[]).end();
    assert_eq!(status, 1);
    assert!(
        bytes.contains("no session is open in `stud serve`"),
        "{bytes}"
    );
    let (status, bytes) = attach(&world, &["0192f0c1"]).end();
    assert_eq!(status, 1);
    assert!(bytes.contains("Session/ControlUnavailable"), "{bytes}");
    let piped = world.stud(&["attach"]);
    assert_eq!(piped.status, 1);
    assert!(
        piped.stderr.contains("are not a terminal"),
        "{}",
        piped.stderr
    );
}
