//! A UI written against the boundary itself, to measure it without any JSON.
#![forbid(unsafe_code)]

use std::future::{Future, ready};
use std::sync::Arc;

use stud_abi::entry::{RUSTC, TARGET};
use stud_abi::section::Piece;
use stud_abi::tables::ui::{Ui, UiExport, entry};
use stud_abi::{CallContext, Category as _, EventHeader, Export, Fault, HostHandle};

struct Raw;

impl Export for Raw {
    const HANDLERS: &'static [&'static str] = &["onEvent", "onInteraction"];

    fn create(_host: HostHandle) -> Result<Self, Fault> {
        Ok(Self)
    }

    async fn lifecycle(
        self: Arc<Self>,
        _phase: String,
        _config: String,
        _cx: CallContext,
    ) -> Result<String, Fault> {
        Ok(String::new())
    }
}

impl UiExport for Raw {
    fn on_event(&self, header: EventHeader<'_>, _payload: &str) -> Result<(), Fault> {
        std::hint::black_box(header.name);
        Ok(())
    }

    fn on_interaction(
        self: Arc<Self>,
        _subject: String,
        payload: String,
        _cx: CallContext,
    ) -> impl Future<Output = Result<String, Fault>> + Send + 'static {
        ready(Ok(payload))
    }
}

stud_abi::export_plugin! {
    manifest "stud_manifest_bench_raw": &[
        Piece::Raw(concat!(
            r#"{"extId":"bench-raw","version":"0.1.0","kind":"UI","contractVersion":"1.0.0","#,
            r#""requiredCoreVersion":"*","lifecycle":{},"#,
            r#""configSchema":{"type":"object","properties":{"enabled":{"type":"boolean"}},"additionalProperties":false},"#,
            r#""loadedCardinality":"unlimited","activeCardinality":"unlimited","stateSlot":null,"#,
            r#""discoveryRules":{"folder":"ui","manifestKey":"bench-raw"},"reloadBehavior":"between-turns","#,
            r#""handlers":["onEvent","onInteraction"],"roles":["subscriber","interactor"],"#,
            r#""entry":"stud_entry_bench_raw","panicStrategy":"unwind","rustcVersion":"#,
        )),
        Piece::Text(RUSTC),
        Piece::Raw(",\"target\":"),
        Piece::Text(TARGET),
        Piece::Raw(",\"abi\":{\"version\":\"1.0\",\"fingerprint\":"),
        Piece::Text(Ui::FINGERPRINT),
        Piece::Raw("}}"),
    ],
    entry "stud_entry_bench_raw": entry::<Raw>(),
}
