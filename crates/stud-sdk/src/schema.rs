//! Types that know their own JSON Schema.
//!
//! A schema is put together while the plugin compiles and stands in its manifest, where it can be read without running
//! any code. Derive it: [`Schema`](derive@crate::Schema) for anything, [`Args`](derive@crate::tool::Args) for the
//! arguments of tools and commands, [`Config`](derive@crate::Config) for configuration.
//!
//! ```
//! use stud_sdk::Schema;
//!
//! /// How a search looks at its files.
//! #[derive(Schema)]
//! enum Order {
//!     Newest,
//!     LargestFirst,
//! }
//!
//! /// What was found.
//! #[derive(Schema)]
//! struct Found {
//!     /// Paths, in order.
//!     paths: Vec<String>,
//!     /// How they are ordered; as found when it is left out.
//!     order: Option<Order>,
//!     /// The most that would have been returned.
//!     #[stud(default = 100, max = 1000)]
//!     limit: u32,
//! }
//!
//! assert_eq!(
//!     stud_sdk::schema::value::<Found>(),
//!     serde_json::json!({
//!         "description": "What was found.",
//!         "type": "object",
//!         "properties": {
//!             "paths": {"description": "Paths, in order.", "type": "array", "items": {"type": "string"}},
//!             "order": {
//!                 "description": "How they are ordered; as found when it is left out.",
//!                 "type": "string",
//!                 "enum": ["newest", "largestFirst"],
//!             },
//!             "limit": {
//!                 "description": "The most that would have been returned.",
//!                 "type": "integer",
//!                 "minimum": 0,
//!                 "maximum": 1000,
//!                 "default": 100,
//!             },
//!         },
//!         "required": ["paths"],
//!         "additionalProperties": false,
//!     }),
//! );
//! ```

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use stud_abi::section::{Json, Piece};

#[doc(hidden)]
pub mod pieces;

use pieces::{comma, description_key, description_text, minimum};

/// A type with a JSON Schema.
///
/// The parts are apart because a field adds its own description and limits to those of its type.
///
/// ```
/// use stud_sdk::schema::{Json, Piece, Schema};
///
/// /// A color such as `#ff8800`.
/// struct Color(String);
///
/// impl Schema for Color {
///     const BODY: Json = &[Piece::Raw(r##""type":"string","pattern":"^#[0-9a-f]{6}$""##)];
/// }
///
/// assert_eq!(stud_sdk::schema::value::<Color>()["type"], "string");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema",
    note = "add `#[derive(Schema)]` to it, from `stud_sdk::Schema`"
)]
pub trait Schema {
    /// The members of the schema, without braces, description and the minimum of an unsigned number.
    const BODY: Json;

    /// What the type is; empty for nothing to say.
    const DESCRIPTION: &'static str = "";

    /// Whether it is a number that is never below zero.
    const UNSIGNED: bool = false;

    /// Whether a member of this type may be left out.
    const OPTIONAL: bool = false;

    /// Whether a member with this value is left out when it is written: no schema here allows for `null`.
    fn is_absent(&self) -> bool {
        false
    }

    /// The whole schema.
    const SCHEMA: Json = &[
        Piece::Raw("{"),
        description_key(Self::DESCRIPTION),
        description_text(Self::DESCRIPTION),
        comma(Self::DESCRIPTION, Self::BODY),
        Piece::Nested(Self::BODY),
        minimum(Self::UNSIGNED),
        Piece::Raw("}"),
    ];
}

/// A struct whose fields are the members of a JSON object. Derived, never written.
///
/// ```
/// use stud_sdk::Schema;
/// use stud_sdk::schema::Members;
///
/// #[derive(Schema)]
/// struct Point {
///     /// From the left.
///     x_pos: f64,
/// }
///
/// assert_eq!(Point::NAMES, ["xPos"]);
/// ```
pub trait Members: Schema {
    /// The names on the wire.
    const NAMES: &'static [&'static str];

    /// `"name":{…}` for each, separated by commas.
    const PROPERTIES: Json;

    /// The names that must be there, separated by commas.
    const REQUIRED: Json;
}

