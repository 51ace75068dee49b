//! JSON as a manifest must be: each member once, not nested beyond reason.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Where and why a text is not strict JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// Counted from one.
    pub line: usize,
    /// Counted from one.
    pub column: usize,
    /// What is wrong there.
    pub problem: String,
}

/// Reads a document; a repeated member is an error, not a silent choice between two values.
///
/// Nesting deeper than 128 levels is refused by the parser underneath.
pub fn parse(text: &str) -> Result<Value, Malformed> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let outcome = Strict.deserialize(&mut reader).and_then(|value| {
        reader.end()?;
        Ok(value)
    });
    outcome.map_err(|error| {
        let text = error.to_string();
        let problem = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(problem, _)| problem);
        Malformed {
            line: error.line(),
            column: error.column(),
            problem: problem.to_owned(),
        }
    })
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format!(
                    "the member `{name}` is there twice"
                )));
            }
            let value = members.next_value_seed(Self)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_documents_read_as_usual() {
        let text = r#"{"a":[1,-2,3.5,true,null,"x"],"b":{"c":{}}}"#;
        assert_eq!(
            parse(text).unwrap(),
            serde_json::from_str::<Value>(text).unwrap()
        );
    }

    #[test]
    fn a_repeated_member_is_refused_where_it_stands() {
        let error = parse("{\n  \"a\": 1,\n  \"a\": 2\n}").unwrap_err();
        assert_eq!(
            (error.line, error.problem.as_str()),
            (3, "the member `a` is there twice")
        );
    }

    #[test]
    fn nesting_and_trailing_text_are_refused() {
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse("{} {}").is_err());
        assert!(parse("").is_err());
    }
}
