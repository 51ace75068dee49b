//! `#[session_store]`: a struct that keeps sessions.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{LitInt, Result};

use crate::arguments::Arguments;
use crate::declaration::Rules;
use crate::json;
use crate::structure::{Addition, Structure};

const RULES: Rules = Rules { reload: &["never"] };

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut given = Arguments::parse(attribute)?;
    let structure = Structure::read("session_store", &mut given, item, RULES)?;
    let store_id = given.string("store_id")?;
    let store_id = store_id.unwrap_or_else(|| structure.declaration.id.clone());
    let journaling = given.flag("journaling")?.unwrap_or(false);
    let streaming = given.flag("large_slot_streaming")?.unwrap_or(false);
    let readers = given.flag("concurrent_readers")?.unwrap_or(false);
    let removal = given.flag("removal")?.unwrap_or(false);
    let limit: Option<LitInt> = given.value("snapshot_bytes_limit")?;
    let limit = match &limit {
        Some(limit) => limit.base10_parse::<u64>()?,
        None => 64 * 1024 * 1024,
    };
    given.finish()?;

    let can_remove = if removal { ",\"removal\":true" } else { "" };
    let members = format!(
        ",\n\"storeId\":{},\n\"capabilities\":{{\"journaling\":{journaling},\"snapshotBytesLimit\":{limit},\
         \"largeSlotStreaming\":{streaming},\"concurrentReaders\":{readers}{can_remove}}}",
        json::text(&store_id)
    );
    let mut handlers = vec!["read", "write", "list"];
    if journaling {
        handlers.extend(["append", "readJournal"]);
    }
    if removal {
        handlers.push("remove");
    }
    let handlers = quote! {
        const HANDLERS: &'static [&'static str] = &[#(#handlers),*];
    };
    Ok(structure.finish(Addition {
        category: "SessionStore",
        table: "session_store",
        plugin: quote! {
            #handlers
            const MEMBERS: ::stud_sdk::schema::Json = &[::stud_sdk::schema::Piece::Raw(#members)];
        },
        items: TokenStream::new(),
    }))
}
