//! A UI: at least one role, and for each role what it is performed with.

use serde_json::Value;
use stud_contract_meta::{Manifest, ReloadBehavior};
use stud_diagnostics::{Diagnostic, codes};

use super::{Members, read};
use crate::validate::document::{Document, invalid, join, suggest};

const ROLES: [&str; 3] = ["subscriber", "interactor", "region"];

/// What a role is performed with: the handler's name in the manifest.
pub(crate) fn handler_of(role: &str) -> Option<&'static str> {
    match role {
        "subscriber" => Some("onEvent"),
        "interactor" => Some("onInteraction"),
        _ => None,
    }
}

pub(super) fn check(
    document: &Document<'_>,
    manifest: &Manifest,
) -> Result<(Members, Vec<Diagnostic>), Diagnostic> {
    if manifest.reload_behavior != ReloadBehavior::BetweenTurns {
        return Err(document.invalid("reloadBehavior", "`between-turns` for a UI"));
    }
    let roles = read_roles(document)?;
    let regions = read_regions(document)?;
    let missing: Vec<(usize, &str)> = roles
        .iter()
        .enumerate()
        .filter(|(_, role)| match handler_of(role) {
            Some(handler) => !manifest.handlers.iter().any(|declared| declared == handler),
            None => regions == 0,
        })
        .map(|(index, role)| (index, *role))
        .collect();
    if let Some(((index, role), rest)) = missing.split_first() {
        return Err(role_missing(document, *index, role, rest));
    }
    let warnings = unused(document, manifest, &roles);
    Ok((Members::Ui(read(document)?), warnings))
}

fn read_roles<'a>(document: &Document<'a>) -> Result<Vec<&'a str>, Diagnostic> {
    let expected = format!("a list with at least one of {}", join(&ROLES));
    let Some(Value::Array(items)) = document.members.get("roles") else {
        return Err(document.invalid("roles", &expected));
    };
    if items.is_empty() {
        return Err(document.invalid("roles", &expected));
    }
    let mut roles: Vec<&str> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let pointer = format!("/roles/{index}");
        let at = |expected: &str| {
            invalid(
                document.provenance,
                document.stage,
                &pointer,
                expected,
                Some(item),
            )
            .with("field", "roles")
        };
        let one_of = format!("one of {}", join(&ROLES));
        let Some(role) = item.as_str() else {
            return Err(at(&one_of));
        };
        if !ROLES.contains(&role) {
            return Err(suggest(at(&one_of).with("role", role), role, &ROLES));
        }
        if roles.contains(&role) {
            return Err(at("a role not yet named").with("role", role));
        }
        roles.push(role);
    }
    Ok(roles)
}

/// How many regions there are, each with what the target UI needs to place it.
fn read_regions(document: &Document<'_>) -> Result<usize, Diagnostic> {
    let items = document.list("regions", "a list of region contributions")?;
    for (index, item) in items.iter().enumerate() {
        let region = Document::new(
            document.provenance,
            document.stage,
            format!("/regions/{index}"),
            item,
        )?;
        region.words("id", "the contribution's id")?;
        region.words("region", "the name of a region of the target UI")?;
        region.word("mode", &["replace", "append", "decorate"], |mode| {
            matches!(mode, "replace" | "append" | "decorate").then_some(())
        })?;
    }
    Ok(items.len())
}

fn role_missing(
    document: &Document<'_>,
    index: usize,
    role: &str,
    rest: &[(usize, &str)],
) -> Diagnostic {
    let needed = |role: &str| match handler_of(role) {
        Some(handler) => format!("`{handler}`"),
        None => "an entry in `regions`".to_owned(),
    };
    let mut diagnostic = document
        .provenance
        .error(
            document.stage,
            &codes::UI_ROLE_HANDLER_MISSING,
            format!("role `{role}` has no handler: {} is missing", needed(role)),
        )
        .field(format!("/roles/{index}"))
        .with("role", role);
    for (_, other) in rest {
        diagnostic = diagnostic.note(format!("the role `{other}` lacks {} too", needed(other)));
    }
    diagnostic.help(format!(
        "author: implement `{}` for the UI, or drop the role",
        match role {
            "subscriber" => "Subscriber",
            "interactor" => "Interactor",
            _ => "Region",
        }
    ))
}

/// Handlers without their role are accepted and never called; that deserves a word.
fn unused(document: &Document<'_>, manifest: &Manifest, roles: &[&str]) -> Vec<Diagnostic> {
    ROLES
        .iter()
        .filter(|role| !roles.contains(role))
        .map(|role| (role, handler_of(role).unwrap_or("renderRegion")))
        .filter(|(_, handler)| manifest.handlers.iter().any(|declared| declared == handler))
        .map(|(role, handler)| {
            document
                .provenance
                .error(
                    document.stage,
                    &codes::UI_ROLE_HANDLER_MISSING,
                    format!("the handler `{handler}` is never called without the role `{role}`"),
                )
                .field("/handlers")
                .with("role", *role)
                .with("handler", handler)
                .help(format!(
                    "author: add the role `{role}`, or remove the handler"
                ))
        })
        .collect()
}
