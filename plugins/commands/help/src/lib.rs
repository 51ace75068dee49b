//! `/help`: which commands there are, and what each does.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use stud_sdk::command::{Rendered, command};
use stud_sdk::host::commands::CommandRef;
use stud_sdk::{Config, Cx, CxExt as _, Result};

/// How commands are listed.
#[derive(Config)]
struct Options {
    /// Whether commands stand under the headings of their categories.
    #[stud(default = false)]
    group_by_category: bool,
}

/// The heading of commands that have none.
const UNCATEGORIZED: &str = "uncategorized";

/// Lists the commands.
#[command(id = "help", name = "help", category = "system", turn_safe, config = Options)]
fn help(cx: &Cx) -> Result<Rendered> {
    let options: Options = cx.config()?;
    let mut commands = cx.host().commands().list()?;
    commands.sort_by(|one, other| one.name.cmp(&other.name));
    if commands.is_empty() {
        return Ok("There are no commands.".into());
    }
    if !options.group_by_category {
        return Ok(lines(&commands).into());
    }
    let mut groups: BTreeMap<String, Vec<CommandRef>> = BTreeMap::new();
    for command in commands {
        let heading = command.category.clone();
        let heading = heading.unwrap_or_else(|| UNCATEGORIZED.to_owned());
        groups.entry(heading).or_default().push(command);
    }
    let groups = groups.iter();
    let groups = groups.map(|(heading, commands)| format!("{heading}\n{}", lines(commands)));
    Ok(groups.collect::<Vec<_>>().join("\n\n").into())
}

fn lines(commands: &[CommandRef]) -> String {
    let line = |command: &CommandRef| {
        let CommandRef {
            name,
            description,
            source,
            ..
        } = command;
        format!("/{name:<24}{description} [{source}]")
    };
    commands.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use stud_sdk::host::commands::CommandResult;
    use stud_sdk::json;
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    fn knowing(commands: &[(&str, Option<&str>)]) -> FakeHost {
        commands
            .iter()
            .fold(FakeHost::new(), |host, (name, category)| {
                let command = CommandRef {
                    name: (*name).to_owned(),
                    description: format!("Does {name}."),
                    category: category.map(str::to_owned),
                    source: format!("{name}-plugin"),
                    ..CommandRef::default()
                };
                let result = CommandResult::Done {
                    rendered: String::new(),
                    payload: None,
                };
                host.command(command, result)
            })
    }

    fn shown(host: FakeHost) -> String {
        let harness = Harness::new(stud_plugin(), host);
        harness.command("help", "").unwrap().rendered
    }

    #[test]
    fn commands_are_listed_by_name() {
        let host = knowing(&[("zoom", None), ("ask", Some("tools"))]);
        assert_eq!(
            shown(host),
            "/ask                     Does ask. [ask-plugin]\n/zoom                    Does zoom. [zoom-plugin]"
        );
    }

    #[test]
    fn headings_are_in_order_and_nobody_is_without_one() {
        let host = knowing(&[("c", Some("tools")), ("b", None), ("a", Some("model"))]);
        let host = host.config(json!({"groupByCategory": true}));
        let shown = shown(host);
        let first: Vec<&str> = shown
            .lines()
            .map(|line| line.split(' ').next().unwrap_or_default())
            .collect();
        assert_eq!(
            first,
            ["model", "/a", "", "tools", "/c", "", "uncategorized", "/b"]
        );
    }

    #[test]
    fn no_commands_are_no_mystery() {
        assert_eq!(shown(FakeHost::new()), "There are no commands.");
    }
}
