use stud_sdk::prelude::*;

/// Cannot decide.
#[hook(slot = "TOOL_CALL/pre")]
struct Both;

impl Guard for Both {
    async fn guard(&self, _payload: &Value, _cx: &Cx) -> Result<Verdict> {
        Ok(Verdict::Allow)
    }
}

impl Observer for Both {
    async fn observe(&self, _payload: &Value, _cx: &Cx) -> Result<()> {
        Ok(())
    }
}

fn main() {}
