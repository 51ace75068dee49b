//! The block a person reads, drawn by annotate-snippets.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{TEXT_LIMIT, excerpt};
use crate::{Diagnostic, Severity, Source, printable_within};

/// Whether a block has terminal colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Color {
    /// Plain text.
    #[default]
    Off,
    /// ANSI colors.
    On,
}

/// Several lines with an excerpt, notes and help, without a line break at its end.
///
/// The first note says which plugin, stage and member it is about, as far as known.
pub fn full(diagnostic: &Diagnostic, color: Color) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level
        .primary_title(shown(&diagnostic.message))
        .id(diagnostic.code.to_string());
    let mut group = Group::with_title(title);
    if let Some(source) = &diagnostic.source {
        group = with_source(group, source);
    } else if let Some(path) = &diagnostic.path {
        group = group.element(Origin::path(shown(&path.to_string_lossy())));
    }
    for note in place(diagnostic).iter().chain(&diagnostic.notes) {
        group = group.element(Level::NOTE.message(shown(note)));
    }
    for help in diagnostic.all_help() {
        group = group.element(Level::HELP.message(shown(&help)));
    }
    let renderer = match color {
        Color::Off => Renderer::plain(),
        Color::On => Renderer::styled(),
    };
    let text = renderer.render(&[group]);
    if diagnostic.source.is_some() || diagnostic.path.is_some() {
        return text;
    }
    without_margin(&text)
}

/// The renderer puts an empty line of the margin below a title, also where no source follows it.
fn without_margin(text: &str) -> String {
    let lines = text.lines().enumerate();
    let kept = lines.filter(|(index, line)| *index != 1 || uncolored(line).trim() != "|");
    let kept: Vec<&str> = kept.map(|(_, line)| line).collect();
    kept.join("\n")
}

fn uncolored(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, text)| text));
    std::iter::once(first).chain(rest).collect()
}

fn with_source<'a>(mut group: Group<'a>, source: &Source) -> Group<'a> {
    let name = shown(&source.name);
    for hunk in excerpt::hunks(source) {
        let labels = hunk.labels.into_iter().map(|label| {
            let kind = if label.primary {
                AnnotationKind::Primary
            } else {
                AnnotationKind::Context
            };
            let text = (!label.text.is_empty()).then(|| shown(&label.text));
            kind.span(label.range).label(text)
        });
        group = group.element(
            Snippet::source(hunk.text)
                .path(name.clone())
                .line_start(hunk.first_line)
                .fold(false)
                .annotations(labels),
        );
    }
    group
}

fn place(diagnostic: &Diagnostic) -> Option<String> {
    let parts: Vec<_> = [
        diagnostic
            .ext_id
            .as_ref()
            .map(|id| format!("plugin `{id}`")),
        diagnostic.stage.map(|stage| format!("stage `{stage}`")),
        diagnostic
            .field_path
            .as_ref()
            .map(|field| format!("field `{field}`")),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn shown(text: &str) -> String {
    printable_within(text, TEXT_LIMIT).into_owned()
}

#[cfg(test)]
mod tests;
