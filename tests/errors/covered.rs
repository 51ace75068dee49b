//! Codes that only code can bring about: the case names the test that does.

use stud_tests::workspace_root;

/// The named test exists and speaks of the code.
pub(crate) fn check(reference: &str, code: &str) -> Result<(), String> {
    let (file, name) = reference
        .split_once("::")
        .ok_or_else(|| format!("`covered_by` is `path/of/file.rs::name`, not `{reference}`"))?;
    let path = workspace_root().join(file);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
    let lines: Vec<&str> = text.lines().collect();
    let head = format!("fn {name}(");
    let start = lines
        .iter()
        .position(|line| line.trim_start().starts_with(&head))
        .ok_or_else(|| format!("{file} has no test `{name}`"))?;
    let attributes = lines[..start]
        .iter()
        .rev()
        .take_while(|line| line.trim_start().starts_with("#["));
    if !attributes.into_iter().any(|line| line.trim() == "#[test]") {
        return Err(format!("`{name}` in {file} is not a test"));
    }
    // Formatted code closes a function with a brace as deep as it was opened.
    let indent = lines[start].len() - lines[start].trim_start().len();
    let end = format!("{:indent$}}}", "");
    let body = lines[start..].iter().take_while(|line| **line != end);
    // A test names a code by its word or by its constant.
    let plain = |text: &str| text.replace('_', "").to_uppercase();
    if !body
        .into_iter()
        .any(|line| plain(line).contains(&plain(code)))
    {
        return Err(format!(
            "the test `{name}` in {file} does not speak of `{code}`"
        ));
    }
    Ok(())
}
