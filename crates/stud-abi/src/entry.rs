//! The one symbol a plugin exports: how to get from a library to its table.

use abi_stable::std_types::{RBox, RErr, ROk, RStr};
use abi_stable::type_layout::TypeLayout;

use crate::fault::Fault;
use crate::future::Reply;

const MAGIC: [u8; 8] = *b"STUD-ABI";
/// Raised when this entry or `abi_stable`'s own layout types change; such plugins cannot be read at all.
pub const ABI_MAJOR: u32 = 1;
/// Raised when the entry gains something an older host may ignore.
pub const ABI_MINOR: u32 = 0;

/// The platform this side was built for.
pub const TARGET: &str = env!("STUD_TARGET");
/// The compiler this side was built with.
pub const RUSTC: &str = env!("STUD_RUSTC");

/// Exports a plugin: its manifest in the section, its entry as a symbol, and a function that leads to both.
///
/// The attributes with `unsafe` in them are written here and nowhere else, so that a plugin can forbid it.
/// `stud-sdk` calls this for authors.
#[macro_export]
macro_rules! export_plugin {
    (manifest $manifest_symbol:literal: $manifest:expr, entry $entry_symbol:literal: $entry:expr $(,)?) => {
        /// This plugin, for a program that links it and for its own tests.
        pub fn stud_plugin() -> $crate::EmbeddedPlugin {
            const MANIFEST: $crate::section::Json = $manifest;

            // A linker may drop what is only marked as used, so the manifest is exported as well.
            #[used]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__stud"))]
            #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".stud"))]
            #[unsafe(export_name = $manifest_symbol)]
            static SECTION: [u8; $crate::section::HEADER_LEN
                + $crate::section::json_len(MANIFEST)] = $crate::section::section(MANIFEST);

            #[unsafe(export_name = $entry_symbol)]
            static ENTRY: $crate::PluginEntry = $entry;

            $crate::EmbeddedPlugin {
                section: &SECTION,
                entry: &ENTRY,
            }
        }
    };
}

/// The exported static. Its own layout is frozen for the life of an [`ABI_MAJOR`].
#[repr(C)]
pub struct PluginEntry {
    magic: [u8; 8],
    major: u32,
    minor: u32,
    kind: RStr<'static>,
    layout: extern "C" fn() -> &'static TypeLayout,
    open: extern "C" fn() -> Reply<RawTable>,
}

/// A category's table with its type erased; the layout in the entry says what it is.
#[repr(transparent)]
pub(crate) struct RawTable(pub(crate) *const ());

/// An embedded plugin: what a library would hold, linked into the program.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedPlugin {
    /// The whole `.stud` section.
    pub section: &'static [u8],
    /// The entry the manifest names.
    pub entry: &'static PluginEntry,
}

/// Why an entry could not be used.
#[derive(Debug)]
pub enum EntryError {
    /// The symbol is not a stud entry, or of another [`ABI_MAJOR`].
    Unknown {
        /// What was found, for a person.
        found: String,
    },
    /// The table is of another category than the manifest says.
    Kind {
        /// The category the table serves.
        found: String,
    },
    /// The table's layout is not one this host can read.
    Layout {
        /// The first difference: where, expected, found.
        difference: String,
    },
    /// The plugin's own entry function failed.
    Failed(Fault),
    /// The plugin's own entry function panicked.
    Panicked(Fault),
}

impl PluginEntry {
    pub(crate) const fn new(
        kind: &'static str,
        layout: extern "C" fn() -> &'static TypeLayout,
        open: extern "C" fn() -> Reply<RawTable>,
    ) -> Self {
        Self {
            magic: MAGIC,
            major: ABI_MAJOR,
            minor: ABI_MINOR,
            kind: RStr::from_str(kind),
            layout,
            open,
        }
    }

    /// Whether this is an entry of a major this host can read, for the category `kind`.
    pub(crate) fn check(&self, kind: &str) -> Result<&'static TypeLayout, EntryError> {
        if self.magic != MAGIC {
            return Err(EntryError::Unknown {
                found: "no stud entry".to_owned(),
            });
        }
        if self.major != ABI_MAJOR {
            return Err(EntryError::Unknown {
                found: format!("ABI {}.{}", self.major, self.minor),
            });
        }
        if self.kind.as_str() != kind {
            return Err(EntryError::Kind {
                found: self.kind.as_str().to_owned(),
            });
        }
        Ok((self.layout)())
    }

    pub(crate) fn open(&self) -> Result<RawTable, EntryError> {
        match (self.open)() {
            ROk(table) => Ok(table),
            RErr(fault) => {
                let fault = Fault::from(RBox::into_inner(fault));
                if fault.code == crate::guard::PANICKED {
                    Err(EntryError::Panicked(fault))
                } else {
                    Err(EntryError::Failed(fault))
                }
            }
        }
    }
}

impl std::fmt::Debug for PluginEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginEntry")
            .field("kind", &self.kind.as_str())
            .finish_non_exhaustive()
    }
}
