//! `stud plugin install`, `update` and `remove`.

use serde_json::{Value, json};
use stud_core::audit::bootstrap::{self, Deed};
use stud_core::platform::Durability;
use stud_core::plugin_scope::Scope;
use stud_diagnostics::{Diagnostic, printable};
use stud_install::install::{Build, Installed, Installer, Request};
use stud_install::source::Profile;

use crate::cli::{Install, Update};
use crate::output::{Outcome, Output, Verdict, told};
use crate::setup;

pub(crate) fn install(asked: Install, output: &Output) -> Verdict {
    let request = Request {
        source: asked.source,
        profile: profile(asked.debug),
        expected_id: asked.id,
        expected_sha256: asked.sha256,
        config: asked.config,
        accept: asked.accept,
    };
    let installed = within(asked.project, |installer| installer.install(&request))?;
    if output.is_json() {
        output.document(&installed)?;
    } else {
        tell(&installed, output);
    }
    Ok(Outcome::Done)
}

pub(crate) fn update(asked: Update, output: &Output) -> Verdict {
    let profile = profile(asked.debug);
    if let Some(id) = &asked.id {
        let build = match asked.from {
            Some(source) => Build::Of(source),
            None if asked.previous => Build::Previous,
            None => Build::OfItsSource,
        };
        let installed = within(asked.project, |installer| {
            installer.update(id, &build, profile, asked.accept)
        })?;
        if output.is_json() {
            output.document(&installed)?;
        } else {
            tell(&installed, output);
        }
        return Ok(Outcome::Done);
    }
    // One that cannot be updated does not stop the others.
    let outcomes = within(asked.project, |installer| {
        let ids = installer.installed()?.into_iter();
        let update = |id: String| {
            let done = installer.update(&id, &Build::OfItsSource, profile, false);
            (id, done)
        };
        Ok(ids.map(update).collect::<Vec<_>>())
    })?;
    let refused = outcomes.iter().any(|(_, done)| done.is_err());
    if output.is_json() {
        let plugins: Vec<Value> = outcomes
            .iter()
            .map(|(id, done)| match done {
                Ok(installed) => json!({"extId": id, "installed": installed}),
                Err(why) => json!({"extId": id, "error": why}),
            })
            .collect();
        output.document(&json!({ "plugins": plugins }))?;
    } else {
        if outcomes.is_empty() {
            output.line("no plugin was installed with `stud plugin install`");
        }
        for (_, done) in &outcomes {
            match done {
                Ok(installed) => tell(installed, output),
                Err(why) => output.show(why),
            }
        }
    }
    Ok(if refused {
        Outcome::Refused
    } else {
        Outcome::Done
    })
}

pub(crate) fn remove(id: &str, project: bool, output: &Output) -> Verdict {
    let removed = within(project, |installer| installer.remove(id))?;
    if output.is_json() {
        output.document(&removed)?;
        return Ok(Outcome::Done);
    }
    let kept = removed.kept.display().to_string();
    output.line(format!("{id} was removed from the {} scope", removed.scope));
    if !removed.dependents.is_empty() {
        let dependents = removed.dependents.join(", ");
        output.line(format!(
            "without it these are refused: {}",
            printable(&dependents)
        ));
    }
    output.line(format!(
        "its files are kept: `stud plugin install {}` brings it back",
        printable(&kept)
    ));
    Ok(Outcome::Done)
}

fn profile(debug: bool) -> Profile {
    if debug {
        Profile::Debug
    } else {
        Profile::Release
    }
}

/// Runs `work` with an installer of the global scope or of the project.
pub(super) fn within<T>(
    project: bool,
    work: impl FnOnce(&Installer<'_>) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let scope = if project {
        Scope::Project
    } else {
        Scope::Global
    };
    let (ground, means) = setup::ground()?;
    let record = |kind: &'static str, facts: Value| {
        let root = &ground.places.global_root;
        bootstrap::note(root, &[Deed::new(kind, facts)], Durability::Synced).map_err(told)
    };
    work(&Installer::new(&ground, &means, scope, &record)?)
}

pub(super) fn tell(installed: &Installed, output: &Output) {
    let Installed {
        ext_id,
        version,
        kind,
        scope,
        ..
    } = installed;
    let what = match &installed.replaced {
        _ if installed.reused => {
            format!("{ext_id} {version} is installed already; nothing changed")
        }
        Some(before) => format!("{ext_id} {before} was replaced by {version}"),
        None => format!("installed the {kind} {ext_id} {version} in the {scope} scope"),
    };
    output.line(what);
    let path = installed.installed_path.display().to_string();
    output.line(format!("  {}", printable(&path)));
    output.line(format!("  sha256 {}", installed.sha256));
    if !installed.reused {
        for line in installed.rights.lines() {
            output.line(format!("  declares {}", printable(&line)));
        }
        for line in installed.widened.lines() {
            output.line(format!("  accepted {}", printable(&line)));
        }
    }
    for diagnostic in &installed.diagnostics {
        output.line("");
        output.show(diagnostic);
    }
}
