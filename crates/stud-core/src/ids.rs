//! Ids. All of them are UUIDs of version 7: unique anywhere, and in the order they were made.

/// An id that nothing else has.
pub fn fresh() -> String {
    uuid::Uuid::now_v7().to_string()
}
