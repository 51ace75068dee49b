//! `stud plugin`: everything about plugins.

mod check;
mod conformance;
pub(crate) mod list;
mod info;
mod new;
mod pin;
mod install;
mod dev;
mod switch;
mod bisect;

use crate::cli::PluginVerb;
use crate::control;
use crate::output::{Output, Verdict};

pub(crate) fn run(verb: PluginVerb, output: &Output) -> Verdict {
    match verb {
        PluginVerb::List => list::run(output),
        PluginVerb::Info { id } => info::run(&id, output),
        PluginVerb::Check {
            path,
            no_load,
            conformance,
        } => match (conformance.conformance, &conformance.inside) {
            (false, _) => check::run(&path, no_load, output),
            (true, None) => conformance::run(&path, &conformance, output),
            (true, Some(folder)) => conformance::run_inside(&path, &conformance, folder),
        },
        PluginVerb::Reload { id, session } => control::reload(&id, session.as_deref(), output),
        PluginVerb::New(new) => new::run(&new, output),
        PluginVerb::Install(install) => install::install(install, output),
        PluginVerb::Update(update) => install::update(update, output),
        PluginVerb::Remove { id, project } => install::remove(&id, project, output),
        PluginVerb::Enable { id } => switch::run(&id, true, output),
        PluginVerb::Disable { id } => switch::run(&id, false, output),
        PluginVerb::Dev(dev) => dev::run(&dev, output),
        PluginVerb::Bisect(bisect) => bisect::run(&bisect, output),
        PluginVerb::Pin { id, remove } => pin::run(&id, remove, output),
    }
}
