//! Parameters of a request, where the backend wants them.

use model_http::Bag;
use serde_json::{Map, Value};
use stud_sdk::Result;

/// What says how the answer is made.
const GENERATION: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("topP", "topP"),
    ("topK", "topK"),
    ("maxOutputTokens", "maxOutputTokens"),
    ("stopSequences", "stopSequences"),
    ("seed", "seed"),
    ("thinkingConfig", "thinkingConfig"),
    ("responseModalities", "responseModalities"),
    ("imageConfig", "imageConfig"),
    ("audioTimestamp", "audioTimestamp"),
    ("mediaResolution", "mediaResolution"),
];

/// What stands beside that.
const BESIDE: &[(&str, &str)] = &[("safetySettings", "safetySettings"), ("labels", "labels")];

/// The members of the request that parameters make.
pub(crate) fn settle(mut bag: Bag) -> Result<Map<String, Value>> {
    let mut members = Map::new();
    let mut generation = Map::new();
    bag.carry(GENERATION, &mut generation);
    bag.carry(BESIDE, &mut members);
    bag.finish(&["structuredOutputs"])?;
    if !generation.is_empty() {
        members.insert("generationConfig".to_owned(), generation.into());
    }
    Ok(members)
}
