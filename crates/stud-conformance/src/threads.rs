//! The threads of this process.

use std::collections::BTreeSet;

/// The runtime that the SDK keeps for a library until the process ends.
const OF_THE_SDK: &str = "stud-plugin";

/// The ids of the threads of this process; nothing where the system does not list them.
pub(crate) fn running() -> Option<BTreeSet<String>> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let mut ids = BTreeSet::new();
    for task in tasks.flatten() {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        if name.trim() != OF_THE_SDK {
            ids.insert(task.file_name().to_string_lossy().into_owned());
        }
    }
    Some(ids)
}
