//! The page in a real browser.
//!
//! `STUD_PICTURES` names a folder for pictures of what the tests see.
#![forbid(unsafe_code)]

#[cfg(test)]
mod driver;
#[cfg(test)]
mod accessibility;
#[cfg(test)]
mod page;
