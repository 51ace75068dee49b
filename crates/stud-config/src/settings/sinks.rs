//! `logging.sinks` of the settings: loggers with their configs, in one list.

use std::path::Path;

use serde_json::{Map, Value};
use stud_contract_meta::Kind;
use stud_diagnostics::{Diagnostic, codes};

use super::{Settings, Sourced, misshapen};
use crate::did_you_mean::nearest;

/// Every sink names a logger, each another one, and may have a config for it.
pub(super) fn check(path: &Path, members: &Map<String, Value>) -> Result<(), Diagnostic> {
    let Some(sinks) = members.get("sinks") else {
        return Ok(());
    };
    let Value::Array(sinks) = sinks else {
        return Err(misshapen(path, "/logging/sinks", "is not a list"));
    };
    let mut named: Vec<&str> = Vec::new();
    for (index, sink) in sinks.iter().enumerate() {
        let wrong = |member: &str, what: &str| {
            Err(misshapen(
                path,
                &format!("/logging/sinks/{index}{member}"),
                what,
            ))
        };
        let Value::Object(sink) = sink else {
            return wrong("", "is not an object");
        };
        match sink.get("extId").and_then(Value::as_str) {
            None | Some("") => return wrong("/extId", "is not the id of a logger"),
            Some(id) if named.contains(&id) => return wrong("/extId", "is named twice"),
            Some(id) => named.push(id),
        }
        if sink.get("config").is_some_and(|config| !config.is_object()) {
            return wrong("/config", "is not an object");
        }
        let known = |member: &&String| matches!(member.as_str(), "extId" | "config");
        if let Some(member) = sink.keys().find(|member| !known(member)) {
            let what = "is not known; there are `extId` and `config`";
            return wrong(&format!("/{member}"), what);
        }
    }
    Ok(())
}

/// A config in the settings, and the place in its file where it stands.
pub(crate) type Placed<'a> = (Sourced<'a>, String);

impl Settings {
    /// Everything that the scopes set for a plugin: what stands under its own id, highest scope first, and for a logger
    /// then what the list of sinks has.
    pub fn configs<'a>(&'a self, kind: Kind, id: &'a str) -> impl Iterator<Item = Placed<'a>> {
        let key = kind.settings_key();
        let own = self.each(key, id);
        let own = own.map(move |set| (set, format!("/{key}/{id}")));
        // The list of a higher scope takes the place of the others, so one without this logger ends the search.
        let lists = self.each("logging", "sinks");
        let lists = lists.take_while(move |_| kind == Kind::Logger);
        own.chain(lists.map_while(move |list| sink_of(list, id)))
    }

    /// The sinks of the list that holds which are none of these loggers.
    pub fn strange_sinks(&self, loggers: &[&str]) -> Vec<Diagnostic> {
        let Some(list) = self.get("logging", "sinks") else {
            return Vec::new();
        };
        let sinks = list.value.as_array().into_iter().flatten().enumerate();
        let named = sinks.filter_map(|(index, sink)| Some((index, sink["extId"].as_str()?)));
        let strange = named.filter(|(_, id)| !loggers.contains(id));
        let warnings = strange.map(|(index, id)| {
            let message = format!("`logging.sinks` names `{id}`, and no logger has this id");
            let warning = Diagnostic::warning(&codes::EXTENSION_NOT_FOUND, message)
                .file(list.path)
                .field(format!("/logging/sinks/{index}/extId"))
                .with("extId", id);
            match nearest(id, loggers.iter().copied()) {
                Some(near) => warning.help(format!("did you mean `{near}`?")),
                None => warning.help("`stud plugin list` shows the installed plugins"),
            }
        });
        warnings.collect()
    }
}

fn sink_of<'a>(list: Sourced<'a>, id: &str) -> Option<Placed<'a>> {
    let sinks = list.value.as_array()?;
    let index = sinks.iter().position(|sink| sink["extId"] == id)?;
    let value = sinks[index].get("config")?;
    let set = Sourced { value, ..list };
    Some((set, format!("/logging/sinks/{index}/config")))
}

#[cfg(test)]
mod tests {
    use super::super::tests::layered;
    use super::*;
    use crate::plugin_scope::Scope;

    fn levels(texts: &[(Scope, &str)]) -> Vec<String> {
        let settings = layered(texts).unwrap();
        let configs = settings.configs(Kind::Logger, "file-logger");
        let levels = configs.map(|(set, place)| format!("{} {place}", set.value["level"]));
        levels.collect()
    }

    #[test]
    fn what_stands_under_the_id_comes_before_what_the_list_has() {
        let global = r#"{"logging":{"sinks":[{"extId":"x"},{"extId":"file-logger","config":{"level":1}}]},
            "loggers":{"file-logger":{"level":2}}}"#;
        let project = r#"{"logging":{"sinks":[{"extId":"file-logger","config":{"level":3}}]}}"#;
        assert_eq!(
            levels(&[(Scope::Global, global), (Scope::Project, project)]),
            [
                "2 /loggers/file-logger",
                "3 /logging/sinks/0/config",
                "1 /logging/sinks/1/config",
            ]
        );
        let without = r#"{"logging":{"sinks":[{"extId":"x"}]}}"#;
        assert_eq!(
            levels(&[(Scope::Global, global), (Scope::Project, without)]),
            ["2 /loggers/file-logger"]
        );
    }

    #[test]
    fn a_list_of_another_shape_is_refused() {
        for (sinks, place) in [
            ("{}", ""),
            ("[1]", "/0"),
            ("[{}]", "/0/extId"),
            (r#"[{"extId":""}]"#, "/0/extId"),
            (r#"[{"extId":"a"},{"extId":"a"}]"#, "/1/extId"),
            (r#"[{"extId":"a","config":[]}]"#, "/0/config"),
            (r#"[{"extId":"a","level":"info"}]"#, "/0/level"),
        ] {
            let text = format!(r#"{{"logging":{{"sinks":{sinks}}}}}"#);
            let wrong = layered(&[(Scope::Global, &text)]).unwrap_err();
            assert_eq!(wrong.code, &codes::SETTINGS_SHAPE_INVALID, "{sinks}");
            let place = format!("/logging/sinks{place}");
            assert_eq!(wrong.field_path, Some(place), "{sinks}");
        }
    }

    #[test]
    fn a_sink_that_is_no_logger_is_named() {
        let text = r#"{"logging":{"sinks":[{"extId":"file-logger"},{"extId":"file-loger"}]}}"#;
        let settings = layered(&[(Scope::Global, text)]).unwrap();
        let [warning] = &settings.strange_sinks(&["file-logger"])[..] else {
            panic!("one is not there");
        };
        assert!(!warning.is_error());
        assert_eq!(warning.help, ["did you mean `file-logger`?"]);
    }
}
