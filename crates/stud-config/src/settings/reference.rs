//! The pages that describe every setting, made from their declarations: by section, and as one list.

use std::fmt::Write as _;

use stud_contract_meta::Kind;

use super::table::{Declaration, Section, sections};
use super::value::Type;

const OPENING: &str = "\
# Settings

Every setting of stud's own, with the default that holds when no file sets it.
This page is generated from the declarations in `crates/stud-config/src/settings/table.rs`; change those, and run `cargo xtask codegen`.

Settings stand in `settings.json` in `~/.stud` and in a trusted project's `.stud`; the project's go before the global ones.
[README.md](README.md#settings) says how scopes are combined and what happens to a value that does not fit, and `stud doctor` shows the values in force and the files they came from.
";

const INDEX_OPENING: &str = "\
# Settings

Every setting of stud's own in byte order, each with its default.
This page is generated from the declarations in `crates/stud-config/src/settings/table.rs`; change those, and run `cargo xtask codegen`.

[The page for operators](../operator/settings.md) has them by section.

| Setting | Value | Default | Description |
|---|---|---|---|
";

/// All settings in one table, as Markdown.
pub fn index() -> String {
    let mut rows: Vec<String> = sections()
        .flat_map(|section| {
            let path = path(section);
            let settings = section.settings.iter();
            settings.map(move |setting| row(&path, setting))
        })
        .collect();
    rows.sort_unstable();
    format!("{INDEX_OPENING}{}\n", rows.join("\n"))
}

/// The reference of all settings by section, as Markdown.
pub fn reference() -> String {
    let mut page = OPENING.to_owned();
    for section in sections() {
        add(&mut page, section);
    }
    page.push_str("\n## Plugins\n\nThe config of each plugin, by its id. `stud plugin info ID` shows the schema it has to fit.\n\n");
    page.push_str("| Setting | Category |\n|---|---|\n");
    for kind in Kind::ALL {
        line(
            &mut page,
            format_args!("| `{}.ID` | {} |", kind.settings_key(), kind.as_str()),
        );
    }
    page
}

fn add(page: &mut String, section: &Section) {
    let path = path(section);
    line(
        page,
        format_args!("\n## `{path}`\n\n{}", joined(section.about)),
    );
    if section.settings.is_empty() {
        return;
    }
    page.push_str("\n| Setting | Value | Default | Description |\n|---|---|---|---|\n");
    for setting in section.settings {
        line(page, format_args!("{}", row(&path, setting)));
    }
}

/// Where the settings of a section stand.
fn path(section: &Section) -> String {
    match section.group {
        Some(group) => format!("{}.{group}", section.key),
        None => section.key.to_owned(),
    }
}

fn row(path: &str, setting: &Declaration) -> String {
    let default = (setting.default)();
    let default = default.map_or_else(|| "none".to_owned(), |value| format!("`{value}`"));
    let (key, value, doc) = (setting.key, described(setting), joined(setting.doc));
    format!("| `{path}.{key}` | {value} | {default} | {doc} |")
}

fn described(setting: &Declaration) -> String {
    let min = setting.min;
    match setting.kind {
        Type::Count => format!("whole number, {min} or more"),
        Type::Millis => format!("milliseconds, {min} or more"),
        Type::Share => "part of the window: `0.8`, or `80` for 80 percent".to_owned(),
        Type::Name => "name".to_owned(),
        Type::Names => "list of names".to_owned(),
        Type::OneOf(words) => format!("`{}`", words.join("`, `")),
        Type::Flag => "`true` or `false`".to_owned(),
        Type::Json => "see the description".to_owned(),
    }
}

/// The lines of a doc comment as one.
fn joined(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ")
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(page, "{text}");
}
