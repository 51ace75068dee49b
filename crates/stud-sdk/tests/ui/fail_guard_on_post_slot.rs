use stud_sdk::prelude::*;

/// Comes too late.
#[hook(slot = "TOOL_CALL/post")]
struct Late;

impl Guard for Late {
    async fn guard(&self, _payload: &Value, _cx: &Cx) -> Result<Verdict> {
        Ok(Verdict::Allow)
    }
}

fn main() {}
