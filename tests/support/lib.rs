//! What the black-box tests share: fixture libraries, changes to them, and a stud to run them in.
#![forbid(unsafe_code)]

mod fixtures;
mod patch;
mod neutral;
mod world;
mod wait;
mod core;
mod door;
mod live;
mod served;
mod terminal;

pub use core::Core;
pub use door::{Called, Calling, Door, cause_of, code_of};
pub use fixtures::{
    Carried, carried, fixture, mcp_server, opened_copies, stud_program, target_folder,
    workspace_root,
};
pub use live::{Live, Talking, impatient};
pub use patch::{Elf, section_of};
pub use served::{Client, Fetched, Served};
pub use terminal::Terminal;
pub use wait::eventually;
pub use world::{Answer, World};
