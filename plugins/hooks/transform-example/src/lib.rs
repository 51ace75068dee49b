//! `transform-example`: answers are shown without some characters, such as emoji.
//!
//! An example of a transform. It changes the text and nothing around it, gives the same for the same text, and never
//! stands in the way: a text of nothing but such characters becomes an empty one.
#![forbid(unsafe_code)]

use std::ops::RangeInclusive;

use stud_sdk::prelude::*;

/// What is taken out.
#[derive(Config)]
struct Options {
    /// Whether it is enabled; off by default.
    #[stud(default = false)]
    #[expect(dead_code, reason = "core reads it")]
    enabled: bool,
    /// Ranges of code points.
    #[stud(default = emoji())]
    remove_unicode_ranges: Vec<Range>,
}

/// A range of code points, both ends included.
#[derive(Schema)]
struct Range {
    /// The first, as a hexadecimal number such as `1F600`.
    #[stud(pattern = "^[0-9A-Fa-f]{1,6}$")]
    from: String,
    /// The last.
    #[stud(pattern = "^[0-9A-Fa-f]{1,6}$")]
    to: String,
}

/// The blocks that most emoji are in.
fn emoji() -> Vec<Range> {
    let blocks = [
        ("1F600", "1F64F"),
        ("1F300", "1F5FF"),
        ("1F680", "1F6FF"),
        ("1F900", "1F9FF"),
    ];
    let range = |(from, to): (&str, &str)| Range {
        from: from.to_owned(),
        to: to.to_owned(),
    };
    blocks.map(range).into()
}

/// Shows answers without the characters in some ranges.
#[hook(id = "transform-example", slot = "RENDER/pre", config = Options, init = TransformExample::new)]
struct TransformExample {
    removed: Vec<RangeInclusive<u32>>,
}

impl TransformExample {
    fn new(_host: Host, options: Options) -> Result<Self> {
        let ranges = options.remove_unicode_ranges.iter().enumerate();
        let removed = ranges.map(|(index, range)| {
            let code_points = range.code_points();
            code_points.ok_or_else(|| unusable(index, range))
        });
        Ok(Self {
            removed: removed.collect::<Result<_>>()?,
        })
    }

    fn keeps(&self, letter: char) -> bool {
        let letter = u32::from(letter);
        !self.removed.iter().any(|range| range.contains(&letter))
    }
}

impl Range {
    /// None for what is no number or ends before it begins.
    fn code_points(&self) -> Option<RangeInclusive<u32>> {
        let [from, to] = [&self.from, &self.to].map(|text| u32::from_str_radix(text, 16).ok());
        let range = from?..=to?;
        (!range.is_empty()).then_some(range)
    }
}

fn unusable(index: usize, range: &Range) -> Error {
    let message = format!(
        "`{}` to `{}` is not a range of hexadecimal code points from a lower to a higher one",
        range.from, range.to
    );
    Error::new(Class::Validation, "ConfigSchemaViolation", message)
        .with("fieldPath", format!("/removeUnicodeRanges/{index}"))
}

impl Transform for TransformExample {
    async fn transform(&self, mut payload: Value, _cx: &Cx) -> Result<Value> {
        if let Some(Value::String(text)) = payload.get_mut("text") {
            text.retain(|letter| self.keeps(letter));
        }
        Ok(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_sdk::testing::{FakeHost, Harness};

    fn harness(config: Value) -> Harness {
        Harness::new(stud_plugin(), FakeHost::new().config(config))
    }

    fn shown(config: Value, text: &str) -> String {
        let payload = json!({"text": text, "correlationId": "turn-1"});
        let passed = harness(config).transform(&payload).unwrap();
        assert_eq!(passed["correlationId"], "turn-1");
        passed["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn emoji_are_taken_out_and_the_rest_is_kept() {
        let text = "Done 😀! é 漢 ☃ 🌍🚀🤖 → \n";
        assert_eq!(shown(json!({}), text), "Done ! é 漢 ☃  → \n");
    }

    #[test]
    fn both_ends_of_a_range_belong_to_it() {
        let config = json!({"removeUnicodeRanges": [{"from": "62", "to": "0064"}, {"from": "e9", "to": "E9"}]});
        assert_eq!(shown(config, "abcdeéè"), "aeè");
    }

    #[test]
    fn nothing_may_be_left_and_nothing_may_be_removed() {
        assert_eq!(shown(json!({}), "😀😀"), "");
        assert_eq!(shown(json!({"removeUnicodeRanges": []}), "😀"), "😀");
    }

    #[test]
    fn a_payload_without_a_text_passes_as_it_is() {
        for payload in [json!({}), json!("😀"), json!({"text": 7}), json!(null)] {
            assert_eq!(harness(json!({})).transform(&payload).unwrap(), payload);
        }
    }

    #[test]
    fn a_range_that_is_none_is_named() {
        for (from, to) in [("64", "62"), ("", "62"), ("zz", "62"), ("62", "FFFFFFFFFF")] {
            let ranges = json!([{"from": "1", "to": "2"}, {"from": from, "to": to}]);
            let harness = harness(json!({"removeUnicodeRanges": ranges}));
            let error = harness.start().unwrap_err();
            assert_eq!(error.code(), "ConfigSchemaViolation", "{from} {to}");
            assert_eq!(error.context()["fieldPath"], "/removeUnicodeRanges/1");
        }
    }

    #[test]
    fn the_manifest_says_where_it_sits() {
        let harness = harness(json!({}));
        assert_eq!(
            harness.manifest()["registration"],
            json!({"slot": "RENDER/pre", "subKind": "transform", "firingMode": "per-stage"})
        );
    }
}
