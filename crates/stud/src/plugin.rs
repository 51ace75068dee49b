//! `stud plugin`: everything about plugins.

mod check;
pub(crate) mod list;
mod info;
mod new;
mod pin;

use crate::cli::PluginVerb;
use crate::control;
use crate::output::{Output, Verdict};

pub(crate) fn run(verb: PluginVerb, output: &Output) -> Verdict {
    match verb {
        PluginVerb::List => list::run(output),
        PluginVerb::Info { id } => info::run(&id, output),
        PluginVerb::Check { path, no_load } => check::run(&path, no_load, output),
        PluginVerb::Reload { id, session } => control::reload(&id, session.as_deref(), output),
        PluginVerb::New(new) => new::run(&new, output),
        PluginVerb::Pin { id, remove } => pin::run(&id, remove, output),
    }
}
