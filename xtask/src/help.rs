//! The text of `--help`: one line per task, and a page with examples for each.

use crate::failure::{Failure, Outcome};
use crate::suggest;

struct Task {
    name: &'static str,
    usage: &'static str,
    line: &'static str,
    page: &'static str,
}

const TASKS: &[Task] = &[
    Task {
        name: "run",
        usage: "run [--release] [-- ARGS]",
        line: "build the stud program and start it",
        page: "\
The program starts in the folder you are in, and its exit code is passed on.

Examples:
  cargo xtask run
  cargo xtask run -- plugin list --json
  cargo xtask run --release -- --headless --json \"!tool read_file {}\"",
    },
    Task {
        name: "test",
        usage: "test [FILTER...]",
        line: "everything that must pass, fastest first; with FILTER, those tests only",
        page: "\
Steps: fmt, check, clippy, fixtures, codegen, tests, races, doctests, rustdoc.
The first step that fails ends the run and says how to repeat it alone.
With FILTER only `fixtures` and `tests` run, and only tests whose name contains it.
The FILTER `races` stands for the models of races. `--schedules N` after it says in how many orders each is run.

Examples:
  cargo xtask test
  cargo xtask test late_answer_is_refused
  cargo xtask test races --schedules 100000
  CI=true cargo xtask test",
    },
    Task {
        name: "check",
        usage: "check [NAME...]",
        line: "the structure of the repository: arrows, order, unsafe_code, errors, modules, names, private, publishing, language, requirements, deny, codegen, contracts",
        page: "\
Each finding says where it is and how to fix it.

  arrows       crates depend only on the crates below them
  order        modules use only modules listed above them, at every level; each line of lib.rs says what is inside
  unsafe_code  `unsafe` lives in stud-abi, and each use says why it is sound
  errors       every Class/Code has a page, a test case and a use
  modules      no mod.rs, no vague names, no file that is too long
  names        no type name twice in a crate, no module name that only the authors understand
  private      no path or host name of a developer's machine
  publishing   what an author depends on has metadata, a readme, licences and versions
  language     comments, pages and messages name components in the usual words
  requirements every numbered requirement is named by a test
  deny         dependencies: no banned crate, license or source (where cargo-deny is installed)
  codegen      files generated from declarations are what the declarations say
  contracts    contracts, their locks, versions and changelogs agree

Examples:
  cargo xtask check
  cargo xtask check errors",
    },
    Task {
        name: "codegen",
        usage: "codegen [--check]",
        line: "write the files that are generated from declarations",
        page: "\
Writes docs/reference and docs/operator/settings.md from the declarations of events, settings, error codes, host
operations and verbs, and prints the files that changed. With --check it only says which are stale.

Examples:
  cargo xtask codegen
  cargo xtask codegen --check",
    },
    Task {
        name: "contracts",
        usage: "contracts check|lock|bump",
        line: "hold the contracts against their locks and versions, write the locks, or raise a version",
        page: "\
Each difference has its own line, with the rule that says which bump it needs.
`lock` refuses while a version is too low for what changed.
With --base REV the locks of that revision are compared with. `check --json` prints one object.
`bump CONTRACT LEVEL` raises the version, begins the changelog entry and writes the lock; it refuses a level below
what the changes need. CONTRACT is the name of a folder in crates/stud-contracts, or `host-api`.

Examples:
  cargo xtask contracts check
  cargo xtask contracts check --json --base main
  cargo xtask contracts bump tool minor
  cargo xtask contracts lock",
    },
    Task {
        name: "fixtures",
        usage: "fixtures [--release]",
        line: "build the plugins under tests/fixtures and plugins as libraries",
        page: "\
Prints where each library is. `cargo xtask test` does this by itself.

Examples:
  cargo xtask fixtures
  cargo xtask fixtures --release",
    },
    Task {
        name: "conformance",
        usage: "conformance [CATEGORY | ID | PATH]",
        line: "hold the bundled plugins against the conformance cases, embedded and as libraries",
        page: "\
Builds the program and the plugins, and runs `stud plugin check --conformance` on each in both forms.
With a category such as Tool, an id such as echo, or the path of a library, on those alone.

Examples:
  cargo xtask conformance
  cargo xtask conformance Tool
  cargo xtask conformance echo
  cargo xtask conformance target/debug/libgood_tool.so",
    },
    Task {
        name: "package",
        usage: "package [--verify]",
        line: "pack every crate an author depends on, as for a registry",
        page: "\
Prints the packages. No registry is asked: the packages find each other, and all else is taken from cargo's cache.
With --verify each is built from its package alone.

Examples:
  cargo xtask package
  cargo xtask package --verify",
    },
    Task {
        name: "dist",
        usage: "dist [--debug]",
        line: "make the archive of a release: program, man pages, completions, licences, SBOM, checksums",
        page: "\
Writes target/dist/stud-VERSION-TARGET.tar.gz, the folder it was packed from, and SHA256SUMS.
The same commit, built with the same compiler in the same folder, gives the same bytes.
It needs GNU tar, gzip, git and sha256sum. --debug packs an unoptimized build, to try it out.

Examples:
  cargo xtask dist
  cargo xtask dist --debug",
    },
    Task {
        name: "bench",
        usage: "bench NAME [ARGS]",
        line: "run a benchmark of the stud-benches package in release form",
        page: "\
NAME and ARGS are passed on to the package as they are.

Examples:
  cargo xtask bench abi
  cargo xtask bench core events
  cargo xtask bench core --write",
    },
    Task {
        name: "campaign",
        usage: "campaign NAME|all [--size SIZE]",
        line: "repeat one kind of failure or attack, and write the figures into docs/reliability.md",
        page: "\
NAME is crash, kill, damage, paths, audit or terminal; SIZE is pr, nightly or release.
The size pr is part of `cargo xtask test`, the others repeat the same more often.

Examples:
  cargo xtask campaign crash
  cargo xtask campaign kill --size release
  cargo xtask campaign all --size nightly",
    },
    Task {
        name: "new",
        usage: "new error Class/Code \"SUMMARY\"",
        line: "lay out every file a change needs, and leave the tests red",
        page: "\
Adds the code to the registry, its page, and its test case.
SUMMARY is the sentence the code's page opens with.

Examples:
  cargo xtask new error Validation/ManifestTooLarge \"The manifest is larger than stud reads.\"",
    },
];

