//! Pictures that are in the message itself.

use stud_sdk::Result;

use crate::code::REQUEST_REJECTED;

/// A `data:` address: what it is, and its bytes in base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataUrl<'a> {
    /// Such as `image/png`.
    pub media_type: &'a str,
    /// The bytes, in base64.
    pub base64: &'a str,
}

impl<'a> DataUrl<'a> {
    /// Reads an address; nothing if it is one of another kind.
    pub fn read(url: &'a str) -> Result<Option<Self>> {
        let Some((scheme, rest)) = url.split_once(':') else {
            return Ok(None);
        };
        if !scheme.eq_ignore_ascii_case("data") {
            return Ok(None);
        }
        let parts = rest.split_once(',').and_then(|(about, base64)| {
            let about = about.strip_suffix(";base64")?;
            let media_type = about.split(';').next().unwrap_or_default();
            (!media_type.is_empty()).then_some(Self { media_type, base64 })
        });
        parts.map(Some).ok_or_else(|| {
            REQUEST_REJECTED.error("a picture in the request is not `data:<type>;base64,<bytes>`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_base64_with_a_type_is_read() {
        let png = DataUrl {
            media_type: "image/png",
            base64: "AA==",
        };
        assert_eq!(DataUrl::read("data:image/png;base64,AA=="), Ok(Some(png)));
        assert_eq!(
            DataUrl::read("DATA:image/png;x=1;base64,AA=="),
            Ok(Some(png))
        );
        for other in ["https://example.org/a.png", "a.png", ""] {
            assert_eq!(DataUrl::read(other), Ok(None));
        }
        for wrong in ["data:", "data:image/png,AA", "data:;base64,AA=="] {
            let error = DataUrl::read(wrong).unwrap_err();
            assert_eq!(error.code(), "RequestRejected", "{wrong}");
        }
    }
}
