//! Runs the cases of a plugin.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::case::{Case, Context, Verdict};
use crate::cases::all;
use crate::configs::Configs;
use crate::report::{Outcome, Report};
use crate::subject::Plugin;

/// A case takes no longer.
const LONGEST: Duration = Duration::from_secs(20);

/// Runs every case. `alone` names the file that holds the plugin's output, if this process runs nothing else.
pub fn run(plugin: Arc<dyn Plugin>, configs: Configs, alone: Option<PathBuf>) -> Report {
    let manifest = plugin.manifest();
    let unreadable = manifest.as_ref().err().map(ToString::to_string);
    let context = Arc::new(Context {
        plugin,
        manifest: manifest.unwrap_or(Value::Null),
        configs,
        alone,
    });
    let outcomes = all().iter().map(|case| {
        let verdict = match &unreadable {
            Some(why) => Verdict::fail(format!("the manifest cannot be read: {why}")),
            None => judge(*case, &context),
        };
        Outcome::new(case, verdict)
    });
    let outcomes = outcomes.collect();
    Report::new(&context.manifest, outcomes)
}

fn judge(case: Case, context: &Arc<Context>) -> Verdict {
    let kind = context.kind();
    if let Some(wanted) = case.kind.filter(|wanted| Some(*wanted) != kind) {
        return Verdict::not_applicable(format!("it is for a {wanted}"));
    }
    let (sender, receiver) = channel();
    let context = context.clone();
    thread::spawn(move || {
        // The runner may have given up.
        let _ = sender.send((case.check)(&context));
    });
    receiver
        .recv_timeout(LONGEST)
        .unwrap_or_else(|_| Verdict::fail("the plugin did not return, or the case itself failed"))
}
