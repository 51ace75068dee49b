//! Lines that are typed while no prompt is open.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use stud_sdk::host::commands::{CommandRef, CommandResult};
use stud_sdk::host::session::SessionRecord;
use stud_sdk::host::workspace::WorkspaceInfo;
use stud_sdk::host::{
    Host, HostApi, audit, cancellation, commands, config, context, env, events, interaction,
    metrics, prompt, resource, session, workspace,
};
use stud_sdk::interaction::{Approve, Decision};
use stud_sdk::testing::FakeHost;
use stud_sdk::ui::{Answer, Event, Subscriber as _};
use stud_sdk::{Class, Error, Result, json};

use super::rig::{Paper, Rig, answer, eventually, lend};
use crate::devices::Devices;
use crate::keyboard::Keyboard;
use crate::{Color, LineUi, Options};

#[test]
fn the_manifest_says_what_it_is() {
    let rig = Rig::new();
    let manifest = rig.harness.manifest();
    assert_eq!(manifest["extId"], "line-ui");
    assert_eq!(manifest["roles"], json!(["subscriber", "interactor"]));
    assert_eq!(manifest["events"][0]["name"], "LineUiInputEnded");
    assert_eq!(
        manifest["events"][0]["schema"]["additionalProperties"],
        false
    );
    let config = &manifest["configSchema"]["properties"];
    assert_eq!(config["prompt"]["default"], "> ");
    assert_eq!(config["color"]["enum"], json!(["auto", "always", "never"]));
    assert_eq!(config["enabled"]["type"], "boolean");
}

#[test]
fn lines_are_sent_in_order_and_blank_ones_are_not() {
    let rig = Rig::new();
    rig.types("hello\n\n  \t\r\n second \r\nthird, café");
    assert_eq!(rig.sent(2), ["hello", " second "]);
    rig.types(" au lait\n");
    assert_eq!(rig.sent(3), ["hello", " second ", "third, café au lait"]);
    assert_eq!(rig.notes.text(), "");
}

#[test]
fn a_line_that_is_no_text_is_not_sent() {
    let rig = Rig::new();
    rig.types_bytes(b"\xc3\x28\n");
    assert_eq!(rig.catches_up(), Vec::<String>::new());
    assert_eq!(rig.notes.text(), "not sent: the line is not UTF-8 text\n");
}

#[test]
fn typed_ahead_lines_never_answer() {
    let rig = Rig::new();
    rig.types("do it\ny\n");
    assert_eq!(rig.sent(2), ["do it", "y"]);
    let response = rig.gets(Approve::default(), "n = no: ", "n\n");
    let Some(Answer::Approve(given)) = answer(&response, &Approve::default().into()) else {
        panic!("{response:?}");
    };
    assert_eq!(given.decision, Decision::Deny);
}

fn host_with(name: &str, result: CommandResult) -> FakeHost {
    let name = name.to_owned();
    let command = CommandRef {
        name,
        ..CommandRef::default()
    };
    FakeHost::new().command(command, result)
}

#[test]
fn a_command_runs_and_its_line_goes_nowhere_else() {
    let rendered = "tools:\n\tread\u{1b}\n".to_owned();
    let done = CommandResult::Done {
        rendered,
        payload: None,
    };
    let rig = Rig::with(host_with("help", done));
    rig.types("/help  tools and more \n/help\n");
    assert_eq!(rig.catches_up(), Vec::<String>::new());
    let dispatched = rig.host().dispatched();
    let expected = [
        ("help".to_owned(), "tools and more ".into()),
        ("help".to_owned(), "".into()),
    ];
    assert_eq!(dispatched, expected);
    assert!(
        rig.notes.text().starts_with("tools:\n\tread\\u{1b}\n"),
        "{:?}",
        rig.notes.text()
    );
    assert_eq!(rig.text.text(), "");
}

#[test]
fn a_command_that_does_not_run_says_why() {
    let reason = "a turn is running\n".to_owned();
    let rig = Rig::with(host_with("model", CommandResult::Blocked { reason }));
    rig.types("/model x\n/nonsense\n/\n");
    assert_eq!(rig.catches_up(), Vec::<String>::new());
    let notes = rig.notes.text();
    assert!(
        notes.contains("/model is blocked: a turn is running\\n\n"),
        "{notes}"
    );
    assert!(
        notes.contains("/nonsense did not run: Validation/"),
        "{notes}"
    );
    assert!(notes.contains("there is no command `nonsense`"), "{notes}");
    assert!(notes.contains("/ did not run: "), "{notes}");
}

/// A host like the fake one, outside of any session.
struct Outside(Host);

macro_rules! passes_on {
    ($($name:ident: $service:path),+ $(,)?) => {
        impl HostApi for Outside {
            fn workspace(&self) -> &dyn workspace::WorkspaceInfo {
                self
            }
            $(fn $name(&self) -> &dyn $service {
                self.0.$name()
            })+
        }
    };
}

passes_on! {
    env: env::EnvReader,
    config: config::ConfigReader,
    events: events::EventPublisher,
    audit: audit::AuditLogger,
    interaction: interaction::InteractionRequester,
    cancellation: cancellation::CancellationFactory,
    session: session::SessionAccessor,
    prompt: prompt::PromptReader,
    resource: resource::ResourceReader,
    context: context::ContextContributor,
    commands: commands::CommandSurface,
    metrics: metrics::RuntimeReader,
}

impl WorkspaceInfo for Outside {
    fn project_root(&self) -> Result<std::path::PathBuf> {
        self.0.workspace().project_root()
    }

    fn global_root(&self) -> Result<std::path::PathBuf> {
        self.0.workspace().global_root()
    }

    fn correlation_id(&self) -> Result<Option<String>> {
        Ok(None)
    }

    fn session_id(&self) -> Result<String> {
        Err(Error::new(
            Class::ExtensionHost,
            "NotReady",
            "there is no session",
        ))
    }
}

#[test]
fn without_a_session_the_input_is_left_alone() {
    let (input, keys) = std::io::pipe().unwrap();
    let mut loop_in_a_shell = input.try_clone().unwrap();
    lend(Devices {
        keyboard: Keyboard::new(input.into()),
        text: Paper::default().output(false),
        notes: Paper::default().output(false),
    });
    let fake = FakeHost::new();
    let host = Host::new(Arc::new(Outside(fake.cx().host().clone())));
    let options = Options {
        prompt: String::new(),
        color: Color::Auto,
    };
    let ui = LineUi::new(host, options).unwrap();
    ui.activate().unwrap();
    assert!(ui.lock().sitting.is_none());
    (&keys).write_all(b"1\n").unwrap();
    let mut line = [0; 2];
    loop_in_a_shell.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"1\n");

    // A session that begins later is read for from its first event on.
    let event = Event {
        seq: 1,
        name: "SessionActive",
        correlation_id: "t1",
        payload: "{}",
    };
    ui.on_event(&event).unwrap();
    (&keys).write_all(b"2\n").unwrap();
    let text = "2".to_owned();
    let expected = [SessionRecord::UserInput { text }];
    eventually("it is sent", || fake.appended() == expected);
}
