//! Codes laid out into a small registry, and what the checks then say.

use super::{check_summary, lay_out, parse};
use crate::failure::Failure;
use crate::registry::{self, REGISTRY};
use crate::scratch::Scratch;

const SMALL: &str = "\
codes! {
    Validation {
        /// The manifest is missing.
        ManifestMissing => MANIFEST_MISSING, since \"0.1.0\";
        /// The target differs.
        TargetMismatch => TARGET_MISMATCH,
            since \"0.1.0\";
    }
    Session {
        /// It is closed.
        Closed => CLOSED, since \"0.1.0\";
    }
}
";

fn registry_after(id: &str) -> String {
    let scratch = Scratch::with(&[(REGISTRY, SMALL)]);
    lay_out(scratch.path(), id, "It went wrong.", "0.2.0").unwrap();
    scratch.read(REGISTRY)
}

#[track_caller]
fn stands_between(id: &str, above: &str, below: &str) {
    let registry = registry_after(id);
    let name = id.split('/').next_back().unwrap();
    let constant = registry::constant_for(name);
    let entry =
        format!("        /// It went wrong.\n        {name} => {constant}, since \"0.2.0\";\n");
    let expected = format!("{above}\n{entry}{below}");
    assert!(registry.contains(&expected), "{registry}");
    assert_eq!(registry::parse(&registry).len(), 4, "{registry}");
}

#[test]
fn the_entry_goes_to_its_alphabetical_place() {
    stands_between(
        "Validation/EntryMissing",
        "    Validation {",
        "        /// The manifest is missing.",
    );
    stands_between(
        "Validation/ShapeInvalid",
        "MANIFEST_MISSING, since \"0.1.0\";",
        "        /// The target differs.",
    );
    stands_between(
        "Validation/UnknownFlag",
        "            since \"0.1.0\";",
        "    }",
    );
}

#[test]
fn a_class_without_codes_goes_to_its_place_too() {
    stands_between(
        "ToolTerminal/NotFound",
        "    }\n    ToolTerminal {",
        "    }\n    Session {",
    );
    stands_between(
        "ExtensionHost/NotReady",
        "    }\n    ExtensionHost {",
        "    }\n}",
    );
}

#[test]
fn page_and_case_are_written_and_are_not_finished() {
    let scratch = Scratch::with(&[(REGISTRY, SMALL)]);
    let id = "Session/NotFound";
    let written = lay_out(scratch.path(), id, "There is no such session.", "0.1.0").unwrap();
    assert_eq!(
        written,
        [
            REGISTRY.to_owned(),
            registry::page_path(id),
            registry::case_path(id)
        ]
    );
    let page = scratch.read(&registry::page_path(id));
    assert!(page.starts_with("There is no such session.\n"), "{page}");
    let headings: Vec<_> = page.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(
        headings,
        ["## What happened", "## Example", "## Fix", "## See also"]
    );
    assert!(page.contains("TODO"), "{page}");
    assert!(scratch.read(&registry::case_path(id)).contains("TODO"));
}

#[test]
fn nothing_is_written_over_and_no_name_is_used_twice() {
    let page = registry::page_path("Session/NotFound");
    let scratch = Scratch::with(&[(REGISTRY, SMALL), (&page, "precious")]);
    let again = |id| lay_out(scratch.path(), id, "It went wrong.", "0.1.0");
    assert!(matches!(again("Session/NotFound"), Err(Failure::Failed(_))));
    assert!(matches!(
        again("Validation/Closed"),
        Err(Failure::Failed(_))
    ));
    assert_eq!(scratch.read(&page), "precious");
    assert_eq!(scratch.read(REGISTRY), SMALL);
}

#[test]
fn a_code_is_a_class_and_a_name() {
    assert!(parse("Session/NotFound").is_ok());
    for wrong in [
        "NotFound",
        "Sesion/NotFound",
        "Session/not_found",
        "Session/",
    ] {
        assert!(matches!(parse(wrong), Err(Failure::Usage(_))), "{wrong}");
    }
}

#[test]
fn a_summary_is_one_sentence() {
    assert!(check_summary("The manifest is missing.").is_ok());
    for wrong in ["the manifest is missing.", "Missing", "It is. It was.", ""] {
        assert!(check_summary(wrong).is_err(), "{wrong}");
    }
}
