//! The twelve steps a plugin passes on its way into a session.

use std::fmt;
use std::str::FromStr;

/// Where on its way a plugin was when something was found.
///
/// No code of the plugin has run before [`Stage::Load`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Files are found in the category folders of each scope.
    Discover,
    /// The library file is read, without opening it, for its manifest.
    Inspect,
    /// The manifest has the ten members every contract has.
    Shape,
    /// The category contract it was written against is one this core speaks.
    ContractVersion,
    /// The core version is one the plugin accepts.
    RequiredCoreVersion,
    /// The configuration schema is usable and the configuration fits it.
    ConfigSchema,
    /// The members of its own category are right.
    Category,
    /// Dependencies and conflicts are decided from the manifests.
    Order,
    /// The library is opened; its initializers run.
    Load,
    /// Its entry is called and its table compared with its manifest.
    Bind,
    /// It gets its place in the registry.
    Register,
    /// Its `init` and `activate` run.
    Activate,
}

impl Stage {
    /// All stages, in the order a plugin passes them.
    pub const ALL: [Self; 12] = [
        Self::Discover,
        Self::Inspect,
        Self::Shape,
        Self::ContractVersion,
        Self::RequiredCoreVersion,
        Self::ConfigSchema,
        Self::Category,
        Self::Order,
        Self::Load,
        Self::Bind,
        Self::Register,
        Self::Activate,
    ];

    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Discover => "discover",
            Self::Inspect => "inspect",
            Self::Shape => "shape",
            Self::ContractVersion => "contractVersion",
            Self::RequiredCoreVersion => "requiredCoreVersion",
            Self::ConfigSchema => "configSchema",
            Self::Category => "category",
            Self::Order => "order",
            Self::Load => "load",
            Self::Bind => "bind",
            Self::Register => "register",
            Self::Activate => "activate",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text was none of the twelve stage words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownStage;

impl FromStr for Stage {
    type Err = UnknownStage;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|stage| stage.as_str() == text)
            .ok_or(UnknownStage)
    }
}

#[cfg(test)]
mod tests {
    use super::Stage;

    #[test]
    fn all_is_in_order_and_every_word_reads_back() {
        assert!(Stage::ALL.is_sorted());
        for stage in Stage::ALL {
            assert_eq!(stage.as_str().parse(), Ok(stage));
        }
    }
}
