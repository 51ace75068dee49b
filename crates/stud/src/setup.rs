//! What every verb that looks at plugins starts from.

use std::sync::Arc;

use stud_core::environment::Environment;
use stud_core::host::Hosts;
use stud_core::limits::Limits;
use stud_core::platform::Places;
use stud_core::register::PluginRuntime;
use stud_diagnostics::{Diagnostic, codes};

use crate::bundled;

pub(crate) fn places() -> Result<Places, Diagnostic> {
    let places = Places::of_process().map_err(|error| {
        Diagnostic::error(
            &codes::STARTUP_FAILURE,
            format!("the current folder cannot be found: {error}"),
        )
        .help("change to a folder that exists")
    })?;
    places.ok_or_else(|| {
        let message =
            "stud has no home: `STUD_HOME`, or `HOME` if that is not set, is not an absolute path";
        Diagnostic::error(&codes::HOME_MISSING, message)
            .note("a relative path would let the current folder decide what stud loads")
            .help(
                "set `HOME` to your home folder, or `STUD_HOME` to the absolute path of stud's own",
            )
    })
}

/// The ground of this run, and the means to run plugins on it outside any session.
pub(crate) fn ground() -> Result<(Environment, PluginRuntime), Diagnostic> {
    let ground = Environment::survey(places()?, bundled::plugins())?;
    let means = means(&ground);
    Ok((ground, means))
}

/// The means to run plugins outside any session.
pub(crate) fn means(ground: &Environment) -> PluginRuntime {
    PluginRuntime {
        hosts: Arc::new(Hosts::detached(ground)),
        limits: Limits::default(),
    }
}
