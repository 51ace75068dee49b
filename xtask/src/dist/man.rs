//! Manual pages, made of the program's own help.

use std::fmt::Write as _;

use crate::failure::Failure;

/// One page for the program and one for each verb: a name such as `stud-plugin-install`, and the text.
pub(super) fn pages(
    version: &str,
    help: impl Fn(&[&str]) -> Result<String, Failure>,
) -> Result<Vec<(String, String)>, Failure> {
    let mut pages = Vec::new();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(words) = open.pop() {
        let text = help(&words.iter().map(String::as_str).collect::<Vec<_>>())?;
        for verb in verbs(&text) {
            open.push(words.iter().cloned().chain([verb]).collect());
        }
        let name = ["stud".to_owned()]
            .into_iter()
            .chain(words)
            .collect::<Vec<_>>();
        pages.push((name.join("-"), page(&name.join(" "), version, &text)));
    }
    pages.sort();
    Ok(pages)
}

/// The verbs below `Commands:`, without `help`.
fn verbs(help: &str) -> Vec<String> {
    let listed = help.split("Commands:\n").nth(1).unwrap_or_default();
    listed
        .lines()
        .take_while(|line| !line.trim().is_empty())
        // What a verb does may continue further to the right.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .map(str::to_owned)
        .collect()
}

fn page(name: &str, version: &str, help: &str) -> String {
    let (about, rest) = help.split_once("\nUsage:").unwrap_or((help, ""));
    let first = about
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches('.');
    let mut page = format!(
        ".TH \"{}\" 1 \"\" \"stud {version}\" \"stud\"\n.SH NAME\n{} \\- {}\n.SH DESCRIPTION\n",
        name.replace(' ', "-").to_uppercase(),
        name.replace(' ', "\\-"),
        escaped(first),
    );
    for line in about.lines() {
        page.push_str(&escaped(line));
        page.push('\n');
    }
    // Options and examples keep their columns.
    let _ = writeln!(page, ".SH SYNOPSIS\n.nf");
    for line in rest.lines() {
        page.push_str(&escaped(line));
        page.push('\n');
    }
    page.push_str(".fi\n");
    page
}

/// A line in which nothing is a request to the formatter.
fn escaped(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-");
    match text.chars().next() {
        Some('.' | '\'') => format!("\\&{text}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::pages;

    #[test]
    fn every_verb_has_a_page() {
        let help = |words: &[&str]| {
            Ok(match words {
                [] => "Talks.\n\nUsage: stud\n\nCommands:\n  plugin  About plugins\n             and more\n  help    Help\n\nOptions:\n  --json\n",
                ["plugin"] => "Plugins.\n\nUsage: stud plugin\n\nCommands:\n  list  Lists\n",
                _ => "Lists.\n.dangerous\n\nUsage: stud plugin list\n",
            }
            .to_owned())
        };
        let pages = pages("1.0.0", help).unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["stud", "stud-plugin", "stud-plugin-list"]);
        assert!(pages[2].1.contains("\n\\&.dangerous\n"), "{}", pages[2].1);
        assert!(pages[0].1.starts_with(".TH \"STUD\" 1"), "{}", pages[0].1);
    }
}
