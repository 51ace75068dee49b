//! What is wanted, from what was typed.

use stud_sdk::command::RawArgs;
use stud_sdk::{Class, Error, Result, Value};

/// What is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    List,
    Grant(String),
    Revoke(String),
    ClearMcp(String),
}

impl Request {
    /// A flag wins over words. Its server may follow it or stand behind a `=`.
    pub(crate) fn read(typed: &RawArgs) -> Result<Self> {
        let words: Vec<&str> = typed.positional.iter().map(String::as_str).collect();
        match typed.flags.get("clear-mcp") {
            Some(Value::String(server)) if !server.is_empty() => {
                return Ok(Self::ClearMcp(server.clone()));
            }
            Some(_) => {
                let server = after_flag(&typed.raw);
                return server
                    .map(Self::ClearMcp)
                    .ok_or_else(|| violation("`--clear-mcp` needs the name of a server"));
            }
            None => {}
        }
        // A path may have spaces in it.
        let path = words.get(1..).unwrap_or_default().join(" ");
        match words.first().copied() {
            None | Some("list") => Ok(Self::List),
            Some("grant" | "revoke") if path.is_empty() => Err(violation(&format!(
                "`/trust {}` needs the path of a project",
                words[0]
            ))),
            Some("grant") => Ok(Self::Grant(path)),
            Some("revoke") => Ok(Self::Revoke(path)),
            Some(other) => {
                let why = format!(
                    "`/trust {other}` is not known; there are `list`, `grant`, `revoke` and `--clear-mcp`"
                );
                Err(violation(&why).with("subcommand", other))
            }
        }
    }
}

fn after_flag(raw: &str) -> Option<String> {
    let mut words = raw.split_whitespace();
    words.find(|word| *word == "--clear-mcp")?;
    let server = words.next().filter(|word| !word.starts_with("--"))?;
    Some(server.to_owned())
}

fn violation(why: &str) -> Error {
    Error::new(Class::Validation, "ConfigSchemaViolation", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_flags_say_what_is_wanted() {
        let read = |line: &str| {
            Request::read(&RawArgs::parse(line)).map_err(|error| error.code().to_owned())
        };
        let violated = || Err("ConfigSchemaViolation".to_owned());
        assert_eq!(read(""), Ok(Request::List));
        assert_eq!(read("list"), Ok(Request::List));
        assert_eq!(read("grant /a b"), Ok(Request::Grant("/a b".to_owned())));
        assert_eq!(read("revoke /a"), Ok(Request::Revoke("/a".to_owned())));
        assert_eq!(read("grant"), violated());
        assert_eq!(read("revoke"), violated());
        assert_eq!(read("grnat /a"), violated());
        let git = || Ok(Request::ClearMcp("git".to_owned()));
        assert_eq!(read("--clear-mcp git"), git());
        assert_eq!(read("--clear-mcp=git"), git());
        assert_eq!(read("grant /a --clear-mcp git"), git());
        assert_eq!(read("--clear-mcp"), violated());
        assert_eq!(read("--clear-mcp="), violated());
        assert_eq!(read("--clear-mcp --quiet"), violated());
    }
}
