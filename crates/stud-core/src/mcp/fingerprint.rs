//! What a trust decision is bound to.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::config::{ServerConfig, Transport};
use super::connection::ToolDescriptor;
use crate::canonical;

/// Variables whose value chooses which program or which code runs, whatever the command says.
const CHOOSING: [&str; 13] = [
    "BASH_ENV",
    "ENV",
    "JAVA_TOOL_OPTIONS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
];

/// The same, for whole families of variables.
const CHOOSING_PREFIXES: [&str; 2] = ["DYLD_", "LD_"];

fn chooses_program(name: &str) -> bool {
    CHOOSING.contains(&name)
        || CHOOSING_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Stands for how a server is started or reached. Of its environment, the values that choose the program are part of
/// it; other values, and those of headers, are not: they change without the server becoming another one.
pub(super) fn of_config(config: &ServerConfig) -> String {
    let names =
        |pairs: &BTreeMap<String, String>| -> Vec<String> { pairs.keys().cloned().collect() };
    digest(&match &config.transport {
        Transport::Stdio { command, args, env } => {
            let mut bound = json!({"command": command, "args": args, "env": names(env)});
            let choosing: BTreeMap<_, _> = env
                .iter()
                .filter(|(name, _)| chooses_program(name))
                .collect();
            // Absent without such variables, so that decisions about other servers stay what they were.
            if !choosing.is_empty() {
                bound["envValues"] = json!(choosing);
            }
            bound
        }
        Transport::StreamableHttp { url, headers } => {
            json!({"url": url, "headers": names(headers)})
        }
    })
}

/// Stands for what a model is told of each tool: its description and its schema.
pub(super) fn of_tools(tools: &[ToolDescriptor]) -> BTreeMap<String, String> {
    let each = tools.iter().map(|tool| {
        let told = json!({"description": tool.description, "inputSchema": tool.input_schema});
        (tool.name.clone(), digest(&told))
    });
    each.collect()
}

fn digest(value: &Value) -> String {
    // What is JSON already can be written as JSON.
    let text = canonical::text(value).unwrap_or_default();
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::plugin_scope::Scope;

    fn with(env: &[(&str, &str)]) -> String {
        let pairs = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        of_config(&ServerConfig {
            id: "files".to_owned(),
            scope: Scope::Project,
            transport: Transport::Stdio {
                command: "serve".to_owned(),
                args: vec!["--all".to_owned()],
                env: pairs.collect(),
            },
            path: PathBuf::new(),
        })
    }

    #[test]
    fn a_decision_without_choosing_variables_keeps_its_digest() {
        // What was written before values were part of it.
        let before = "sha256:b2a7d34832b4c6e3a2db3240f18e6c203fd216a5aa66b824a071d14f89952e0d";
        assert_eq!(with(&[("DEBUG", "1"), ("TOKEN", "${A}")]), before);
        assert_eq!(with(&[("DEBUG", "2"), ("TOKEN", "${B}")]), before);
    }

    #[test]
    fn a_value_that_chooses_the_program_is_part_of_the_decision() {
        let names =
            CHOOSING
                .into_iter()
                .chain(["LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"]);
        for name in names {
            assert_eq!(with(&[(name, "/a")]), with(&[(name, "/a")]), "{name}");
            assert_ne!(with(&[(name, "/a")]), with(&[(name, "/b")]), "{name}");
        }
        for name in ["MY_PATH", "PATHS", "OLD_", "HOME"] {
            assert_eq!(with(&[(name, "/a")]), with(&[(name, "/b")]), "{name}");
        }
    }
}
