//! The findings for people.

use stud_core::model::{Model, STAND_IN};
use stud_diagnostics::{printable, printable_within};
use unicode_width::UnicodeWidthStr as _;

use super::{Findings, ProjectTrust, servers};
use crate::output::{Output, padded};
use crate::plugin::list;

/// As much of a value as fits on a line; `--json` has all of it.
const SHOWN: usize = 80;

impl Findings {
    pub(super) fn show(&self, output: &Output) {
        output.line(output.bold(&format!("stud {}", env!("CARGO_PKG_VERSION"))));
        let facts = [
            (
                "home",
                self.places.global_root.to_string_lossy().into_owned(),
            ),
            ("project", self.project()),
            ("answers", self.answers()),
            ("sessions", self.kept()),
        ];
        for (title, fact) in facts {
            output.line(format!("  {title:<9} {}", printable(&fact)));
        }
        output.line(format!("\n{}", output.bold("settings")));
        self.show_settings(output);
        output.line(format!("\n{}", output.bold("plugins")));
        list::show(&self.plugins, output);
        if !self.servers.is_empty() {
            output.line(format!("\n{}", output.bold("MCP servers")));
            self.show_servers(output);
        }
        output.line(format!("\n{}", output.bold("problems")));
        if self.problems.is_empty() {
            output.line("none");
        }
        for (place, problem) in self.problems.iter().enumerate() {
            if place > 0 {
                output.line("");
            }
            output.show(problem);
        }
    }

    fn show_settings(&self, output: &Output) {
        let width = self.settings.iter().map(|set| set.key.width());
        let width = width.max().unwrap_or(0).min(48);
        for set in &self.settings {
            let file = set.file.as_ref().map(|file| file.to_string_lossy());
            let file = file.as_deref().unwrap_or("when nothing else is set");
            output.line(format!(
                "  {}  {}  {}",
                padded(&printable_within(&set.key, SHOWN), width),
                printable_within(&set.value.to_string(), SHOWN),
                output.dim(&format!("{}, {}", set.scope.as_str(), printable(file)))
            ));
        }
    }

    fn show_servers(&self, output: &Output) {
        for server in &self.servers {
            let config = &server.config;
            let line = format!(
                "  {}  {} {}, {}",
                printable_within(&config.id, SHOWN),
                config.transport.as_str(),
                printable_within(servers::reach(&config.transport), SHOWN),
                server.trust.as_str(),
            );
            let file = config.path.to_string_lossy();
            let file = format!("{}, {}", config.scope.as_str(), printable(&file));
            output.line(format!("{line}  {}", output.dim(&file)));
            output.line(format!("    next: {}", printable(&servers::next(server))));
        }
    }

    fn project(&self) -> String {
        let root = self.places.project_root.to_string_lossy();
        match self.trust {
            ProjectTrust::Absent => "none in this folder".to_owned(),
            ProjectTrust::Trusted => format!("{root}, trusted"),
            ProjectTrust::Untrusted => {
                format!("{root}, not trusted: nothing of it was looked at; `stud trust` trusts it")
            }
            ProjectTrust::Unknown => format!("{root}, not looked at"),
        }
    }

    fn answers(&self) -> String {
        match &self.model {
            Some(model) if model.provider_id == STAND_IN => {
                "echo, a stand-in that repeats what you say; `stud setup` sets up a real provider"
                    .to_owned()
            }
            Some(model) => {
                let Model {
                    provider_id,
                    model_id,
                } = model;
                match self.unchosen {
                    0 => format!("{provider_id} {model_id}"),
                    several => format!(
                        "{provider_id} {model_id}, the first of {several} that are set up; `active.provider` chooses"
                    ),
                }
            }
            None => "none".to_owned(),
        }
    }

    fn kept(&self) -> String {
        match &self.store {
            Some(store) => {
                let running = self.sessions.running.len();
                format!("{} kept by {store}, {running} running", self.sessions.kept)
            }
            None => "not kept".to_owned(),
        }
    }
}