/// Whether the arguments before `--` ask for help.
pub(crate) fn is_asked_for(args: &[String]) -> bool {
    args.iter()
        .take_while(|arg| *arg != "--")
        .any(|arg| arg == "--help" || arg == "-h")
}

/// All tasks, one line each.
pub(crate) fn overview() -> String {
    let mut text = String::from("Usage: cargo xtask TASK\n\nTasks:\n");
    for task in TASKS {
        let line = format!("  {:<32} {}\n", task.usage, task.line);
        text.push_str(&line);
    }
    text.push_str(
        "\nExamples:
  cargo xtask run                  try stud
  cargo xtask test                 before you send a change
  cargo xtask check arrows         one structure check alone
  cargo xtask test --help          more about one task",
    );
    text
}

/// The page of one task.
pub(crate) fn page(name: &str) -> Option<String> {
    let task = TASKS.iter().find(|task| task.name == name)?;
    Some(format!(
        "Usage: cargo xtask {}\n\n{}.\n\n{}",
        task.usage,
        capitalized(task.line),
        task.page
    ))
}

/// Prints the overview, or the page of the task that is named.
pub(crate) fn run(args: &[String]) -> Outcome {
    match args.first() {
        None => println!("{}", overview()),
        Some(name) => println!("{}", page(name).ok_or_else(|| unknown(name))?),
    }
    Ok(())
}

/// The failure for a task that does not exist.
pub(crate) fn unknown(name: &str) -> Failure {
    let hint = suggest::hint(name, TASKS.iter().map(|task| task.name));
    Failure::usage(format!(
        "there is no task `{name}`{hint}\n`cargo xtask --help` lists all tasks"
    ))
}

fn capitalized(line: &str) -> String {
    let mut letters = line.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{TASKS, is_asked_for, overview, page, unknown};
    use crate::failure::Failure;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn every_task_has_a_line_and_an_example() {
        let overview = overview();
        for task in TASKS {
            assert!(overview.contains(task.line), "{}", task.name);
            let page = page(task.name).unwrap();
            assert!(
                page.contains(&format!("\n  cargo xtask {}", task.name)),
                "{page}"
            );
        }
    }

    #[test]
    fn help_for_the_program_is_not_help_for_the_task() {
        assert!(is_asked_for(&words("--release --help")));
        assert!(!is_asked_for(&words("--release -- --help")));
    }

    #[test]
    fn an_unknown_task_is_wrong_usage_and_names_the_nearest() {
        let Failure::Usage(message) = unknown("tset") else {
            panic!("not a usage failure");
        };
        assert!(message.contains("did you mean `test`?"), "{message}");
    }
}
