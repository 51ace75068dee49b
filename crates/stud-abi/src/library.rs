//! A plugin's file: what it is, checked before it is opened, and then opened.
//!
//! Constructors of a library run while it is being opened, and a truncated one kills the process there.
//! So everything that can be known from the bytes is checked on the bytes.

use std::fmt;
use std::path::Path;

use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

use crate::entry::PluginEntry;
use crate::section::SECTION;

/// Why a file is not a library this host could open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageError {
    /// Not an ELF file at all.
    Format,
    /// Shorter than its own headers say.
    Truncated {
        /// The part that is not there.
        missing: String,
    },
    /// For another machine.
    Architecture {
        /// What the file is for.
        found: String,
        /// What this host runs on.
        expected: String,
    },
    /// A program or an object file, not a dynamic library.
    NotDynamic {
        /// What it is.
        found: String,
    },
    /// No `.stud` section.
    SectionMissing,
    /// More than one `.stud` section.
    SectionDuplicate {
        /// How many there are.
        count: usize,
    },
}

/// A library's bytes, found fit to be opened.
pub struct Image<'data> {
    file: ElfFile64<'data, LittleEndian>,
    section: &'data [u8],
}

impl<'data> Image<'data> {
    /// Checks the bytes of a library file.
    pub fn parse(bytes: &'data [u8]) -> Result<Self, ImageError> {
        check_identity(bytes)?;
        let truncated = |missing: &str| ImageError::Truncated {
            missing: missing.to_owned(),
        };
        let header =
            FileHeader64::<LittleEndian>::parse(bytes).map_err(|_| truncated("the file header"))?;
        check_type(header, bytes)?;
        check_segments(header, bytes)?;
        let file =
            ElfFile64::<LittleEndian>::parse(bytes).map_err(|error| ImageError::Truncated {
                missing: error.to_string(),
            })?;
        let mut found = file
            .sections()
            .filter(|section| section.name_bytes() == Ok(SECTION.as_bytes()));
        let section = found.next().ok_or(ImageError::SectionMissing)?;
        let others = found.count();
        if others > 0 {
            return Err(ImageError::SectionDuplicate { count: others + 1 });
        }
        let section = section
            .data()
            .map_err(|_| truncated("the `.stud` section"))?;
        Ok(Self { file, section })
    }

    /// The bytes of the `.stud` section.
    pub fn section(&self) -> &'data [u8] {
        self.section
    }

    /// Whether the library exports `symbol`.
    pub fn exports(&self, symbol: &str) -> bool {
        self.file
            .dynamic_symbols()
            .any(|export| export.is_definition() && export.name_bytes() == Ok(symbol.as_bytes()))
    }
}

impl fmt::Debug for Image<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("section", &self.section.len())
            .finish_non_exhaustive()
    }
}

const HOST_MACHINE: (elf::Machine, &str) = if cfg!(target_arch = "x86_64") {
    (elf::EM_X86_64, "x86-64")
} else if cfg!(target_arch = "aarch64") {
    (elf::EM_AARCH64, "aarch64")
} else if cfg!(target_arch = "riscv64") {
    (elf::EM_RISCV, "riscv64")
} else {
    (elf::EM_NONE, "an architecture stud does not know")
};

fn check_identity(bytes: &[u8]) -> Result<(), ImageError> {
    let start = bytes.len().min(elf::ELFMAG.len());
    if bytes[..start] != elf::ELFMAG[..start] {
        return Err(ImageError::Format);
    }
    // Class, byte order and machine stand in the first twenty bytes in every class of ELF.
    let Some(identity) = bytes.first_chunk::<20>() else {
        return Err(ImageError::Truncated {
            missing: "the file header".to_owned(),
        });
    };
    let wrong = |found: String| ImageError::Architecture {
        found,
        expected: HOST_MACHINE.1.to_owned(),
    };
    if elf::FileClass(identity[4]) != elf::ELFCLASS64 {
        return Err(wrong("a 32-bit machine".to_owned()));
    }
    if elf::DataEncoding(identity[5]) != elf::ELFDATA2LSB {
        return Err(wrong("a big-endian machine".to_owned()));
    }
    let machine = elf::Machine(u16::from_le_bytes([identity[18], identity[19]]));
    if machine != HOST_MACHINE.0 {
        let name = match machine {
            elf::EM_X86_64 => "x86-64".to_owned(),
            elf::EM_AARCH64 => "aarch64".to_owned(),
            elf::EM_RISCV => "riscv".to_owned(),
            elf::EM_386 => "x86".to_owned(),
            elf::EM_ARM => "arm".to_owned(),
            other => format!("machine number {}", other.0),
        };
        return Err(wrong(name));
    }
    Ok(())
}

