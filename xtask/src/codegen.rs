//! `codegen`: the files that are generated from declarations.
//!
//! The program `declarations` prints all but one: the page of the command line is the help that stud itself prints.

mod command_line;

use std::process::Command;

use serde_json::{Map, Value};

use crate::failure::{Failure, Outcome};
use crate::problem::Problem;
use crate::tree::Tree;
use crate::workspace::Workspace;

const USAGE: &str = "usage: cargo xtask codegen [--check]";

/// What renews a stale file.
const FIX: &str = "run `cargo xtask codegen`";

/// A generated file.
struct Page {
    path: String,
    text: String,
}

/// Writes the files, or with `--check` says which are stale.
pub(crate) fn run(args: &[String]) -> Outcome {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let is_check = match words.as_slice() {
        [] => false,
        ["--check"] => true,
        _ => return Err(Failure::usage(USAGE)),
    };
    let workspace = Workspace::read()?;
    let mut pages = declared(&workspace)?;
    pages.push(command_line::page(&workspace)?);
    if is_check {
        return check(&workspace, &pages);
    }
    for page in pages {
        let path = workspace.root.join(&page.path);
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        if kept == page.text {
            continue;
        }
        std::fs::write(&path, page.text)
            .map_err(|error| Failure::failed(format!("cannot write {}: {error}", page.path)))?;
        println!("wrote {}", page.path);
    }
    Ok(())
}

fn check(workspace: &Workspace, pages: &[Page]) -> Outcome {
    let tree = Tree::read(&workspace.root)?;
    let stale = stale(&tree, pages);
    for problem in &stale {
        println!("{problem}");
    }
    if stale.is_empty() {
        println!("{} generated files are up to date", pages.len());
        return Ok(());
    }
    Err(Failure::failed(format!("generated files are stale; {FIX}")))
}

/// The check among those of `cargo xtask check`. It leaves out the page of the command line, for which the program would
/// have to be built.
pub(crate) fn problems(workspace: &Workspace, tree: &Tree) -> Vec<Problem> {
    match declared(workspace) {
        Ok(pages) => stale(tree, &pages),
        Err(Failure::Usage(text) | Failure::Failed(text)) => {
            vec![Problem::new("xtask/declarations/Cargo.toml", 1, text, FIX)]
        }
        Err(Failure::Exit(code)) => {
            let text = format!("exit code {code}");
            vec![Problem::new("xtask/declarations/Cargo.toml", 1, text, FIX)]
        }
    }
}

fn stale(tree: &Tree, pages: &[Page]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for page in pages {
        let kept = tree.text(&page.path).unwrap_or_default();
        if kept == page.text {
            continue;
        }
        let mut lines = kept.lines().zip(page.text.lines());
        let same = lines.position(|(kept, made)| kept != made);
        let line = same.unwrap_or_else(|| kept.lines().count().min(page.text.lines().count()));
        let text = "this generated file is not what the declarations say";
        problems.push(Problem::new(page.path.as_str(), line + 1, text, FIX));
    }
    problems
}

/// The files that the declarations alone make.
fn declared(workspace: &Workspace) -> Result<Vec<Page>, Failure> {
    let pages: Map<String, Value> = declarations(workspace, "pages")?;
    let pages = pages.into_iter().map(|(path, text)| Page {
        path,
        text: text.as_str().unwrap_or_default().to_owned(),
    });
    Ok(pages.collect())
}

/// What the program `declarations` prints.
pub(crate) fn declarations(
    workspace: &Workspace,
    what: &str,
) -> Result<Map<String, Value>, Failure> {
    let args = ["--quiet", "--package", "declarations", "--features", "dump"];
    let built = crate::cargo::build(&workspace.root, &args)?;
    let program = built
        .into_iter()
        .find_map(|artifact| artifact.executable)
        .ok_or_else(|| Failure::failed("cargo built no `declarations`"))?;
    let output = Command::new(program)
        .arg(what)
        .output()
        .map_err(|error| Failure::failed(format!("cannot run `declarations`: {error}")))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| Failure::failed(format!("`declarations` printed no JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::{Page, stale};
    use crate::tree::Tree;

    #[test]
    fn a_stale_file_is_named_with_its_first_wrong_line_and_the_command() {
        let tree = Tree::of(&[("docs/a.md", "one\ntwo\n"), ("docs/b.md", "same\n")]);
        let page = |path: &str, text: &str| Page {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let pages = [
            page("docs/a.md", "one\nthree\n"),
            page("docs/b.md", "same\n"),
            page("docs/missing.md", "new\n"),
        ];
        let found: Vec<String> = stale(&tree, &pages)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[0].starts_with("docs/a.md:2:"), "{found:#?}");
        assert!(found[0].contains("cargo xtask codegen"), "{found:#?}");
        assert!(found[1].starts_with("docs/missing.md:1:"), "{found:#?}");
    }
}
