//! One corpus of hostile text through the places that print: nothing of it steers the terminal of the person who looks.

use stud_diagnostics::printable_text;
use stud_observed::campaign;
use stud_tests::World;

use crate::support::soon;

/// What a terminal would obey, reorder or hide.
const CORPUS: &[&str] = &[
    "\u{1b}[2J\u{1b}[Hcleared",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]52;c;ZWNobyBoaQ==\u{7}",
    "\u{1b}]8;;http://example.com\u{1b}\\link\u{1b}]8;;\u{1b}\\",
    "\u{1b}P+q544e\u{1b}\\",
    "\u{1b}[6n\u{1b}[c\u{1b}Z",
    "\u{9b}31mC1\u{9d}0;x\u{9c}",
    "\u{90}DCS\u{9c}",
    "over\rwritten",
    "back\u{8}\u{8}\u{8}space",
    "bell\u{7}\u{7}",
    "tab\tvertical\u{b}form\u{c}",
    "delete\u{7f}",
    "right\u{202e}to left\u{202c}",
    "isolate\u{2066}d\u{2069}\u{2068}",
    "mark\u{200e}\u{200f}\u{61c}",
    "zero\u{200b}width\u{2060}joined\u{feff}",
    "separator\u{2028}para\u{2029}graph",
    "tags\u{e0041}\u{e0042}\u{e007f}",
    "shift\u{e}out\u{f}in",
    "interlinear\u{fff9}a\u{fffa}b\u{fffb}",
    "next\u{85}line",
    "two\nlines",
];

/// Runs the program and holds each line of what it says against the corpus.
fn prints(world: &World, arguments: &[&str]) {
    let output = soon(world.command().args(arguments));
    for stream in [output.stdout, output.stderr] {
        let text = String::from_utf8(stream).unwrap();
        for line in text.split('\n') {
            assert_eq!(printable_text(line), line, "{arguments:?}: {text:?}");
        }
    }
    campaign::figure("hostile texts printed by the program", 1);
}

#[test]
fn what_was_said_is_shown_without_being_obeyed() {
    let world = World::new();
    let mut ids = Vec::new();
    for text in CORPUS {
        let said = world.stud(&["--headless", "--json", text]);
        assert_eq!(said.status, 0, "{said:#?}");
        let first: serde_json::Value =
            serde_json::from_str(said.stdout.lines().next().unwrap()).unwrap();
        ids.push(first["sessionId"].as_str().unwrap().to_owned());
    }
    prints(&world, &["sessions", "list"]);
    for id in &ids {
        prints(&world, &["sessions", "show", id]);
        prints(&world, &["sessions", "show", id, "--json"]);
        prints(&world, &["audit", "show", id]);
        prints(&world, &["audit", "show", id, "--json"]);
    }
    prints(&world, &["doctor"]);
    prints(&world, &["audit", "verify"]);
}

#[test]
fn names_are_shown_without_being_obeyed() {
    let world = World::new();
    for (number, text) in CORPUS.iter().enumerate() {
        let name = text.replace('/', "_");
        world.write(format!("project/.stud/tools/{name}.so"), "not a library");
        world.write(format!("project/.stud/{number}{name}"), "");
        world.write(format!("home/tools/{name}/lib{name}.so"), "not a library");
    }
    prints(&world, &["trust"]);
    prints(&world, &["plugin", "list"]);
    prints(&world, &["plugin", "list", "--json"]);
    prints(&world, &["doctor"]);
}

#[test]
fn arguments_are_shown_without_being_obeyed() {
    let world = World::new();
    for text in CORPUS {
        for arguments in [
            &["explain", text][..],
            &["sessions", "show", text],
            &["audit", "show", text],
            &["plugin", "check", text],
            &["--resume", text],
            &["--mode", text],
            &[text, "list"],
        ] {
            prints(&world, arguments);
        }
    }
}
