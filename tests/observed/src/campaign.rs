//! How large a campaign is, and the figures it comes to.
//!
//! A campaign is a test that repeats something many times. With the other tests it runs in its smallest size;
//! `cargo xtask campaign NAME --size SIZE` runs it in another one and writes its figures into `docs/reliability.md`.

use std::io::Write as _;

/// Names the size.
const SIZE: &str = "STUD_CAMPAIGN_SIZE";

/// Names the file that figures are added to; without it none are kept.
const FIGURES: &str = "STUD_CAMPAIGN_FIGURES";

/// How often to do something in a campaign of the size that was asked for.
///
/// # Panics
///
/// When the size has no such name.
#[expect(
    clippy::panic,
    reason = "a test is told its size in its environment, and must not run in another one"
)]
pub fn times(pr: u64, nightly: u64, release: u64) -> u64 {
    match std::env::var(SIZE).as_deref() {
        Err(_) | Ok("pr") => pr,
        Ok("nightly") => nightly,
        Ok("release") => release,
        Ok(other) => panic!("{SIZE} is `{other}`, and must be `pr`, `nightly` or `release`"),
    }
}

/// Adds a figure: how many there were of something. Figures of the same name are added up.
///
/// # Panics
///
/// When it cannot be kept.
#[expect(
    clippy::expect_used,
    reason = "a figure that is lost would make the report wrong"
)]
pub fn figure(what: &str, count: u64) {
    let Some(path) = std::env::var_os(FIGURES) else {
        return;
    };
    let mut file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(path)
        .expect("the file of figures can be opened");
    let line = format!("{count}\t{what}\n");
    file.write_all(line.as_bytes())
        .expect("a figure can be written");
}
