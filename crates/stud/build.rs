//! Links the program with its relocations packed where the system can read them.
//!
//! A start applies tens of thousands of them. Packed, they take a few pages instead of over a hundred, all of which would
//! count as memory of the program. A C library that is too old refuses such a program, so the one here is asked first.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script everything through the environment"
)]
#![forbid(unsafe_code)]

use std::env;
use std::process::Command;

/// The first GNU C library that can read packed relocations.
const SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_for_here = env::var("HOST") == env::var("TARGET");
    let is_gnu = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if is_for_here && is_gnu && libc_version().is_some_and(|version| version >= SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// What `getconf` says, such as `glibc 2.36`.
fn libc_version() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let said = String::from_utf8(said.ok()?.stdout).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
