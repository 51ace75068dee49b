//! `stud serve` from outside: sockets in, frames out. Tests carry the numbers of the requirements they hold.
#![forbid(unsafe_code)]

#[cfg(test)]
mod admission;
#[cfg(test)]
mod prompts;
#[cfg(test)]
mod tool_rules;
#[cfg(test)]
mod late;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod core_prompts;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod sessions;
