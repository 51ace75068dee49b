//! Which values are looked for, who waits at the gate, and when a file is read again.

use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use secrecy::SecretString;

use super::confidential::in_settings;
use super::*;
use crate::plugin_scope::Scope;
use crate::redact::Origin;
use crate::redact::{Confidential, is_ordinary, is_telling};
use crate::settings::Settings;

fn settings(text: &str) -> Settings {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("settings.json"), text).unwrap();
    let mut settings = Settings::default();
    settings.layer(Scope::Global, folder.path()).unwrap();
    settings
}

fn desk(terms: Terms) -> RequestState {
    RequestState::new(terms)
}

#[test]
fn only_what_nobody_writes_by_accident_is_looked_for() {
    for telling in [
        "correct-horse",
        "s3cr3t-value",
        "supersecret",
        "/srv/keys/one",
        "hunter2",
    ] {
        assert!(is_telling(telling), "{telling}");
    }
    for plain in [
        "",
        "short",
        "1234567",
        "12345678",
        "-1.25e100",
        "production",
        "LocalHost",
    ] {
        assert!(!is_telling(plain), "{plain}");
    }
    assert!(is_ordinary("HOME") && is_ordinary("LC_ALL") && is_ordinary("XDG_CACHE_HOME"));
    assert!(!is_ordinary("HOME_TOKEN") && !is_ordinary("MY_USER"));
}

#[test]
fn settings_hold_confidential_values_and_plain_ones() {
    let settings = settings(
        r#"{
            "env": {"SERVICE_TOKEN": "token-of-the-service", "LANG": "de_DE.UTF-8", "LEVEL": "4"},
            "providers": {"big": {
                "model": "some-long-model-id",
                "apiKeyRef": {"kind": "keyring", "name": "big:literal-api-key"},
                "protocol": "some-long-protocol/2",
                "models": [{"id": "some-longer-model-id-2"}],
                "baseURL": "https://models.house.example/v1",
                "headers": [{"X-Api-Key": "key-of-the-house"}],
                "note": "call it with sk-ant-0123456789"
            }},
            "active": {"model": "some-longer-model-id-2"},
            "network": {"deny": ["ads.example.org"]},
            "securityMode": {"mode": "ask", "allowlist": ["bash(git status *)"]},
            "logging": {"sinks": [{"extId": "file-logger-2"}]},
            "contextProviders": {"notes": {"path": "AGENTS.md"}},
            "tools": {"bash": {"blockedPrefixes": ["shutdown"], "home": "/srv/work/house"}}
        }"#,
    );
    let found = in_settings(&settings);
    let places = |values: &[Confidential]| -> Vec<String> {
        let places = values.iter().map(|value| value.origin.identifier.clone());
        places.collect()
    };
    assert_eq!(
        places(&found.private),
        ["/providers/big/baseURL", "/tools/bash/home"]
    );
    assert_eq!(
        places(&found.secret),
        [
            "/env/SERVICE_TOKEN",
            "/providers/big/headers/0/X-Api-Key",
            "/providers/big/note",
        ]
    );
    let mut all = found.secret.iter().chain(&found.private);
    assert!(all.all(|value| value.origin.source == "settings"));
}

