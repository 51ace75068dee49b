//! The `## Example` of a page: what is typed or written, and what stud prints.
//!
//! The blocks are told apart by what stands on the line above them, or by their language:
//!
//! | block | meaning |
//! |---|---|
//! | `console` | a command line of `stud`, and what it prints |
//! | `text` with a line that starts with `error[` or `warning[` | what is printed |
//! | below "In the manifest:" | members of the manifest, instead of those of the fixture |
//! | below "In the manifest, at \`/a/b\`:" | one member of the manifest, by JSON Pointer |
//! | below "The manifest is this text:" | the whole manifest |
//! | below "The plugin calls the host:" | a call of the fixture that probes the host |
//! | below "\`~/.stud/settings.json\`:", or another path | a file of the home, or of the project |
//! | below "\`config.json\` beside the library:" | a file in the folder of the library |
//!
//! Any other block is an illustration.
//! What is printed is an excerpt: its lines are lines of the program's output, in their order.

use std::path::{Path, PathBuf};

/// One fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The line above it, if there is one.
    pub caption: String,
    /// The word behind its fence.
    pub language: String,
    /// What is in it.
    pub text: String,
    /// The lines of the page that hold its text, the fences not included.
    lines: std::ops::Range<usize>,
}

impl Block {
    /// Whether it shows what stud prints.
    pub fn is_output(&self) -> bool {
        let is_said = |line: &str| line.starts_with("error[") || line.starts_with("warning[");
        self.language == "console"
            || (self.language == "text" && self.text.lines().any(|line| is_said(line.trim_start())))
    }

    /// The arguments of `stud`, if it shows a command line.
    pub fn command(&self) -> Option<Vec<String>> {
        let line = self.text.lines().next()?.strip_prefix("$ stud")?;
        (self.language == "console").then(|| words(line))
    }

    /// The lines that stud printed. A command line above them is shown, and run only in a block of the console.
    fn printed(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter(|line| !line.starts_with("$ "))
    }
}

/// The page of a code, as it is on disk now.
pub fn read(id: &str) -> std::io::Result<String> {
    std::fs::read_to_string(path(id))
}

fn path(id: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(format!("crates/stud-diagnostics/pages/{id}.md"))
}

/// The blocks of the example of a page.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    let mut caption = "";
    let in_example = |line: &str| line == "## Example";
    if !lines.by_ref().any(|(_, line)| in_example(line)) {
        return blocks;
    }
    while let Some((_, line)) = lines.next() {
        if line.starts_with("## ") {
            break;
        }
        let Some(language) = line.strip_prefix("```") else {
            if !line.is_empty() {
                caption = line;
            }
            continue;
        };
        let mut text = Vec::new();
        let mut held = 0..0;
        for (index, line) in lines.by_ref() {
            if text.is_empty() {
                held = index..index;
            }
            if line.starts_with("```") {
                break;
            }
            text.push(line);
            held.end = index + 1;
        }
        blocks.push(Block {
            caption: caption.to_owned(),
            language: language.to_owned(),
            text: text.join("\n"),
            lines: held,
        });
        caption = "";
    }
    blocks
}

/// Compares the first output that the example of a page shows with what was printed.
///
/// `must` are lines that it has to show.
/// `UPDATE=1` rewrites the block: it then shows what it must, and what it showed before and is still printed.
pub fn compare(id: &str, must: &[String], printed: &[String]) -> Result<(), String> {
    let page = read(id).map_err(|error| format!("the page of {id}: {error}"))?;
    let blocks = blocks(&page);
    let mut outputs = blocks.iter().filter(|block| block.is_output());
    let (output, another) = (outputs.next(), outputs.next());
    if another.is_some() {
        return Err(format!(
            "the example of the page of {id} shows two outputs, and only one is compared"
        ));
    }
    let Some(block) = output else {
        return Err(format!(
            "the example of the page of {id} shows no output; add a block that shows\n{}",
            must.join("\n")
        ));
    };
    let all: Vec<&str> = must.iter().chain(printed).map(String::as_str).collect();
    let strange = block.printed().find(|line| {
        let line = line.trim_end();
        !line.is_empty() && !all.contains(&line)
    });
    let missing = must
        .iter()
        .find(|line| !block.printed().any(|shown| shown.trim_end() == **line));
    if strange.is_none() && missing.is_none() {
        return Ok(());
    }
    if std::env::var_os("UPDATE").is_some() {
        let page = rewritten(&page, block, must, printed);
        return std::fs::write(path(id), page).map_err(|error| error.to_string());
    }
    let fault = match (strange, missing) {
        (Some(line), _) => format!("shows what stud does not print:\n{line}"),
        (None, line) => format!("does not show:\n{}", line.map_or("", String::as_str)),
    };
    Err(format!(
        "the example of the page of {id} {fault}\nUPDATE=1 rewrites it to:\n{}",
        must.join("\n")
    ))
}

fn rewritten(page: &str, block: &Block, must: &[String], printed: &[String]) -> String {
    let lines: Vec<&str> = page.lines().collect();
    let command = block.text.lines().take_while(|line| line.starts_with("$ "));
    let mut shown: Vec<&str> = command.collect();
    let kept = |line: &&String| must.contains(line) || block.printed().any(|old| old == **line);
    if printed.is_empty() {
        shown.extend(must.iter().map(String::as_str));
    } else {
        let mut kept: Vec<&str> = printed.iter().filter(kept).map(String::as_str).collect();
        kept.dedup();
        shown.extend(kept);
    }
    let mut all = lines[..block.lines.start].to_vec();
    all.extend(shown);
    all.extend(&lines[block.lines.end..]);
    all.join("\n") + "\n"
}

/// The words of a command line; quotes hold spaces together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::{blocks, rewritten, words};

    const PAGE: &str = "\
It went wrong.

## Example

In the manifest:

```json
{ \"kind\": \"Toll\" }
```

```console
$ stud plugin check 'lib a.so'
error[Validation/ShapeInvalid]: old
 = help: stays
```

## Fix

```text
error[Validation/ShapeInvalid]: not looked at
```
";

    #[test]
    fn blocks_of_the_example_are_found_with_their_captions() {
        let blocks = blocks(PAGE);
        assert_eq!(blocks.len(), 2);
        assert_eq!(blocks[0].caption, "In the manifest:");
        assert!(!blocks[0].is_output());
        assert!(blocks[1].is_output());
        let command = blocks[1].command().unwrap();
        assert_eq!(command, ["plugin", "check", "lib a.so"]);
    }

    #[test]
    fn a_rewritten_block_keeps_its_command_and_what_is_still_printed() {
        let blocks = blocks(PAGE);
        let lines = ["error[Validation/ShapeInvalid]: new", " = help: stays", "x"];
        let printed = lines.map(str::to_owned);
        let page = rewritten(PAGE, &blocks[1], &printed[..1], &printed);
        assert_eq!(
            page,
            PAGE.replacen("ShapeInvalid]: old", "ShapeInvalid]: new", 1)
        );
    }

    #[test]
    fn quotes_hold_words_together() {
        assert_eq!(words(" a 'b c' \"\" d"), ["a", "b c", "", "d"]);
    }
}
