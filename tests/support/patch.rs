//! Changing a built library: its manifest, its headers, its length.

use object::LittleEndian;
use object::elf::{FileHeader64, SectionHeader64};
use object::read::elf::{FileHeader as _, SectionHeader as _};
use serde_json::Value;

/// A library's bytes, to be changed.
#[derive(Debug, Clone)]
pub struct Elf {
    /// The whole file.
    pub bytes: Vec<u8>,
}

/// A whole `.stud` section around a manifest text.
pub fn section_of(text: &[u8]) -> Vec<u8> {
    let mut section = b"STUD".to_vec();
    section.extend(1_u32.to_le_bytes());
    section.extend((text.len() as u64).to_le_bytes());
    section.extend(text);
    section
}

impl Elf {
    /// Reads a library.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn read(path: &std::path::Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_default();
        assert!(!bytes.is_empty(), "no library at {}", path.display());
        Self { bytes }
    }

    /// The bytes of its `.stud` section.
    pub fn section(&self) -> Vec<u8> {
        let (offset, size) = self
            .place(".stud")
            .map_or((0, 0), |(_, offset, size)| (offset, size));
        self.bytes[offset..offset + size].to_vec()
    }

    /// Its manifest.
    pub fn manifest(&self) -> Value {
        serde_json::from_slice(&self.section()[16..]).unwrap_or_default()
    }

    /// Puts another section in the place of `.stud`, of any length.
    ///
    /// The new bytes go to the end of the file and the section header is pointed at them: the loader never looks there.
    #[must_use]
    pub fn with_section(mut self, section: &[u8]) -> Self {
        let Some((header, ..)) = self.place(".stud") else {
            return self;
        };
        let offset = self.bytes.len() as u64;
        self.bytes.extend(section);
        self.bytes[header + 24..header + 32].copy_from_slice(&offset.to_le_bytes());
        self.bytes[header + 32..header + 40].copy_from_slice(&(section.len() as u64).to_le_bytes());
        self
    }

    /// Changes the manifest and writes it back.
    #[must_use]
    pub fn with_manifest(self, change: impl FnOnce(&mut Value)) -> Self {
        let mut manifest = self.manifest();
        change(&mut manifest);
        self.with_section(&section_of(manifest.to_string().as_bytes()))
    }

    /// Gives the section `from` the name of the section `to`.
    #[must_use]
    pub fn with_section_named(mut self, from: &str, to: &str) -> Self {
        let (Some((one, ..)), Some((other, ..))) = (self.place(from), self.place(to)) else {
            return self;
        };
        let name: Vec<u8> = self.bytes[other..other + 4].to_vec();
        self.bytes[one..one + 4].copy_from_slice(&name);
        self
    }

    /// Overwrites bytes.
    #[must_use]
    pub fn with_bytes(mut self, at: usize, bytes: &[u8]) -> Self {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// Writes `to` wherever `from` stands; both have the same length, so that nothing moves.
    ///
    /// # Panics
    ///
    /// When the lengths differ, or when `from` stands nowhere.
    #[must_use]
    pub fn with_words(mut self, from: &str, to: &str) -> Self {
        assert_eq!(from.len(), to.len(), "`{from}` and `{to}` differ in length");
        let places: Vec<usize> = self
            .bytes
            .windows(from.len())
            .enumerate()
            .filter(|(_, window)| *window == from.as_bytes())
            .map(|(at, _)| at)
            .collect();
        assert!(!places.is_empty(), "`{from}` is nowhere in the library");
        for at in places {
            self.bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
        self
    }

    /// Cuts the file short.
    #[must_use]
    pub fn truncated(mut self, len: usize) -> Self {
        self.bytes.truncate(len);
        self
    }

    /// The header, offset and size of a section.
    fn place(&self, name: &str) -> Option<(usize, usize, usize)> {
        let header = FileHeader64::<LittleEndian>::parse(&*self.bytes).ok()?;
        let sections = header.sections(LittleEndian, &*self.bytes).ok()?;
        let (index, section) = sections.enumerate().find(|(_, section)| {
            sections.section_name(LittleEndian, section) == Ok(name.as_bytes())
        })?;
        let table = usize::try_from(header.e_shoff(LittleEndian)).ok()?;
        let at = table + index.0 * size_of::<SectionHeader64<LittleEndian>>();
        let offset = usize::try_from(section.sh_offset(LittleEndian)).ok()?;
        let size = usize::try_from(section.sh_size(LittleEndian)).ok()?;
        Some((at, offset, size))
    }
}
