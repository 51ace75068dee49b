//! Environment values, one name at a time.
//!
//! There is no listing. A value may be used inside the plugin; it never enters a request to a model.

use stud_contract_meta::Result;

use crate::refusal;

/// Looks names up in the operating system's environment and in the `env` maps of the settings.
pub trait EnvReader: Send + Sync {
    /// The value, or nothing. An empty value counts as none.
    fn get(&self, name: &str) -> Result<Option<String>>;

    /// The value. Fails with `Validation/EnvNameNotSet` where [`EnvReader::get`] finds nothing.
    fn require(&self, name: &str) -> Result<String> {
        self.get(name)?
            .ok_or_else(|| refusal::env_name_not_set(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct OnlyHome;

    impl EnvReader for OnlyHome {
        fn get(&self, name: &str) -> Result<Option<String>> {
            Ok((name == "HOME").then(|| "/users/ada".to_owned()))
        }
    }

    #[test]
    fn require_gives_what_get_finds_and_names_what_it_does_not() {
        let env: &dyn EnvReader = &OnlyHome;
        assert_eq!(env.require("HOME").unwrap(), "/users/ada");
        let error = env.require("TOKEN").unwrap_err();
        assert_eq!(
            (error.code(), &error.context()["name"]),
            ("EnvNameNotSet", &"TOKEN".into())
        );
    }
}
