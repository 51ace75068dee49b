//! The program as people and programs use it: words in; text, JSON and an exit status out.
#![forbid(unsafe_code)]

#[cfg(test)]
mod support;

#[cfg(test)]
mod usage;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod text;
#[cfg(test)]
mod list;
#[cfg(test)]
mod info;
#[cfg(test)]
mod check;
#[cfg(test)]
mod bundled;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod pin;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod install;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod scopes;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod home;
#[cfg(test)]
mod headless;
#[cfg(test)]
mod grants;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod hostile_text;
#[cfg(test)]
mod terminal;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod untrusted;
#[cfg(test)]
mod new;
#[cfg(test)]
mod new_builds;
