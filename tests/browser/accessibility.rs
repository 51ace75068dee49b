//! What axe finds wrong with the page: nothing serious.

use stud_tests::{World, target_folder};

use crate::driver::{Browser, is_here};
use crate::page::{opened, say};

/// The checker, as `cargo xtask test` has installed it.
fn axe() -> Option<String> {
    let target = target_folder();
    let path = target
        .parent()?
        .join("axe/node_modules/axe-core/axe.min.js");
    let found = std::fs::read_to_string(path).ok();
    if found.is_none() {
        println!(
            "NOT TESTED: `axe-core` is not installed; `cargo xtask test` does that where it may"
        );
    }
    found
}

fn find_nothing(browser: &Browser, axe: &str, what: &str) {
    browser.run(axe);
    let found = browser.run_async(
        "const done = arguments[arguments.length - 1];\
         axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations\
         .filter((v) => ['serious', 'critical'].includes(v.impact))\
         .map((v) => v.id + ': ' + v.nodes.map((n) => n.html).join(' | '))), (e) => done([String(e)]));",
    );
    assert_eq!(found, serde_json::json!([]), "{what}");
}

#[test]
fn axe_finds_nothing_serious() {
    let Some(axe) = is_here().then(axe).flatten() else {
        return;
    };
    let world = World::with_fixture_tools();
    let served = world.serve();
    let browser = opened(&served);
    find_nothing(&browser, &axe, "the welcome");
    say(&browser, "# A heading with `code`\n");
    browser.wait("document.querySelector('.assistant.done')");
    say(
        &browser,
        r#"!tool fx_form {"schema":{"type":"form","fields":[{"id":"a","type":"text","label":"A","required":true},{"id":"r","type":"radio","label":"R","options":[{"value":"x","label":"X"}]}]}}"#,
    );
    browser.wait("document.querySelector('.prompt-form')");
    find_nothing(&browser, &axe, "a form");
    browser.type_into(".prompt-form input[type=text]", "x\u{e007}");
    browser.wait("document.querySelector('.completed')");
    say(&browser, r#"!tool bash {"command":"echo \u202e"}"#);
    browser.wait("document.querySelector('.prompt-card')");
    find_nothing(&browser, &axe, "an approval");
    browser.click("#theme");
    find_nothing(&browser, &axe, "an approval in the other colors");
}
