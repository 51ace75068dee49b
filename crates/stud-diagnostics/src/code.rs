//! One code: what happened, in a word that never changes its meaning.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use crate::Class;

/// A registered failure, written `Class/Code`.
///
/// [`crate::codes`] makes them, and [`Code::of_plugin`] those that plugins bring. Two codes are the same when class and name are.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Code {
    /// Who owns the next move.
    pub class: Class,
    /// What happened: subject first, fault last.
    pub name: &'static str,
    /// The same in one sentence.
    pub summary: &'static str,
    /// The first version of stud that knew this code.
    pub since: &'static str,
    /// The page shown by `stud explain`, in Markdown.
    #[cfg(feature = "pages")]
    pub page: &'static str,
}

impl Code {
    /// A code that a plugin brought along and the registry does not know. It has no page, and lasts as long as the
    /// program.
    pub fn of_plugin(class: Class, name: &str) -> &'static Self {
        static KNOWN: Mutex<Vec<&'static Code>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = known.iter().find(|code| code.key() == (class, name)) {
            return code;
        }
        let code = Box::leak(Box::new(Self {
            class,
            name: Box::leak(Box::from(name)),
            summary: "A plugin's own code.",
            since: env!("CARGO_PKG_VERSION"),
            #[cfg(feature = "pages")]
            page: "",
        }));
        known.push(code);
        code
    }

    fn key(&self) -> (Class, &'static str) {
        (self.class, self.name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.class, self.name)
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Code {}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Code {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