/// What a tool or a command is called with. Derive it: [`Args`](derive@crate::tool::Args).
///
/// ```
/// use stud_sdk::tool::Args;
///
/// #[derive(Args)]
/// struct Input {
///     /// The file to read.
///     path: String,
/// }
///
/// fn takes<T: Args>() {}
/// takes::<Input>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the arguments of a tool or a command",
    note = "add `#[derive(Args)]` to it, from `stud_sdk::tool::Args`"
)]
pub trait Args: Members + DeserializeOwned + Send + 'static {}

/// What a plugin is configured with. Derive it: [`Config`](derive@crate::Config).
///
/// ```
/// use stud_sdk::Config;
///
/// #[derive(Config)]
/// struct Options {
///     /// How many lines to show.
///     #[stud(default = 10, min = 1)]
///     lines: u32,
/// }
///
/// fn takes<T: Config>() {}
/// takes::<Options>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plugin's config",
    note = "add `#[derive(Config)]` to it, from `stud_sdk::Config`"
)]
pub trait Config: Members + DeserializeOwned + Send + 'static {}

/// No arguments, or no config of one's own.
///
/// ```
/// use stud_sdk::schema::Nothing;
///
/// assert_eq!(stud_sdk::schema::value::<Nothing>()["additionalProperties"], false);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

impl Schema for Nothing {
    const BODY: Json = &[Piece::Raw(
        "\"type\":\"object\",\"properties\":{},\"additionalProperties\":false",
    )];
}

impl Members for Nothing {
    const NAMES: &'static [&'static str] = &[];
    const PROPERTIES: Json = &[];
    const REQUIRED: Json = &[];
}

impl Args for Nothing {}
impl Config for Nothing {}

/// The schema of a type as a value, for tests and for looking at.
///
/// ```
/// assert_eq!(stud_sdk::schema::value::<Vec<bool>>()["items"]["type"], "boolean");
/// ```
pub fn value<T: Schema>() -> Value {
    serde_json::from_str(&text(T::SCHEMA)).unwrap_or_default()
}

fn text(json: Json) -> String {
    json.iter()
        .map(|piece| match piece {
            Piece::Raw(raw) => (*raw).to_owned(),
            Piece::Text(text) => Value::from(*text).to_string(),
            Piece::Nested(inner) => text(inner),
        })
        .collect()
}

macro_rules! plain {
    ($($body:literal, unsigned $unsigned:literal: $($ty:ty),+;)+) => {$($(
        impl Schema for $ty {
            const BODY: Json = &[Piece::Raw($body)];
            const UNSIGNED: bool = $unsigned;
        }
    )+)+};
}

plain! {
    "\"type\":\"boolean\"", unsigned false: bool;
    "\"type\":\"string\"", unsigned false: String, PathBuf;
    "\"type\":\"integer\"", unsigned false: i8, i16, i32, i64, isize;
    "\"type\":\"integer\"", unsigned true: u8, u16, u32, u64, usize;
    "\"type\":\"number\"", unsigned false: f32, f64;
    "\"type\":\"object\"", unsigned false: serde_json::Map<String, Value>;
}

/// Any JSON.
impl Schema for Value {
    const BODY: Json = &[];
}

impl<T: Schema> Schema for Option<T> {
    const BODY: Json = T::BODY;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
    const UNSIGNED: bool = T::UNSIGNED;
    const OPTIONAL: bool = true;

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Schema> Schema for Box<T> {
    const BODY: Json = T::BODY;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
    const UNSIGNED: bool = T::UNSIGNED;
    const OPTIONAL: bool = T::OPTIONAL;

    fn is_absent(&self) -> bool {
        T::is_absent(self)
    }
}

impl<T: Schema> Schema for Vec<T> {
    const BODY: Json = &[
        Piece::Raw("\"type\":\"array\",\"items\":"),
        Piece::Nested(T::SCHEMA),
    ];
}

impl<T: Schema> Schema for BTreeMap<String, T> {
    const BODY: Json = &[
        Piece::Raw("\"type\":\"object\",\"additionalProperties\":"),
        Piece::Nested(T::SCHEMA),
    ];
}

impl<T: Schema, S: BuildHasher> Schema for HashMap<String, T, S> {
    const BODY: Json = <BTreeMap<String, T> as Schema>::BODY;
}
