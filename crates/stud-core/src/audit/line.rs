//! One record as one line of the file.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use stud_host_api::audit::AuditRecord;

use super::reason::Reason;

/// What the first record has in place of the hash of the one before it.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A line ready to be written.
pub(super) struct RecordLine {
    /// With its line end.
    pub(super) bytes: Vec<u8>,
    pub(super) hash: String,
}

/// Writes a record in canonical form. `payload` is its payload, already in that form.
///
/// Only the payload can hold anything that is hard to write canonically; the members around it are text and small
/// numbers, and their order is fixed. A reader that canonicalizes the whole line gets the same bytes.
pub(super) fn write(record: &AuditRecord, payload: &str, seq: u64, prev_hash: &str) -> RecordLine {
    let mut text = Members(Vec::with_capacity(payload.len() + 640));
    text.string("actor", &record.actor);
    text.string("class", &record.class);
    text.string("correlationId", &record.correlation_id);
    if let Some(depth) = record.depth {
        text.raw("depth", depth.to_string().as_bytes());
    }
    let place_of_hash = text.0.len();
    text.optional("kind", record.kind.as_deref());
    text.optional("parentSessionId", record.parent_session_id.as_deref());
    text.raw("payload", payload.as_bytes());
    text.string("prevHash", prev_hash);
    text.raw("seq", seq.to_string().as_bytes());
    text.string("sessionId", &record.session_id);
    text.optional("subagentId", record.subagent_id.as_deref());
    text.string("timestamp", &record.timestamp);
    let mut bytes = text.0;
    bytes.push(b'}');
    let hash = hash_of(&bytes);
    let member = [",\"hash\":\"", &hash, "\""].concat();
    bytes.splice(place_of_hash..place_of_hash, member.into_bytes());
    bytes.push(b'\n');
    RecordLine { bytes, hash }
}

/// An object in the making.
struct Members(Vec<u8>);

impl Members {
    fn name(&mut self, name: &str) {
        let before = if self.0.is_empty() { b'{' } else { b',' };
        self.0.extend_from_slice(&[before, b'"']);
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    fn raw(&mut self, name: &str, json: &[u8]) {
        self.name(name);
        self.0.extend_from_slice(json);
    }

    fn string(&mut self, name: &str, value: &str) {
        self.name(name);
        // Text can always be written as JSON, and is escaped as the canonical form wants it.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    fn optional(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.string(name, value);
        }
    }
}

/// What a line holds, as far as it can be told.
#[derive(Debug, Default)]
pub(super) struct ParsedLine {
    pub(super) seq: Option<u64>,
    pub(super) hash: Option<String>,
    pub(super) prev_hash: Option<String>,
    pub(super) record: Option<AuditRecord>,
    /// Why it is not a line that was written here.
    pub(super) reason: Option<Reason>,
}

/// Reads a line without its line end, and holds it against its own hash.
pub(super) fn read(line: &[u8]) -> ParsedLine {
    let mut members: Map<String, Value> = match serde_json::from_slice(line) {
        Ok(members) => members,
        Err(error) => {
            return ParsedLine {
                reason: Some(Reason::NotARecord(error.to_string())),
                ..ParsedLine::default()
            };
        }
    };
    let hash = hash_in(&members, "hash");
    let mut held = ParsedLine {
        seq: members.get("seq").and_then(Value::as_u64),
        prev_hash: hash_in(&members, "prevHash"),
        hash,
        ..ParsedLine::default()
    };
    members.remove("hash");
    let body = serde_json_canonicalizer::to_vec(&members).unwrap_or_default();
    held.reason = match &held.hash {
        None => Some(lacks("hash")),
        Some(hash) if hash_of(&body) != *hash => Some(Reason::Altered),
        Some(hash) if !is_with_hash(line, &body, hash) => Some(Reason::NotCanonical),
        Some(_) if held.prev_hash.is_none() => Some(lacks("prevHash")),
        Some(_) if held.seq.is_none() => Some(lacks("seq")),
        Some(_) => None,
    };
    match serde_json::from_value(Value::Object(members)) {
        Ok(record) => held.record = Some(record),
        Err(error) => {
            held.reason
                .get_or_insert_with(|| Reason::NotARecord(error.to_string()));
        }
    }
    held
}

fn lacks(member: &str) -> Reason {
    Reason::NotARecord(format!("it has no usable `{member}`"))
}

fn hash_in(members: &Map<String, Value>, name: &str) -> Option<String> {
    let hash = members.get(name)?.as_str()?;
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    (hash.len() == GENESIS.len() && hash.chars().all(is_digit)).then(|| hash.to_owned())
}

/// Whether a line is the canonical `body` with the member `hash` added, and nothing else.
fn is_with_hash(line: &[u8], body: &[u8], hash: &str) -> bool {
    let member = format!("\"hash\":\"{hash}\"");
    let is_here = |at: usize| {
        // One comma goes with it, the one after it unless it is the last.
        let end = at + member.len();
        let (start, end) = if line.get(end) == Some(&b',') {
            (at, end + 1)
        } else {
            (at.saturating_sub(1), end)
        };
        body.len() + (end - start) == line.len()
            && body.starts_with(&line[..start])
            && body.ends_with(&line[end..])
    };
    line.windows(member.len())
        .enumerate()
        .filter(|(_, window)| *window == member.as_bytes())
        .any(|(at, _)| is_here(at))
}

fn hash_of(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |four_bits: u8| char::from(DIGITS[usize::from(four_bits)]);
    let digest = Sha256::digest(bytes);
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(digit).collect()
}