#[test]
fn what_is_resolved_later_is_looked_for_too() {
    let redactor = Redactor::new();
    let terms = Terms {
        confidential: in_settings(&settings(r#"{"env": {"A": "value-of-the-settings"}}"#)).secret,
        ..Terms::default()
    };
    let desk = desk(terms);
    let first = desk.screen(&redactor);
    assert!(Arc::ptr_eq(&first, &desk.screen(&redactor)), "made once");
    let text =
        r#"{"a": "value-of-the-\"env\"", "b": "value-of-the-settings", "c": "/users/somebody"}"#;
    let names = |screen: &Screen| -> Vec<String> {
        let found = screen.found_in(text).into_iter();
        found
            .map(|value| format!("{} {}", value.origin.source, value.origin.identifier))
            .collect()
    };
    assert_eq!(names(&first), ["settings /env/A"]);
    for (name, value) in [
        ("TOKEN", "value-of-the-\"env\""),
        ("HOME", "/users/somebody"),
    ] {
        let origin = Origin {
            source: "env",
            identifier: name.to_owned(),
        };
        redactor.learn_from(&SecretString::from(value), origin);
    }
    let second = desk.screen(&redactor);
    assert_eq!(names(&second), ["env TOKEN", "settings /env/A"]);
    assert_eq!(second.known(), 2);
}

#[test]
fn fragments_are_taken_only_from_whom_is_asked() {
    let desk = desk(Terms::default());
    assert!(!desk.hand_in("one", ContextFragment::default()));
    desk.open_for("one");
    assert!(desk.hand_in("one", ContextFragment::default()));
    assert!(!desk.hand_in("two", ContextFragment::default()));
    assert_eq!(desk.close_for("one").len(), 1);
    assert!(!desk.hand_in("one", ContextFragment::default()));
}

#[test]
fn a_window_that_fills_up_is_told_of_once() {
    let desk = desk(Terms::default());
    let told = [false, true, true, false, true].map(|full| desk.fills_up(full));
    assert_eq!(told, [false, true, false, false, true]);
}

#[test]
fn terms_come_from_the_settings() {
    let survey = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("settings.json"), text).unwrap();
        let places = crate::platform::Places {
            global_root: folder.path().to_owned(),
            project_root: folder.path().join("project/.stud"),
        };
        crate::environment::Environment::survey(places, Vec::new())
    };
    let terms = |text: &str| Terms::of(&survey(text).unwrap());
    let set = terms(r#"{"context": {"warnAt": 50, "compactAt": 0.6, "graceful": ["notes"]}}"#);
    assert!((set.warn_at - 0.5).abs() < 1e-9 && (set.compact_at - 0.6).abs() < 1e-9);
    assert!(set.graceful.contains("notes"));
    let unset = terms("{}");
    assert!((unset.warn_at - 0.8).abs() < 1e-9 && (unset.compact_at - 0.95).abs() < 1e-9);
    for (member, value) in [
        ("warnAt", "0"),
        ("warnAt", "\"much\""),
        ("compactAt", "101"),
        ("compactAt", "-1"),
        ("graceful", "\"notes\""),
        ("graceful", "[1]"),
    ] {
        let error = survey(&format!(r#"{{"context": {{"{member}": {value}}}}}"#)).unwrap_err();
        assert_eq!(error.code.name, "SettingsShapeInvalid", "{member} {value}");
        assert_eq!(error.field_path, Some(format!("/context/{member}")));
    }
}

#[test]
fn the_system_prompt_is_read_again_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("system.md");
    let prompt = SystemPrompt::at(Some(path.clone()));
    assert_eq!(prompt.text().unwrap(), None);
    std::fs::write(&path, "Be brief.\n\n").unwrap();
    let first = prompt.text().unwrap().unwrap();
    assert_eq!(&*first, "Be brief.");
    assert!(Arc::ptr_eq(&first, &prompt.text().unwrap().unwrap()));
    std::fs::write(&path, "Be thorough.").unwrap();
    assert_eq!(prompt.text().unwrap().as_deref(), Some("Be thorough."));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(prompt.text().unwrap(), None);
}

#[test]
fn a_system_prompt_that_cannot_be_used_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("system.md");
    let refused = |what: &str| {
        let error = SystemPrompt::at(Some(path.clone())).text().unwrap_err();
        let code = format!("{}/{}", error.class(), error.code());
        assert_eq!(code, "Validation/SystemPromptUnreadable", "{what}");
        assert_eq!(error.context()["path"], path.display().to_string());
    };
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    refused("not UTF-8");
    std::fs::write(&path, "x".repeat((256 << 10) + 1)).unwrap();
    refused("too large");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    refused("a folder");
}

#[test]
fn one_at_a_time_and_nobody_is_held_up_by_who_left() {
    let gate = Arc::new(FifoLock::default());
    let mut cx = Context::from_waker(Waker::noop());
    let (mut first, mut third) = (pin!(gate.enter()), pin!(gate.enter()));
    let Poll::Ready(inside) = first.as_mut().poll(&mut cx) else {
        panic!("nobody was before the first");
    };
    {
        let mut second = pin!(gate.enter());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        assert!(third.as_mut().poll(&mut cx).is_pending());
        // The second goes away without having been let in.
    }
    drop(inside);
    let Poll::Ready(inside) = third.as_mut().poll(&mut cx) else {
        panic!("the third was next");
    };
    drop(inside);
    let mut last = pin!(gate.enter());
    assert!(last.as_mut().poll(&mut cx).is_ready());
}
