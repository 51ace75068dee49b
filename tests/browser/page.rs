//! What a person does with the page.

use stud_tests::{Served, World};

use crate::driver::{Browser, is_here};

const DESKTOP: (u32, u32) = (1280, 900);
const ENTER: char = '\u{e007}';
const TAB: char = '\u{e004}';
const ESCAPE: char = '\u{e00c}';

pub(crate) fn opened(served: &Served) -> Browser {
    opened_at(served, DESKTOP, "")
}

fn opened_at(served: &Served, (width, height): (u32, u32), hash: &str) -> Browser {
    let browser = Browser::open(width, height);
    browser.go(&format!(
        "http://127.0.0.1:{}/?token={}",
        served.port(),
        served.token()
    ));
    if !hash.is_empty() {
        browser.go(&format!("http://127.0.0.1:{}/{hash}", served.port()));
        browser.reload();
    }
    browser.wait("document.body.dataset.connected === 'true'");
    browser
}

fn hash(browser: &Browser) -> String {
    let hash = browser.wait("location.hash.startsWith('#/s/') ? location.hash : ''");
    hash.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn say(browser: &Browser, text: &str) {
    browser.type_into("#input", &format!("{text}{ENTER}"));
}

#[test]
fn a_conversation_is_held_and_the_token_is_not_in_the_address() {
    if !is_here() {
        return;
    }
    let world = World::new();
    let served = world.serve();
    let browser = opened(&served);
    assert!(!browser.address().contains("token"));
    assert_eq!(browser.run("return document.cookie"), "");
    say(&browser, "hello **there** <b>you</b>");
    browser.wait_text("USER hello there <b>you</b>");
    let bold = browser.wait("document.querySelector('.assistant strong')?.textContent");
    assert_eq!(bold, "there");
    assert_eq!(
        browser.run("return document.querySelectorAll('.transcript b').length"),
        0
    );
    browser.wait("document.querySelectorAll('#sessions a').length === 1");
    browser.picture("conversation");
}

#[test]
fn cit_21_64_two_browsers_race_for_one_prompt() {
    if !is_here() {
        return;
    }
    let world = World::with_fixture_tools();
    let served = world.serve();
    let one = opened(&served);
    say(&one, r#"!tool ask_user {"question":"Color?"}"#);
    one.wait("document.querySelector('.prompt-form input')");
    let other = opened_at(&served, DESKTOP, &hash(&one));
    other.wait("document.querySelector('.prompt-form input')");
    one.picture("form");
    one.type_into(".prompt-form input", &format!("blue{ENTER}"));
    one.wait("document.querySelector('.completed')?.textContent.includes('blue')");
    other.wait("document.querySelector('.completed')?.textContent.includes('blue')");
    other.wait_text("Answered on another device");
    assert_eq!(
        other.run("return document.querySelectorAll('.prompt-form').length"),
        0
    );
    assert_eq!(
        one.run("return document.body.innerText.includes('another device')"),
        false
    );
}

#[test]
fn cit_32_66_a_reprompt_takes_the_place_of_the_form_and_keeps_what_was_typed() {
    if !is_here() {
        return;
    }
    let world = World::with_fixture_tools();
    let served = world.serve();
    let browser = opened(&served);
    say(&browser, "!tool fx_email {}");
    browser.type_into(".prompt-form input", &format!("not-an-email{ENTER}"));
    browser.wait(
        "document.querySelector('.problem[role=alert]')?.textContent === 'Invalid email format'",
    );
    assert_eq!(
        browser.run("return document.querySelectorAll('.prompt-form').length"),
        1
    );
    assert_eq!(
        browser.run("return document.querySelector('.prompt-form input').value"),
        "not-an-email"
    );
    browser.picture("reprompt");
    browser.run("document.querySelector('.prompt-form input').value = ''");
    browser.type_into(".prompt-form input", &format!("a@b.example{ENTER}"));
    browser.wait("document.querySelector('.completed')?.textContent.includes('a@b.example')");
}

#[test]
fn cit_68_a_reload_shows_what_was_answered_and_what_is_still_open() {
    if !is_here() {
        return;
    }
    let world = World::with_fixture_tools();
    let served = world.serve();
    let browser = opened(&served);
    say(&browser, r#"!tool ask_user {"question":"First?"}"#);
    browser.type_into(".prompt-form input", &format!("one{ENTER}"));
    browser.wait("document.querySelector('.completed')");
    say(&browser, r#"!tool ask_user {"question":"Second?"}"#);
    browser.wait("document.querySelector('.prompt-form input')");
    browser.reload();
    browser.wait("document.querySelector('.completed')?.textContent.includes('one')");
    browser.type_into(".prompt-form input", &format!("two{ENTER}"));
    browser.wait("document.querySelectorAll('.completed').length === 2");
}

#[test]
fn cit_56_a_client_that_is_switched_off_only_looks_on() {
    if !is_here() {
        return;
    }
    let world = World::with_fixture_tools();
    let served = world.serve();
    let one = opened(&served);
    say(&one, r#"!tool ask_user {"question":"Color?"}"#);
    one.wait("document.querySelector('.prompt-form input:enabled')");
    one.click("#interactive");
    one.wait("document.querySelector('.prompt-form input:disabled')");
    one.wait_text("Interactive mode disabled — enable to respond");
    one.picture("disabled");
    one.click(".hint button");
    one.type_into(".prompt-form input:enabled", &format!("red{ENTER}"));
    one.wait("document.querySelector('.completed')?.textContent.includes('red')");
}

#[test]
fn a_page_that_lost_its_server_comes_back_to_its_prompt() {
    if !is_here() {
        return;
    }
    let mut world = World::with_fixture_tools();
    world.set("NO_PROXY", "127.0.0.1");
    let token = world.path("token");
    let token = token.to_string_lossy().into_owned();
    let served = world.serve_with(&["--token-file", &token]);
    let port = served.port();
    let secret = std::fs::read_to_string(&token).unwrap();
    let browser = Browser::open(DESKTOP.0, DESKTOP.1);
    browser.go(&format!("http://127.0.0.1:{port}/?token={}", secret.trim()));
    browser.wait("document.body.dataset.connected === 'true'");
    say(
        &browser,
        r#"!tool fx_late {"timeoutMs":50,"form":"pending"}"#,
    );
    browser.wait_text("The tool went on. You can still answer.");
    served.kill();
    browser.wait("document.body.dataset.connected === 'false'");
    browser.wait_text("The connection was lost");
    browser.picture("lost");
    let listen = format!("127.0.0.1:{port}");
    let _again = world.serve_with(&["--token-file", &token, "--listen", &listen]);
    browser.wait("document.body.dataset.connected === 'true'");
    browser.type_into(".prompt-form input", &format!("late{ENTER}"));
    browser.wait("document.querySelector('.completed')?.textContent.includes('late')");
    browser.wait_text("A late answer for fx_late");
}

#[test]
fn an_approval_shows_every_byte_of_what_would_run() {
    if !is_here() {
        return;
    }
    let world = World::new();
    let served = world.serve();
    let browser = opened(&served);
    say(
        &browser,
        r#"!tool bash {"command":"echo \u001b[8m hidden \u202e gnp.exe; touch made"}"#,
    );
    let shown = browser.wait("document.querySelector('.prompt-card .exact')?.textContent");
    assert_eq!(
        shown,
        "echo ⟨U+001B⟩[8m hidden ⟨U+202E⟩ gnp.exe; touch made"
    );
    browser.wait_text("hidden or change the order");
    browser.picture("approval");
    let buttons = browser.run(
        "return [...document.querySelectorAll('.prompt-card .row button')].map((b) => b.textContent)",
    );
    assert_eq!(buttons[0], "Deny");
    assert_eq!(buttons[1], "Allow once");
    assert!(!world.project().join("made").exists());
    browser.click(".prompt-card .row button.primary");
    browser.wait("document.querySelectorAll('.prompt-card').length === 0");
    browser.wait("document.querySelector('.tool[data-state=done]')");
    assert!(world.project().join("made").exists());
}

#[test]
fn every_field_has_its_control() {
    if !is_here() {
        return;
    }
    let world = World::with_fixture_tools();
    let served = world.serve();
    let browser = opened(&served);
    let fields = [
        ("text", ""),
        ("textarea", ""),
        ("number", ""),
        ("checkbox", ""),
        ("boolean", ""),
        ("date", ""),
        ("time", ""),
        ("datetime", ""),
        (
            "select",
            r#","options":[{"value":"a","label":"A"},{"value":"b","label":"B"}]"#,
        ),
        (
            "radio",
            r#","options":[{"value":"a","label":"A"},{"value":"b","label":"B"}]"#,
        ),
        (
            "multiselect",
            r#","options":[{"value":"a","label":"A"},{"value":"b","label":"B"}]"#,
        ),
    ];
    let fields = fields
        .map(|(kind, more)| {
            format!(r#"{{"id":"{kind}","type":"{kind}","label":"The {kind}"{more}}}"#)
        })
        .join(",");
    let values = r#"{"text":"t","number":3,"boolean":true,"select":"b","radio":"a","multiselect":["a","b"],"date":"2026-01-05"}"#;
    say(
        &browser,
        &format!(
            r#"!tool fx_form {{"schema":{{"type":"form","title":"All of them","fields":[{fields}],"initialValues":{values}}}}}"#
        ),
    );
    browser.wait("document.querySelector('.prompt-form')");
    browser.picture("fields");
    browser.type_into(".prompt-form textarea", "several words");
    browser.click(".prompt-form button[type=submit]");
    let answer = browser.wait("document.querySelector('.assistant.done')?.textContent");
    let answer = answer.as_str().unwrap();
    for part in [
        r#""text":"t""#,
        r#""textarea":"several words""#,
        r#""number":3"#,
        r#""checkbox":false"#,
        r#""boolean":true"#,
        r#""select":"b""#,
        r#""radio":"a""#,
        r#""multiselect":["a","b"]"#,
        r#""date":"2026-01-05""#,
    ] {
        assert!(answer.contains(part), "{part} in {answer}");
    }
}

#[test]
fn a_change_is_shown_side_by_side() {
    if !is_here() {
        return;
    }
    let world = World::new();
    world.write("project/notes.txt", "one\ntwo\nthree\n");
    let served = world.serve();
    let browser = opened(&served);
    say(
        &browser,
        r#"!tool edit {"path":"notes.txt","oldString":"two","newString":"2"}"#,
    );
    browser.wait("document.querySelector('.prompt-card .diff .gone')?.textContent");
    let gone =
        browser.run("return document.querySelector('.prompt-card td.line.gone').textContent");
    let come =
        browser.run("return document.querySelector('.prompt-card td.line.come').textContent");
    assert_eq!((gone, come), ("two".into(), "2".into()));
    browser.picture("diff");
    browser.click(".prompt-card .row button.primary");
    browser.wait("document.querySelector('.tool[data-state=done]')");
    let notes = std::fs::read_to_string(world.project().join("notes.txt")).unwrap();
    assert_eq!(notes, "one\n2\nthree\n");
}

#[test]
fn on_a_phone_everything_fits() {
    if !is_here() {
        return;
    }
    let world = World::with_fixture_tools();
    let served = world.serve();
    let browser = opened_at(&served, (390, 780), "");
    say(&browser, r#"!tool ask_user {"question":"Color?"}"#);
    browser.wait("document.querySelector('.prompt-form input')");
    let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    browser.wait(fits);
    browser.picture("phone");
    browser.click("#menu");
    browser.wait("getComputedStyle(document.getElementById('sidebar')).visibility === 'visible'");
    browser.picture("phone-menu");
    browser.click("#menu");
    browser.type_into(".prompt-form input", &format!("green{ENTER}"));
    browser.wait("document.querySelector('.completed')?.textContent.includes('green')");
    browser.wait(fits);
}

#[test]
fn cit_65_an_answer_that_comes_before_its_prompt_is_kept_for_it() {
    if !is_here() {
        return;
    }
    let world = World::new();
    let served = world.serve();
    let browser = opened(&served);
    let shown = browser.run_async(
        "const done = arguments[arguments.length - 1];\
         import('/assets/transcript.js').then(({ Transcript }) => {\
           const transcript = new Transcript({ answer: async () => {}, isMine: () => true, enable() {} });\
           const take = (seq, type, payload) => transcript.take({ seq, event: { type, payload } });\
           const ids = { interactionId: 'i1', toolCallId: 'c1' };\
           take(1, 'interaction_response', { ...ids, action: 'submit', input: { a: 'early' } });\
           take(2, 'interaction_response', { interactionId: 'i0', toolCallId: 'c1', action: 'cancel' });\
           take(3, 'interaction_request', { ...ids, toolName: 'ask', interactionType: 'input',\
             inputSchema: { type: 'form', fields: [{ id: 'a', type: 'text', label: 'A' }] } });\
           const text = document.querySelector('.completed')?.textContent ?? '';\
           done([document.querySelectorAll('.prompt-form').length, text.includes('early')]);\
         }, (error) => done(String(error)));",
    );
    assert_eq!(shown, serde_json::json!([0, true]));
}

#[test]
fn cit_67_a_form_can_be_filled_in_in_a_window_of_its_own() {
    if !is_here() {
        return;
    }
    let world = World::with_fixture_tools();
    let served = world.serve();
    let browser = opened(&served);
    say(&browser, r#"!tool ask_user {"question":"Color?"}"#);
    browser.click(".pop");
    browser.wait("document.getElementById('popout').open");
    browser.picture("popout");
    browser.type_into("#popout-body .prompt-form input", &format!("violet{ENTER}"));
    browser.wait("document.querySelector('.completed')?.textContent.includes('violet')");
    browser.wait("!document.getElementById('popout').open");
}

#[test]
fn cit_72_the_keyboard_is_enough() {
    if !is_here() {
        return;
    }
    let world = World::with_fixture_tools();
    let served = world.serve();
    let browser = opened(&served);
    browser.wait("document.activeElement !== null");
    browser.run("document.getElementById('input').focus()");
    browser.keys(&format!(
        "!tool ask_user {{\"question\":\"Color?\"}}{ENTER}"
    ));
    // The first field has the focus, and after the answer the input has it again.
    browser.wait("document.activeElement?.closest('.prompt-form') !== null");
    browser.keys(&format!("blue{ENTER}"));
    browser.wait("document.querySelector('.completed')?.textContent.includes('blue')");
    browser.wait("document.activeElement?.id === 'input'");
    // The palette opens after a slash, and is left with Escape.
    browser.keys("/he");
    browser.wait("document.querySelectorAll('#palette [role=option]').length > 0");
    browser.picture("palette");
    browser.keys(&ESCAPE.to_string());
    browser.wait("document.getElementById('palette').hidden");
    browser.keys(&format!("lp{ENTER}"));
    browser.wait("document.querySelector('.message.command')");
    // A running turn is interrupted with Escape in the empty input.
    browser.keys(&format!("!slow 60000{ENTER}"));
    browser.wait("!document.getElementById('stop').hidden");
    browser.keys(&ESCAPE.to_string());
    browser.wait_text("Interrupted");
    // An approval is reached and answered without a pointer.
    browser.keys(&format!("!tool bash {{\"command\":\"touch made\"}}{ENTER}"));
    browser.wait("document.querySelector('.prompt-card') !== null");
    for _ in 0..20 {
        if browser.run("return document.activeElement.textContent") == "Deny" {
            break;
        }
        browser.keys(&TAB.to_string());
    }
    browser.keys(&ENTER.to_string());
    browser.wait("document.querySelector('.tool[data-state=failed]')");
    assert!(!world.project().join("made").exists());
}

#[test]
fn sessions_are_found_copied_and_deleted() {
    if !is_here() {
        return;
    }
    let world = World::new();
    let served = world.serve();
    let browser = opened(&served);
    say(&browser, "a needle");
    browser.wait_text("USER a needle");
    browser.click("#new");
    browser.wait("!document.querySelector('.transcript').innerText.includes('needle')");
    say(&browser, "only hay");
    browser.wait("document.querySelectorAll('#sessions li').length === 2");
    browser.type_into("#search", "needle");
    browser.wait("document.querySelectorAll('#sessions li').length === 1");
    browser.click("#sessions button[aria-label='Fork a needle']");
    browser.wait("document.querySelectorAll('#sessions li').length === 2");
    browser.wait("document.querySelector('.transcript').innerText.includes('USER a needle')");
    browser.click("#sessions li:first-child button[aria-label='Delete a needle']");
    browser.click("#confirm button[value=yes]");
    browser.wait("document.querySelectorAll('#sessions li').length === 1");
}

#[test]
fn a_long_session_is_shown_from_its_end() {
    if !is_here() {
        return;
    }
    let world = World::new();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    for number in 0..150 {
        client.turn(&session, &format!("message {number}"));
    }
    let browser = opened_at(&served, DESKTOP, &format!("#/s/{session}"));
    browser.wait_text("USER message 149");
    assert_eq!(
        browser.run("return document.body.innerText.includes('USER message 0')"),
        false
    );
    browser.click(".earlier");
    browser.wait("[...document.querySelectorAll('.message.user')].some((m) => m.textContent === 'message 0')");
}
