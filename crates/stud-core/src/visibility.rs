//! Who may see what was registered.

/// Who may see a prompt or a resource. For everyone else it is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Every plugin of the session.
    #[default]
    Everyone,
    /// One plugin, usually the one it belongs to.
    Only(String),
}

impl Visibility {
    /// Whether this plugin is part of it.
    pub fn includes(&self, ext_id: &str) -> bool {
        match self {
            Self::Everyone => true,
            Self::Only(owner) => owner == ext_id,
        }
    }
}
