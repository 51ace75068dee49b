//! A version as text, while a plugin compiles.

use stud_contract_meta::SemVer;

/// How long the text of a version is.
pub const fn len(version: SemVer) -> usize {
    digits(version.major) + digits(version.minor) + digits(version.patch) + 2
}

/// The text of a version. `N` is [`len`] of it.
pub const fn bytes<const N: usize>(version: SemVer) -> [u8; N] {
    let mut bytes = [b'.'; N];
    let mut end = N;
    let numbers = [version.patch, version.minor, version.major];
    let mut index = 0;
    while index < 3 {
        let mut rest = numbers[index];
        let start = end - digits(rest);
        while end > start {
            end -= 1;
            bytes[end] = b"0123456789"[(rest % 10) as usize];
            rest /= 10;
        }
        end = end.saturating_sub(1);
        index += 1;
    }
    bytes
}

const fn digits(number: u64) -> usize {
    match number.checked_ilog10() {
        Some(log) => log as usize + 1,
        None => 1,
    }
}

/// Whether a text is three numbers with dots between them.
pub const fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut dots, mut digits, mut index) = (0, 0, 0);
    while index < bytes.len() {
        match bytes[index] {
            b'0'..=b'9' => digits += 1,
            b'.' if digits > 0 => (dots, digits) = (dots + 1, 0),
            _ => return false,
        }
        index += 1;
    }
    dots == 2 && digits > 0
}

/// A constant version as a `&'static str`.
macro_rules! text {
    ($version:expr) => {{
        static TEXT: [u8; crate::private::version::len($version)] =
            crate::private::version::bytes($version);
        match str::from_utf8(&TEXT) {
            Ok(text) => text,
            Err(_) => "",
        }
    }};
}
pub(crate) use text;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_are_plain() {
        assert!(is_plain("0.1.0") && is_plain("10.20.30"));
        for wrong in [
            "",
            "1",
            "1.0",
            "1..0",
            "1.0.",
            ".1.0",
            "1.0.0.0",
            "1.0.0-rc.1",
            "1.0.0+b",
            "v1.0.0",
        ] {
            assert!(!is_plain(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_version_reads_as_it_displays() {
        const SMALL: SemVer = SemVer::new(1, 0, 0);
        const LARGE: SemVer = SemVer::new(10, 209, 3);
        const { assert!(len(LARGE) == 8) };
        assert_eq!(text!(SMALL), SMALL.to_string());
        assert_eq!(text!(LARGE), LARGE.to_string());
    }
}
