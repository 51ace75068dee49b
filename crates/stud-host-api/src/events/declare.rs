//! What declares a core event once: its name, its severity, its payload and their descriptions.

use serde::Serialize;

use crate::Severity;

/// The payload of an event that only core publishes.
///
/// Each event of [`CORE_EVENTS`](super::CORE_EVENTS) has one type, and the type carries everything that is known of it.
///
/// ```
/// use stud_host_api::Severity;
/// use stud_host_api::events::{CoreEvent, TurnRendered};
///
/// assert_eq!(TurnRendered::NAME, "TurnRendered");
/// assert_eq!(TurnRendered::SEVERITY, Severity::Info);
/// let rendered: TurnRendered =
///     serde_json::from_str(r#"{"monotonicTs":"7","text":"Hello","turnId":"t1"}"#)?;
/// assert_eq!(rendered.text, "Hello");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub trait CoreEvent: Serialize {
    /// The name on the bus.
    const NAME: &'static str;

    /// How much it matters to a log.
    const SEVERITY: Severity;
}

/// What is known of a core event without its payload.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CoreEventInfo {
    /// The name on the bus.
    pub name: &'static str,
    /// How much it matters to a log.
    pub severity: Severity,
    /// The heading under which the reference lists it.
    pub section: &'static str,
    /// The JSON Schema of the payload.
    #[cfg(feature = "schema")]
    pub schema: fn() -> schemars::Schema,
    /// Reads a payload into its type and writes it again.
    #[cfg(test)]
    pub(super) rewritten: fn(&str) -> serde_json::Result<String>,
}

#[cfg(test)]
pub(super) fn rewritten<T>(payload: &str) -> serde_json::Result<String>
where
    T: Serialize + serde::de::DeserializeOwned,
{
    let read: T = serde_json::from_str(payload)?;
    serde_json::to_string(&read)
}

/// The schema of one payload, with everything it refers to written out in place.
#[cfg(feature = "schema")]
pub(super) fn schema_of<T: schemars::JsonSchema>() -> schemars::Schema {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let generator = settings.with(|settings| settings.inline_subschemas = true);
    generator.into_generator().into_root_schema_for::<T>()
}

/// Declares the events of one section.
///
/// `Info Name { member: Type, … }` declares the event with its payload; `Info Name(Type)` gives it the payload of
/// another one; `Info Name;` names a payload that a contract declares.
///
/// Members stand in byte order of their names on the wire, because that is the order in which they are published.
macro_rules! core_events {
    (
        $list:ident = $section:literal;
        $( $(#[$meta:meta])* $severity:ident $name:ident $body:tt )+
    ) => {
        $(
            core_events!(@payload [$(#[$meta])*] $name $body);

            impl $crate::events::CoreEvent for $name {
                const NAME: &'static str = stringify!($name);
                const SEVERITY: $crate::Severity = $crate::Severity::$severity;
            }
        )+

        /// The events of this section.
        pub(super) const $list: &[$crate::events::CoreEventInfo] = &[
            $($crate::events::CoreEventInfo {
                name: stringify!($name),
                severity: $crate::Severity::$severity,
                section: $section,
                #[cfg(feature = "schema")]
                schema: $crate::events::declare::schema_of::<$name>,
                #[cfg(test)]
                rewritten: $crate::events::declare::rewritten::<$name>,
            }),+
        ];
    };
    (@payload [$(#[$meta:meta])*] $name:ident {
        $( $(#[$member_meta:meta])* $member:ident: $type:ty ),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $( $(#[$member_meta])* pub $member: $type ),*
        }
    };
    (@payload [$(#[$meta:meta])*] $name:ident ($payload:ty)) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name(pub $payload);
    };
    (@payload [] $name:ident ;) => {};
}

pub(super) use core_events;
