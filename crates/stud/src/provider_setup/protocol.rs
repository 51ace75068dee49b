//! The providers that can be set up, and what is usual for each.

/// A bundled provider that speaks to a real model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Protocol {
    /// The id of the plugin.
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    pub(super) model: &'static str,
    pub(super) env_name: &'static str,
    pub(super) base_url: &'static str,
    pub(super) auth_paths: &'static [AuthPath],
}

/// How a provider comes by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AuthPath {
    EnvApiKey,
    LiteralApiKey,
    None,
}

impl AuthPath {
    /// The word in records and names.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::EnvApiKey => "env-api-key",
            Self::LiteralApiKey => "literal-api-key",
            Self::None => "none",
        }
    }

    pub(super) const fn meaning(self) -> &'static str {
        match self {
            Self::EnvApiKey => "the key is in an environment variable",
            Self::LiteralApiKey => {
                "type the key now; it is kept in the keyring, or in a file that only you may read"
            }
            Self::None => "no key is sent, as for a server of your own",
        }
    }
}

const WITH_KEY: &[AuthPath] = &[AuthPath::EnvApiKey, AuthPath::LiteralApiKey];

/// All of them, by name.
pub(super) const PROTOCOLS: [Protocol; 3] = [
    Protocol {
        name: "anthropic",
        meaning: "Claude, over Anthropic's API",
        model: "claude-opus-4-7",
        env_name: "ANTHROPIC_API_KEY",
        base_url: "https://api.anthropic.com",
        auth_paths: WITH_KEY,
    },
    Protocol {
        name: "gemini",
        meaning: "Gemini, over Google's API",
        model: "gemini-2.0-flash",
        env_name: "GEMINI_API_KEY",
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        auth_paths: WITH_KEY,
    },
    Protocol {
        name: "openai-compatible",
        meaning: "OpenAI, and everything that speaks its protocol, servers of your own included",
        model: "gpt-4o",
        env_name: "OPENAI_API_KEY",
        base_url: "https://api.openai.com/v1",
        auth_paths: &[AuthPath::EnvApiKey, AuthPath::LiteralApiKey, AuthPath::None],
    },
];

#[cfg(test)]
mod tests {
    use stud_contract_meta::Kind;
    use stud_core::environment::{Environment, Reach};
    use stud_core::platform::Places;
    use stud_core::startup;

    use super::PROTOCOLS;

    #[test]
    fn every_bundled_provider_but_the_stand_in_can_be_set_up() {
        let nowhere =
            Places::new(Some("/nonexistent".into()), None, "/nonexistent".as_ref()).unwrap();
        let bundled = crate::bundled::without_terminal();
        let ground = Environment::survey_within(Reach::BundledOnly, nowhere, bundled).unwrap();
        let means = crate::setup::means(&ground);
        let started = startup::start(&ground, &means);
        let providers = started.registry.of_kind(Kind::Provider);
        let mut names: Vec<&str> = providers
            .iter()
            .map(|provider| provider.identity().ext_id.as_str())
            .filter(|name| *name != "echo")
            .collect();
        names.sort_unstable();
        assert_eq!(names, PROTOCOLS.map(|protocol| protocol.name));
        started.stop(&means.limits);
    }
}
