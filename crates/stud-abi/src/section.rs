//! The `.stud` section: sixteen fixed bytes, then the manifest as JSON.
//!
//! The section is written at compile time and read from the file, so a manifest can be judged before any code runs.
//! Its header never changes: a new format is a new number in it.

/// The name of the section in an ELF or PE file.
pub const SECTION: &str = ".stud";
/// The first four bytes.
pub const MAGIC: [u8; 4] = *b"STUD";
/// The only format there is.
pub const FORMAT: u32 = 1;
/// Magic, format and length.
pub const HEADER_LEN: usize = 16;
/// A manifest larger than this is a mistake or an attack.
pub const MAX_MANIFEST_LEN: u64 = 16 * 1024 * 1024;

/// A piece of JSON text known at compile time.
///
/// Schemas of types are made of pieces, and a plugin's manifest is made of schemas; [`section`] joins them.
#[derive(Debug, Clone, Copy)]
pub enum Piece {
    /// JSON as it stands.
    Raw(&'static str),
    /// Text to be written as a JSON string.
    Text(&'static str),
    /// More pieces.
    Nested(&'static [Piece]),
}

/// JSON assembled at compile time.
pub type Json = &'static [Piece];

/// How long the joined text is, header left out.
pub const fn json_len(json: Json) -> usize {
    let mut total = 0;
    let mut index = 0;
    while index < json.len() {
        total += match json[index] {
            Piece::Raw(text) => text.len(),
            Piece::Text(text) => quoted_len(text.as_bytes()),
            Piece::Nested(inner) => json_len(inner),
        };
        index += 1;
    }
    total
}

/// The whole section: header and joined text. `N` is `HEADER_LEN + json_len(json)`.
///
/// # Panics
///
/// At compile time, when `N` is any other number.
pub const fn section<const N: usize>(json: Json) -> [u8; N] {
    let mut bytes = [0; N];
    let mut at = write(&mut bytes, 0, &MAGIC);
    at = write(&mut bytes, at, &FORMAT.to_le_bytes());
    at = write(&mut bytes, at, &((N - HEADER_LEN) as u64).to_le_bytes());
    let end = write_json(&mut bytes, at, json);
    assert!(end == N, "the section's length is not that of its manifest");
    bytes
}

const fn write<const N: usize>(bytes: &mut [u8; N], at: usize, text: &[u8]) -> usize {
    let mut index = 0;
    while index < text.len() {
        bytes[at + index] = text[index];
        index += 1;
    }
    at + index
}

const fn write_json<const N: usize>(bytes: &mut [u8; N], mut at: usize, json: Json) -> usize {
    let mut index = 0;
    while index < json.len() {
        at = match json[index] {
            Piece::Raw(text) => write(bytes, at, text.as_bytes()),
            Piece::Text(text) => write_quoted(bytes, at, text.as_bytes()),
            Piece::Nested(inner) => write_json(bytes, at, inner),
        };
        index += 1;
    }
    at
}

const fn quoted_len(text: &[u8]) -> usize {
    let mut total = 2;
    let mut index = 0;
    while index < text.len() {
        total += match text[index] {
            b'"' | b'\\' => 2,
            0..=0x1f => 6,
            _ => 1,
        };
        index += 1;
    }
    total
}

const fn write_quoted<const N: usize>(bytes: &mut [u8; N], mut at: usize, text: &[u8]) -> usize {
    const HEX: [u8; 16] = *b"0123456789abcdef";
    at = write(bytes, at, b"\"");
    let mut index = 0;
    while index < text.len() {
        let byte = text[index];
        at = match byte {
            b'"' | b'\\' => write(bytes, at, &[b'\\', byte]),
            0..=0x1f => {
                let escape = [
                    b'\\',
                    b'u',
                    b'0',
                    b'0',
                    HEX[(byte >> 4) as usize],
                    HEX[(byte & 15) as usize],
                ];
                write(bytes, at, &escape)
            }
            _ => write(bytes, at, &[byte]),
        };
        index += 1;
    }
    write(bytes, at, b"\"")
}

/// Why the bytes of a section are no manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionError {
    /// Shorter than a header, or not ours.
    Header {
        /// How many bytes there were.
        len: usize,
    },
    /// Written by a stud that knows a newer format.
    Format {
        /// The number found.
        found: u32,
    },
    /// A header with nothing behind it.
    Empty,
    /// The stated length is beyond the section or beyond reason.
    Length {
        /// What the header says.
        stated: u64,
        /// What is there.
        available: u64,
    },
    /// A second manifest follows the first.
    Duplicate,
    /// The text is not UTF-8.
    NotUtf8 {
        /// The first bad byte, counted from the start of the text.
        offset: usize,
    },
}

/// Reads the manifest text out of a section.
///
/// Bytes behind the stated length are padding, unless they are another manifest.
pub fn manifest_text(section: &[u8]) -> Result<&str, SectionError> {
    let header = SectionError::Header { len: section.len() };
    let (magic, rest) = section.split_first_chunk::<4>().ok_or(header)?;
    if *magic != MAGIC {
        return Err(header);
    }
    let (format, rest) = rest.split_first_chunk::<4>().ok_or(header)?;
    let format = u32::from_le_bytes(*format);
    if format != FORMAT {
        return Err(SectionError::Format { found: format });
    }
    let (stated, rest) = rest.split_first_chunk::<8>().ok_or(header)?;
    let stated = u64::from_le_bytes(*stated);
    if stated == 0 {
        return Err(SectionError::Empty);
    }
    let too_long = SectionError::Length {
        stated,
        available: rest.len() as u64,
    };
    if stated > MAX_MANIFEST_LEN {
        return Err(too_long);
    }
    let (text, behind) = usize::try_from(stated)
        .ok()
        .and_then(|stated| rest.split_at_checked(stated))
        .ok_or(too_long)?;
    let padding = behind.iter().take_while(|byte| **byte == 0).count();
    if behind[padding..].starts_with(&MAGIC) {
        return Err(SectionError::Duplicate);
    }
    str::from_utf8(text).map_err(|error| SectionError::NotUtf8 {
        offset: error.valid_up_to(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: Json = &[
        Piece::Raw("{\"type\":"),
        Piece::Text("string"),
        Piece::Raw("}"),
    ];
    const MANIFEST: Json = &[
        Piece::Raw("{\"description\":"),
        Piece::Text("says \"hi\"\n\\o/ ü"),
        Piece::Raw(",\"schema\":"),
        Piece::Nested(SCHEMA),
        Piece::Raw("}"),
    ];
    static SECTION: [u8; HEADER_LEN + json_len(MANIFEST)] = section(MANIFEST);

    fn with(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = SECTION.to_vec();
        change(&mut bytes);
        bytes
    }

    #[test]
    fn what_was_written_is_read_back() {
        assert_eq!(
            manifest_text(&SECTION),
            Ok(
                "{\"description\":\"says \\\"hi\\\"\\u000a\\\\o/ ü\",\"schema\":{\"type\":\"string\"}}"
            )
        );
    }

    #[test]
    fn padding_is_no_part_of_the_manifest() {
        let padded = with(|bytes| bytes.extend([0; 7]));
        assert_eq!(manifest_text(&padded), manifest_text(&SECTION));
    }

    #[test]
    fn each_fault_is_told_apart() {
        let cases: [(Vec<u8>, SectionError); 8] = [
            (vec![], SectionError::Header { len: 0 }),
            (b"STUX".to_vec(), SectionError::Header { len: 4 }),
            (SECTION[..15].to_vec(), SectionError::Header { len: 15 }),
            (with(|b| b[4] = 2), SectionError::Format { found: 2 }),
            (with(|b| b[8..16].fill(0)), SectionError::Empty),
            (
                with(|b| b[8..16].copy_from_slice(&100_000_000_u64.to_le_bytes())),
                SectionError::Length {
                    stated: 100_000_000,
                    available: (SECTION.len() - 16) as u64,
                },
            ),
            (with(|b| b.extend_from_within(..)), SectionError::Duplicate),
            (with(|b| b[20] = 0xff), SectionError::NotUtf8 { offset: 4 }),
        ];
        for (bytes, expected) in cases {
            assert_eq!(manifest_text(&bytes), Err(expected));
        }
    }
}
