//! `stud explain`.

use serde_json::Value;
use stud_tests::World;

use crate::support::{code, failure, keys};

#[test]
fn a_code_has_a_page() {
    let world = World::new();
    for asked in ["Validation/UIRoleHandlerMissing", "uirolehandlermissing"] {
        let answer = world.stud(&["explain", asked, "--json"]);
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
        let page = answer.json();
        assert_eq!(keys(&page), ["class", "code", "page", "summary"]);
        assert_eq!(
            (&page["class"], &page["code"]),
            (&"Validation".into(), &"UIRoleHandlerMissing".into())
        );
        let text = page["page"].as_str().unwrap();
        assert!(text.starts_with(page["summary"].as_str().unwrap()));
        assert!(text.contains("## Fix"));
    }
    let answer = world.stud(&["explain", "UIRoleHandlerMissing"]);
    assert!(
        answer
            .stdout
            .starts_with("Validation/UIRoleHandlerMissing\n\n"),
        "{}",
        answer.stdout
    );
}

#[test]
fn an_unknown_code_suggests_the_nearest() {
    let world = World::new();
    let diagnostic = failure(&world.stud(&["explain", "UIRoleHandlerMising", "--json"]));
    assert_eq!(code(&diagnostic), "Validation/CodeUnknown");
    assert_eq!(
        diagnostic["help"][0],
        "did you mean `Validation/UIRoleHandlerMissing`?"
    );
    assert_eq!(diagnostic["context"]["asked"], "UIRoleHandlerMising");

    let diagnostic = failure(&world.stud(&["explain", "Zzzzzzzz", "--json"]));
    assert_eq!(
        diagnostic["help"][0],
        "`stud explain --list` shows them all"
    );
}

#[test]
fn the_codes_are_listed() {
    let world = World::new();
    let answer = world.stud(&["explain", "--list", "--json"]);
    assert_eq!(answer.status, 0);
    let all = answer.json();
    let all = all["codes"].as_array().unwrap();
    for entry in all {
        assert_eq!(keys(entry), ["class", "code", "page", "summary"]);
    }
    let lines = world.stud(&["explain", "--list"]).stdout;
    assert_eq!(lines.lines().count(), all.len());

    let session = world
        .stud(&["explain", "--list", "session", "--json"])
        .json();
    let session: &Vec<Value> = session["codes"].as_array().unwrap();
    assert!(!session.is_empty() && session.len() < all.len());
    assert!(session.iter().all(|entry| entry["class"] == "Session"));
}

#[test]
fn an_unknown_class_is_told_the_known_ones() {
    let diagnostic = failure(&World::new().stud(&["explain", "--list", "Validatoin", "--json"]));
    assert_eq!(code(&diagnostic), "Validation/CodeUnknown");
    assert!(
        diagnostic["help"][0]
            .as_str()
            .unwrap()
            .contains("Validation, ")
    );
}

#[test]
fn every_help_line_leads_to_a_page() {
    let world = World::new();
    let diagnostic = failure(&world.stud(&["plugin", "info", "nothing", "--json"]));
    let help = diagnostic["help"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .as_str()
        .unwrap();
    let words: Vec<&str> = help.split(' ').skip(1).collect();
    assert_eq!(world.stud(&words).status, 0, "{help}");
}
