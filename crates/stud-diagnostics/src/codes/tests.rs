//! The registry and its pages agree.

use std::collections::BTreeSet;
use std::path::Path;

use super::ALL;
use crate::Class;

const HEADINGS: [&str; 4] = ["## What happened", "## Example", "## Fix", "## See also"];

#[test]
fn the_registry_is_alphabetical_and_without_repeats() {
    for class in Class::ALL {
        let names: Vec<_> = ALL
            .iter()
            .filter(|code| code.class == class)
            .map(|code| code.name)
            .collect();
        assert!(
            names.is_sorted_by(|left, right| left < right),
            "{class}: {names:?}"
        );
    }
    assert!(ALL.is_sorted_by_key(|code| code.class));
}

#[test]
fn every_page_belongs_to_a_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("pages");
    let known: BTreeSet<_> = ALL.iter().map(|code| format!("{code}.md")).collect();
    let mut found = BTreeSet::new();
    for class in std::fs::read_dir(&root).expect("pages are there") {
        let class = class.expect("it is readable").path();
        for page in std::fs::read_dir(class).expect("it is a folder") {
            let page = page.expect("it is readable").path();
            let page = page.strip_prefix(&root).expect("it is below the root");
            found.insert(page.to_string_lossy().replace('\\', "/"));
        }
    }
    assert_eq!(found, known);
}

#[test]
fn every_page_has_the_fixed_form() {
    for code in ALL {
        let lines: Vec<_> = code.page.lines().collect();
        assert!(lines.len() < 60, "{code}: {} lines", lines.len());
        assert_eq!(lines[0], code.summary, "{code}");
        assert!(is_one_sentence(code.summary), "{code}: {}", code.summary);
        let mut is_code = false;
        let headings = lines.iter().filter(|line| {
            is_code ^= line.starts_with("```");
            !is_code && line.starts_with('#')
        });
        let headings: Vec<_> = headings.collect();
        assert_eq!(headings, HEADINGS.iter().collect::<Vec<_>>(), "{code}");
        for heading in HEADINGS {
            let body = lines.iter().skip_while(|line| **line != heading).skip(1);
            let mut body = body.take_while(|line| !line.starts_with("## "));
            assert!(
                body.any(|line| !line.is_empty()),
                "{code}: {heading} is empty"
            );
        }
        // A failure before there is a session is one line of JSON, with the class and the code apart.
        let apart = format!(
            r#""class":"{}","code":"{}""#,
            code.class.as_str(),
            code.name
        );
        assert!(
            code.page.contains(&code.to_string()) || code.page.contains(&apart),
            "{code} does not name itself"
        );
    }
}

#[test]
fn every_example_is_a_block() {
    for code in ALL {
        let example = code.page.split(HEADINGS[1]).nth(1).unwrap_or_default();
        let example = example.split(HEADINGS[2]).next().unwrap_or_default();
        let fences: Vec<_> = example
            .lines()
            .filter(|line| line.starts_with("```"))
            .collect();
        let opened = fences.iter().step_by(2);
        assert!(
            !fences.is_empty() && fences.len().is_multiple_of(2),
            "{code}"
        );
        for fence in opened {
            assert!(
                matches!(
                    *fence,
                    "```json" | "```text" | "```console" | "```rust,should_panic"
                ),
                "{code}: {fence}"
            );
        }
        // These show a file that is not JSON.
        let shows_damage = [
            "Session/ProjectTrustRequired",
            "Session/TrustStoreUnavailable",
            "Validation/SettingsShapeInvalid",
        ];
        if shows_damage.contains(&&*code.to_string()) {
            continue;
        }
        for block in example.split("```json\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            check_json(&code.to_string(), block);
        }
    }
}

#[test]
fn every_code_a_page_names_exists() {
    let known: BTreeSet<_> = ALL.iter().map(ToString::to_string).collect();
    for code in ALL {
        let words = code
            .page
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '/');
        for word in words {
            let Some((class, name)) = word.split_once('/') else {
                continue;
            };
            if class.parse::<Class>().is_ok() && !name.is_empty() {
                assert!(known.contains(word), "{code} names {word}");
            }
        }
    }
}

fn is_one_sentence(line: &str) -> bool {
    line.ends_with('.') && line.matches(". ").count() == 0 && line.starts_with(char::is_uppercase)
}

#[cfg(feature = "diagnostic")]
fn check_json(code: &str, block: &str) {
    let value: Result<serde_json::Value, _> = serde_json::from_str(block);
    assert!(value.is_ok(), "{code}: {value:?}\n{block}");
}

#[cfg(not(feature = "diagnostic"))]
fn check_json(_code: &str, _block: &str) {}
