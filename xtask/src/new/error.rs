//! `new error`: a registry entry, a page and a test case.

use std::path::Path;

use crate::failure::{Failure, Outcome};
use crate::registry::{self, CLASSES, Code, REGISTRY, case_path, constant_for, is_name, page_path};
use crate::source::code_only;
use crate::suggest;
use crate::workspace::Workspace;

/// Lays out a new code and says what is left to do.
pub(super) fn run(id: &str, summary: &str) -> Outcome {
    let workspace = Workspace::read()?;
    let since = workspace
        .packages
        .iter()
        .find(|package| package.name == "stud")
        .map_or("0.1.0", |package| &package.version);
    let written = lay_out(&workspace.root, id, summary, since)?;
    for file in written {
        println!("wrote {file}");
    }
    let constant = constant_for(id.split('/').next_back().unwrap_or_default());
    println!(
        "now: give `{constant}` where the failure happens, finish the page and the case, \
         then `UPDATE=1 cargo xtask test errors` and `cargo xtask check errors`\n\
         if no command line brings it about: remove the case, and write \
         `stud_observed::covers!({constant}, error)` in the test that does"
    );
    Ok(())
}

fn lay_out(root: &Path, id: &str, summary: &str, since: &str) -> Result<Vec<String>, Failure> {
    let (class, name) = parse(id)?;
    check_summary(summary)?;
    let path = root.join(REGISTRY);
    let registry = std::fs::read_to_string(&path)
        .map_err(|error| Failure::failed(format!("cannot read {REGISTRY}: {error}")))?;
    let constant = constant_for(name);
    let codes = registry::parse(&registry);
    if let Some(taken) = codes.iter().find(|code| code.constant == constant) {
        return Err(Failure::failed(format!(
            "{} already is `{constant}` ({REGISTRY}:{}); names are unique over all classes",
            taken.id(),
            taken.line
        )));
    }
    let files = [
        (page_path(id), page(id, summary)),
        (case_path(id), case(id)),
    ];
    if let Some((file, _)) = files.iter().find(|(file, _)| root.join(file).exists()) {
        return Err(Failure::failed(format!("{file} is there already")));
    }

    let entry =
        format!("        /// {summary}\n        {name} => {constant}, since \"{since}\";\n");
    let registry = insert(&registry, &codes, class, name, &entry)
        .ok_or_else(|| Failure::failed(format!("{REGISTRY} has no entry to put this beside")))?;
    write(root, REGISTRY, &registry)?;
    for (file, text) in &files {
        write(root, file, text)?;
    }
    let [(page, _), (case, _)] = files;
    Ok(vec![REGISTRY.to_owned(), page, case])
}

fn parse(id: &str) -> Result<(&'static str, &str), Failure> {
    let (class, name) = id
        .split_once('/')
        .ok_or_else(|| Failure::usage(format!("`{id}` is not a code; write it as `Class/Code`")))?;
    let class = CLASSES
        .into_iter()
        .find(|known| *known == class)
        .ok_or_else(|| {
            let hint = suggest::hint(class, CLASSES);
            let classes = CLASSES.join(", ");
            Failure::usage(format!(
                "there is no class `{class}`{hint}\nclasses: {classes}"
            ))
        })?;
    if is_name(name) {
        Ok((class, name))
    } else {
        Err(Failure::usage(format!(
            "`{name}` is not the name of a code; write a state in capitalized words, \
             subject first and fault last, as in `UIRoleHandlerMissing`"
        )))
    }
}

/// The summary is the first line of the page and the doc comment of the code.
fn check_summary(summary: &str) -> Outcome {
    let is_sentence = summary.starts_with(char::is_uppercase)
        && summary.ends_with('.')
        && !summary.contains(". ")
        && !summary.contains('\n');
    if is_sentence {
        Ok(())
    } else {
        Err(Failure::usage(
            "the summary is one sentence: a capital letter first, a full stop last",
        ))
    }
}

/// The registry with the entry in its alphabetical place.
fn insert(text: &str, codes: &[Code], class: &str, name: &str, entry: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let code_text = code_only(text);
    let code_lines: Vec<&str> = code_text.lines().collect();
    let of_class = || codes.iter().filter(|code| code.class == class);
    let next = of_class().find(|code| code.name.as_str() > name);

    let (at, block) = if let Some(next) = next {
        (first_line(&lines, next.line), entry.to_owned())
    } else if let Some(last) = of_class().next_back() {
        (last_line(&code_lines, last.line)?, entry.to_owned())
    } else {
        let block = format!("    {class} {{\n{entry}    }}\n");
        let rank = |class: &str| CLASSES.iter().position(|known| *known == class);
        let before = codes.iter().rfind(|code| rank(&code.class) < rank(class));
        let at = match before {
            // One more line for the brace that closes the class.
            Some(last) => last_line(&code_lines, last.line)? + 1,
            None => first_line(&lines, codes.first()?.line) - 1,
        };
        (at, block)
    };
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        if index == at {
            text.push_str(&block);
        }
        text.push_str(line);
        text.push('\n');
    }
    Some(text)
}

/// The index of the first line of an entry, its comments and attributes included.
fn first_line(lines: &[&str], line: usize) -> usize {
    let mut index = line - 1;
    while index > 0 {
        let above = lines[index - 1].trim_start();
        if !above.starts_with("//") && !above.starts_with("#[") {
            break;
        }
        index -= 1;
    }
    index
}

/// The index of the line after an entry, which may span several.
fn last_line(code: &[&str], line: usize) -> Option<usize> {
    let length = code
        .get(line - 1..)?
        .iter()
        .position(|line| line.contains(';'))?;
    Some(line + length)
}

fn page(id: &str, summary: &str) -> String {
    format!(
        "\
{summary}

## What happened

TODO: what stud saw, and what it did about it when it gave `{id}`.

## Example

`~/.stud/settings.json`:

```json
TODO: the smallest input that ends in {id}; tests/observed/src/example.rs lists the captions.
```

```console
$ stud plugin list
error[{id}]: TODO: UPDATE=1 writes what stud prints
```

## Fix

TODO: what the reader does now, in the order to try it.

## See also

TODO: the codes and the section of the contract that are near this one.
"
    )
}

fn case(id: &str) -> String {
    format!(
        "\
# TODO: what the page of {id} does not say: the fixture, what else is prepared, and what the diagnostic must hold.
found = \"stderr\"
"
    )
}

fn write(root: &Path, file: &str, text: &str) -> Outcome {
    let path = root.join(file);
    path.parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|error| Failure::failed(format!("cannot write {file}: {error}")))
}

#[cfg(test)]
mod tests;
