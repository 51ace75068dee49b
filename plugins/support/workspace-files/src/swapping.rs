//! For tests: something that keeps changing places with a link.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Runs `work` while another thread puts `link` in the place of `here` and takes it away again, over and over.
pub(crate) fn while_swapping<T>(here: &Path, link: &Path, work: impl FnOnce() -> T) -> T {
    let aside = here.with_extension("aside");
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                fs::rename(here, &aside).unwrap();
                fs::rename(link, here).unwrap();
                fs::rename(here, link).unwrap();
                fs::rename(&aside, here).unwrap();
            }
        });
        // Also when the work fails, or the other thread would continue for good.
        let _end = End(&over);
        work()
    })
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
