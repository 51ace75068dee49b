//! The table over `StateMachine`.

use std::sync::Arc;

use stud_abi::CallContext;
use stud_abi::tables::state_machine::StateMachineExport;
use stud_contract_state_machine::{StateMachine, run_phase};

use super::fault::Reply;
use super::glue::{Glue, answer};
use super::json::{parse, write};
use super::plugin::Plugin;

impl<P: Plugin + StateMachine> StateMachineExport for Glue<P> {
    fn phase(
        self: Arc<Self>,
        subject: String,
        payload: String,
        cx: CallContext,
    ) -> impl Future<Output = Reply<String>> + Send + 'static {
        answer(self.log(), async move {
            let instance = self.instance("phase")?;
            let input = parse("phase", &payload)?;
            let reply = run_phase(&*instance, &subject, input, &self.cx(cx)).await?;
            write("phase", &reply)
        })
    }
}
