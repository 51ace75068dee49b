//! Commands: functions, sets of them, structs.

use stud_sdk::json;
use stud_sdk::testing::{FakeHost, Harness};

mod set {
    use stud_sdk::command::Completion;
    use stud_sdk::prelude::*;

    #[derive(Args)]
    struct Depth {
        /// What to review.
        target: String,
        /// How deep to look.
        #[stud(default = 1)]
        depth: u32,
    }

    /// Reviews something.
    #[command(part, argument_hint = "<target>", category = "work", complete = targets)]
    fn review_it(input: Depth) -> String {
        format!("{} at {}", input.target, input.depth)
    }

    fn targets(draft: &str, _cursor: usize) -> Vec<Completion> {
        vec![Completion {
            label: "main".to_owned(),
            replacement: format!("{draft}main"),
            ..Completion::default()
        }]
    }

    /// Lists what there is.
    #[command(part, turn_safe)]
    async fn list() -> Result<Rendered> {
        Ok(Rendered::from("nothing").with_payload(0))
    }

    /// Says it again.
    #[command(part)]
    fn say(input: RawArgs) -> Result<String, Error> {
        match input.positional.as_slice() {
            [] => Err(Error::invalid_input("say what?")),
            words => Ok(words.join(" ")),
        }
    }

    commands! {
        id = "work",
        description = "Commands for work.",
        commands = [review_it, list, say],
        interactions("Confirm"),
    }
}

#[test]
fn what_is_typed_arrives_in_its_type() {
    let harness = Harness::new(set::stud_plugin(), FakeHost::new());
    assert_eq!(
        harness
            .command("review-it", "main --depth=3")
            .unwrap()
            .rendered,
        "main at 3"
    );
    assert_eq!(
        harness.command("review-it", "main").unwrap().rendered,
        "main at 1"
    );
    assert_eq!(
        harness.command("list", "all of it").unwrap().payload,
        Some(json!(0))
    );
    assert_eq!(harness.command("say", "a b").unwrap().rendered, "a b");
    assert_eq!(
        harness.command("say", "").unwrap_err().message(),
        "say what?"
    );
    assert_eq!(
        harness.command("review-it", "").unwrap_err().code(),
        "ShapeInvalid"
    );
    assert_eq!(
        harness.command("reveiw", "").unwrap_err().code(),
        "NotImplemented"
    );
}

#[test]
fn drafts_are_completed() {
    let harness = Harness::new(set::stud_plugin(), FakeHost::new());
    assert_eq!(
        harness.complete("review-it", "/review-it ").unwrap()[0].replacement,
        "/review-it main"
    );
    assert!(harness.complete("list", "/list").unwrap().is_empty());
}

#[test]
fn the_manifest_of_a_set() {
    let harness = Harness::new(set::stud_plugin(), FakeHost::new());
    let commands = &harness.manifest()["commands"];
    assert_eq!(commands[0]["argumentHint"], "<target>");
    assert_eq!(commands[0]["category"], "work");
    assert_eq!(commands[0]["turnSafe"], false);
    assert_eq!(commands[1]["turnSafe"], true);
    assert_eq!(commands[1]["argsSchema"], json!({"type": "object"}));
    assert_eq!(harness.manifest()["reloadBehavior"], "in-turn");
    assert_eq!(
        harness.manifest()["configSchema"]["properties"]["alias"]["type"],
        "array"
    );
}

mod theme {
    use stud_sdk::prelude::*;

    /// Shows the theme.
    #[command(reload = "between-turns")]
    #[derive(Default)]
    struct Theme {
        name: String,
    }

    impl Command for Theme {
        type Args = RawArgs;

        async fn run(&self, args: RawArgs, _cx: &Cx) -> Result<Rendered> {
            Ok(format!("{}{}", self.name, args.raw).into())
        }
    }
}

#[test]
fn a_struct_is_a_command() {
    let harness = Harness::new(theme::stud_plugin(), FakeHost::new());
    assert_eq!(harness.command("theme", "dark").unwrap().rendered, "dark");
    assert_eq!(harness.manifest()["reloadBehavior"], "between-turns");
}
