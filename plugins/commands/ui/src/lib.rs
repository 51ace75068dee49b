//! `/ui`: which screens take part in the session.
#![forbid(unsafe_code)]

use stud_sdk::command::{Rendered, command};
use stud_sdk::host::metrics::UiInfo;
use stud_sdk::{Cx, Result, json};

/// Lists the UIs that take part, and what each does.
#[command(id = "ui", name = "ui", category = "system", turn_safe)]
fn ui(cx: &Cx) -> Result<Rendered> {
    let snapshot = cx.host().metrics().snapshot()?;
    let active = snapshot.ui.items.iter().filter(|ui| ui.active);
    let mut uis: Vec<&UiInfo> = active.collect();
    uis.sort_by(|one, other| one.id.cmp(&other.id));
    let payload = json!({"uis": uis});
    if uis.is_empty() {
        return Ok(Rendered::from("There are no UIs.").with_payload(payload));
    }
    let rows: Vec<Vec<String>> = uis.iter().map(|ui| row(ui)).collect();
    let count = columns::counted(uis.len() as u64, "UI");
    let shown = format!("{}\n{count}.", columns::lined_up(&rows));
    Ok(Rendered::from(shown).with_payload(payload))
}

fn row(ui: &UiInfo) -> Vec<String> {
    let target = ui.target_ui.as_ref();
    let target = target.map(|target| format!("in {target}"));
    vec![
        ui.id.clone(),
        ui.roles.join(", "),
        target.unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use stud_sdk::host::metrics::RuntimeSnapshot;
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    fn shown(uis: Vec<UiInfo>) -> Rendered {
        let mut snapshot = RuntimeSnapshot::default();
        snapshot.ui.items = uis;
        let host = FakeHost::new();
        host.push_snapshot(snapshot);
        let harness = Harness::new(stud_plugin(), host);
        harness.command("ui", "").unwrap()
    }

    fn named(id: &str, roles: &[&str], active: bool) -> UiInfo {
        UiInfo {
            id: id.to_owned(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            active,
            ..UiInfo::default()
        }
    }

    #[test]
    fn those_that_take_part_are_listed_with_their_roles() {
        let panel = UiInfo {
            target_ui: Some("line-ui".to_owned()),
            ..named("panel", &["region"], true)
        };
        let shown = shown(vec![
            panel,
            named("line-ui", &["subscriber", "interactor"], true),
            named("away", &["interactor"], false),
        ]);
        assert_eq!(
            shown.rendered,
            "line-ui  subscriber, interactor\n\
             panel    region                  in line-ui\n\
             2 UIs."
        );
        let payload = shown.payload.unwrap();
        assert_eq!(payload["uis"][0]["id"], "line-ui");
        assert_eq!(payload["uis"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn a_session_without_any_says_so() {
        assert_eq!(shown(Vec::new()).rendered, "There are no UIs.");
    }
}
