//! The structure of the repository, checked: what a compiler cannot see.

mod arrows;
mod deny;
mod errors;
mod language;
mod modules;
mod names;
mod order;
mod private;
mod publishing;
mod requirements;
mod unsafe_code;

pub(crate) use publishing::published;

use crate::failure::{Failure, Outcome};
use crate::problem::{Problem, Weight};
use crate::suggest;
use crate::tree::Tree;
use crate::workspace::Workspace;

/// What a check looks at.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    pub(crate) workspace: Workspace,
    pub(crate) tree: Tree,
}

type Check = fn(&Repository) -> Vec<Problem>;

const CHECKS: &[(&str, Check)] = &[
    ("arrows", arrows::check),
    ("order", order::check),
    ("unsafe_code", unsafe_code::check),
    ("errors", errors::check),
    ("modules", modules::check),
    ("names", names::check),
    ("private", private::check),
    ("publishing", publishing::check),
    ("requirements", requirements::check),
    ("language", language::check),
    ("deny", deny::check),
    ("codegen", |repository| {
        crate::codegen::problems(&repository.workspace, &repository.tree)
    }),
    ("contracts", |repository| {
        crate::contracts::problems(&repository.workspace, &repository.tree)
    }),
];

/// Runs the named checks, or all of them.
pub(crate) fn run(args: &[String]) -> Outcome {
    let chosen = chosen(args)?;
    let workspace = Workspace::read()?;
    let tree = Tree::read(&workspace.root)?;
    let repository = Repository { workspace, tree };

    let mut failed = Vec::new();
    for (name, check) in chosen {
        let found = check(&repository);
        let problems = found
            .iter()
            .filter(|finding| finding.weight == Weight::Problem)
            .count();
        for finding in &found {
            println!("{finding}");
        }
        if problems == 0 {
            println!("check {name}: ok");
        } else {
            println!("check {name}: {}", counted(problems));
            failed.push(name);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "problems in {}; to run only these: cargo xtask check {}",
        failed.join(", "),
        failed.join(" ")
    )))
}

fn chosen(args: &[String]) -> Result<Vec<(&'static str, Check)>, Failure> {
    if args.is_empty() {
        return Ok(CHECKS.to_vec());
    }
    args.iter()
        .map(|arg| {
            CHECKS
                .iter()
                .find(|(name, _)| name == arg)
                .copied()
                .ok_or_else(|| {
                    let hint = suggest::hint(arg, CHECKS.iter().map(|(name, _)| *name));
                    Failure::usage(format!(
                        "there is no check `{arg}`{hint}\n`cargo xtask check --help` lists them"
                    ))
                })
        })
        .collect()
}

fn counted(problems: usize) -> String {
    match problems {
        1 => "1 problem".to_owned(),
        many => format!("{many} problems"),
    }
}

#[cfg(test)]
mod tests {
    use super::{CHECKS, chosen};
    use crate::failure::Failure;
    use crate::help;

    #[test]
    fn every_check_has_its_line_in_the_help() {
        let page = help::page("check").unwrap();
        for (name, _) in CHECKS {
            assert!(page.contains(&format!("\n  {name} ")), "{name}");
        }
    }

    #[test]
    fn no_name_means_all_and_a_wrong_one_is_refused() {
        assert_eq!(chosen(&[]).unwrap().len(), CHECKS.len());
        let Err(Failure::Usage(message)) = chosen(&["arows".to_owned()]) else {
            panic!("a wrong name was taken");
        };
        assert!(message.contains("did you mean `arrows`?"), "{message}");
    }
}
