//! The folders that each system has for the files of a person's programs.
//!
//! stud keeps its own files below one root, `~/.stud`. These are for what may lie elsewhere and go at any time.

use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

/// What the folders of this program are called.
const NAME: &str = "stud-cli";

/// Where a system keeps what belongs to one person, as text in that system's own form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    /// What the person sets.
    pub config: String,
    /// What programs keep.
    pub data: String,
    /// What can be had again.
    pub cache: String,
}

/// The folders on a system, by its name as in [`std::env::consts::OS`]. Nothing is looked at but what is given, so that
/// those of one system can be worked out on another.
///
/// A variable that is empty counts as unset.
///
/// # Errors
///
/// `Validation/UnsupportedPlatform` for any other system than Linux, macOS and Windows.
pub fn directories(
    os: &str,
    env: impl Fn(&str) -> Option<String>,
    home: &str,
) -> Result<Directories> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    match os {
        "linux" => {
            let below = |name: &str, otherwise: [&str; 2]| {
                let base = set(name);
                let base = base.unwrap_or_else(|| {
                    let parts = otherwise.into_iter().filter(|part| !part.is_empty());
                    joined('/', home, parts)
                });
                joined('/', &base, [NAME])
            };
            Ok(Directories {
                config: below("XDG_CONFIG_HOME", [".config", ""]),
                data: below("XDG_DATA_HOME", [".local", "share"]),
                cache: below("XDG_CACHE_HOME", [".cache", ""]),
            })
        }
        "macos" => {
            let support = joined('/', home, ["Library", "Application Support", NAME]);
            Ok(Directories {
                config: support.clone(),
                data: support,
                cache: joined('/', home, ["Library", "Caches", NAME]),
            })
        }
        "windows" => {
            let profile = set("USERPROFILE").unwrap_or_else(|| home.to_owned());
            let base = |name: &str, folder: &str| {
                set(name).unwrap_or_else(|| joined('\\', &profile, ["AppData", folder]))
            };
            let roaming = joined('\\', &base("APPDATA", "Roaming"), [NAME]);
            Ok(Directories {
                config: roaming.clone(),
                data: roaming,
                cache: joined('\\', &base("LOCALAPPDATA", "Local"), [NAME, "Cache"]),
            })
        }
        other => {
            let code = &codes::UNSUPPORTED_PLATFORM;
            let message = format!("stud does not run on `{other}`");
            Err(Error::new(code.class, code.name, message).with("platform", other))
        }
    }
}

/// A path in the form of a system.
fn joined<'a>(separator: char, base: &str, parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut path = base.trim_end_matches(separator).to_owned();
    for part in parts {
        path.push(separator);
        path.push_str(part);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(os: &str, env: &[(&str, &str)], home: &str) -> [String; 3] {
        let look_up = |name: &str| {
            let mut env = env.iter();
            let (_, value) = env.find(|(known, _)| *known == name)?;
            Some((*value).to_owned())
        };
        let Directories {
            config,
            data,
            cache,
        } = directories(os, look_up, home).unwrap();
        [config, data, cache]
    }

    #[test]
    fn linux_has_three_with_a_variable_each() {
        assert_eq!(
            on("linux", &[("XDG_DATA_HOME", "")], "/homes/ada"),
            [
                "/homes/ada/.config/stud-cli",
                "/homes/ada/.local/share/stud-cli",
                "/homes/ada/.cache/stud-cli"
            ]
        );
        let set = [
            ("XDG_CONFIG_HOME", "/c"),
            ("XDG_DATA_HOME", "/d/"),
            ("XDG_CACHE_HOME", "/e"),
        ];
        assert_eq!(
            on("linux", &set, "/homes/ada"),
            ["/c/stud-cli", "/d/stud-cli", "/e/stud-cli"]
        );
    }

    #[test]
    fn macos_has_two_whatever_is_set() {
        let support = "/people/ada/Library/Application Support/stud-cli";
        assert_eq!(
            on("macos", &[("XDG_CONFIG_HOME", "/c")], "/people/ada"),
            [support, support, "/people/ada/Library/Caches/stud-cli"]
        );
    }

    #[test]
    fn windows_has_its_own_separator_on_every_system() {
        let profile = [("USERPROFILE", r"C:\People\ada"), ("APPDATA", "")];
        let roaming = r"C:\People\ada\AppData\Roaming\stud-cli";
        assert_eq!(
            on("windows", &profile, "/unused"),
            [
                roaming,
                roaming,
                r"C:\People\ada\AppData\Local\stud-cli\Cache"
            ]
        );
        let set = [("APPDATA", r"D:\Roam"), ("LOCALAPPDATA", r"D:\Local")];
        assert_eq!(
            on("windows", &set, r"C:\People\ada"),
            [
                r"D:\Roam\stud-cli",
                r"D:\Roam\stud-cli",
                r"D:\Local\stud-cli\Cache"
            ]
        );
    }

    #[test]
    fn any_other_system_is_refused() {
        let error = directories("plan9", |_| None, "/usr/glenda").unwrap_err();
        stud_observed::covers!(UNSUPPORTED_PLATFORM, error);
        assert_eq!(error.context()["platform"], "plan9");
    }
}
