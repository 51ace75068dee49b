//! What the black-box tests share: fixture libraries, changes to them, and a stud to run them in.
#![forbid(unsafe_code)]

mod fixtures;
mod patch;
mod neutral;
mod world;
mod core;

pub use core::Core;
pub use fixtures::{fixture, stud_program, target_folder, workspace_root};
pub use patch::{Elf, section_of};
pub use world::{Answer, World};