fn check_type(header: &FileHeader64<LittleEndian>, bytes: &[u8]) -> Result<(), ImageError> {
    let found = match header.e_type(LittleEndian) {
        elf::ET_DYN if is_program(header, bytes) => "a position-independent program",
        elf::ET_DYN => return Ok(()),
        elf::ET_EXEC => "a program",
        elf::ET_REL => "an object file",
        elf::ET_CORE => "a core dump",
        _ => "an ELF file of an unknown type",
    };
    Err(ImageError::NotDynamic {
        found: found.to_owned(),
    })
}

/// Position-independent programs look like libraries until one asks their dynamic flags.
fn is_program(header: &FileHeader64<LittleEndian>, bytes: &[u8]) -> bool {
    let Ok(segments) = header.program_headers(LittleEndian, bytes) else {
        return false;
    };
    segments
        .iter()
        .filter_map(|segment| segment.dynamic(LittleEndian, bytes).ok().flatten())
        .flatten()
        .any(|entry| {
            entry.d_tag(LittleEndian) == elf::DT_FLAGS_1
                && entry.d_val(LittleEndian) & elf::DF_1_PIE.0 != 0
        })
}

/// A segment that reaches beyond the end of the file would raise SIGBUS inside the loader.
fn check_segments(header: &FileHeader64<LittleEndian>, bytes: &[u8]) -> Result<(), ImageError> {
    let segments =
        header
            .program_headers(LittleEndian, bytes)
            .map_err(|_| ImageError::Truncated {
                missing: "the program headers".to_owned(),
            })?;
    let len = bytes.len() as u64;
    for (index, segment) in segments.iter().enumerate() {
        if segment.p_type(LittleEndian) != elf::PT_LOAD {
            continue;
        }
        let end = segment
            .p_offset(LittleEndian)
            .checked_add(segment.p_filesz(LittleEndian));
        if end.is_none_or(|end| end > len) {
            return Err(ImageError::Truncated {
                missing: format!("part of segment {index}"),
            });
        }
    }
    if header.section_headers(LittleEndian, bytes).is_err() {
        return Err(ImageError::Truncated {
            missing: "the section headers".to_owned(),
        });
    }
    Ok(())
}

/// Opens a library for good and finds its entry.
///
/// The path must never be written to again: replacing the bytes of a mapped library crashes the process.
/// Its constructors run here; the caller has validated the manifest of exactly these bytes.
pub fn open(path: &Path, symbol: &str) -> Result<&'static PluginEntry, String> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

    // With lazy binding an undefined symbol would end the process at the first call that needs it.
    // SAFETY: opening runs the library's constructors; that the file may run at all is the caller's decision.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| loaders_words(&error))?;
    // Threads and tables of the library may outlive every handle, so it is never closed.
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: the symbol named by a validated manifest is a `PluginEntry`; its magic is checked before use.
    let entry = unsafe { library.get::<*const PluginEntry>(symbol) }
        .map_err(|error| loaders_words(&error))?;
    // SAFETY: a static of a library that is never unloaded; the loader gave a non-null, aligned address.
    unsafe { (*entry).as_ref() }.ok_or_else(|| format!("the symbol `{symbol}` is null"))
}

/// What the system's loader said; the error around it only names the function that was called.
fn loaders_words(error: &libloading::Error) -> String {
    use std::error::Error as _;

    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}
