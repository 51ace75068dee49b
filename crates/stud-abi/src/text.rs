//! A text that one side makes and the other reads: handed over without a copy, freed by its maker.

use std::fmt;
use std::mem::ManuallyDrop;
use std::slice;

use abi_stable::StableAbi;

/// A `String` with a fixed layout.
#[repr(C)]
#[derive(StableAbi)]
pub(crate) struct Text {
    data: *mut u8,
    len: usize,
    capacity: usize,
    free: extern "C" fn(*mut u8, usize),
}

// SAFETY: it owns its bytes alone, as a `String` does.
unsafe impl Send for Text {}
// SAFETY: shared access only reads the bytes.
unsafe impl Sync for Text {}

impl From<String> for Text {
    fn from(text: String) -> Self {
        let mut text = ManuallyDrop::new(text);
        Self {
            data: text.as_mut_ptr(),
            len: text.len(),
            capacity: text.capacity(),
            free,
        }
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        // SAFETY: the maker gave `len` initialized bytes that live until `free`, which only `drop` calls.
        let bytes = unsafe { slice::from_raw_parts(text.data, text.len) };
        match str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            // A maker in another language may not have kept the promise that this is UTF-8.
            Err(_) => Self::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        (self.free)(self.data, self.capacity);
    }
}

extern "C" fn free(data: *mut u8, capacity: usize) {
    // SAFETY: `data` and `capacity` are those of a `String` made on this side and not freed before; of length 0, which
    // any capacity allows.
    drop(unsafe { Vec::from_raw_parts(data, 0, capacity) });
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_through_whole() {
        for text in ["", "a", "schöne Grüße", &"x".repeat(100_000)] {
            assert_eq!(String::from(Text::from(text.to_owned())), text);
        }
        let mut roomy = String::with_capacity(64);
        roomy.push('r');
        assert_eq!(String::from(Text::from(roomy)), "r");
    }
}
