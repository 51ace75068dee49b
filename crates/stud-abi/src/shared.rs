//! One reference-counted object whose type only its maker knows.

use std::fmt;
use std::sync::Arc;

use abi_stable::StableAbi;

use crate::guard;

/// An `Arc<T>` with the `T` erased, freed by the side that made it.
///
/// The functions that turn it back into a `T` travel in the same table as the object, so the pair cannot be mixed up.
#[repr(C)]
#[derive(StableAbi)]
pub(crate) struct Shared {
    data: *const (),
    retain: extern "C" fn(*const ()),
    release: extern "C" fn(*const ()),
}

// SAFETY: `Shared::new` only accepts `T: Send + Sync`, so the `Arc` behind `data` may move between threads.
unsafe impl Send for Shared {}
// SAFETY: as above; shared access to the object is access to a `Sync` value.
unsafe impl Sync for Shared {}

impl Shared {
    pub(crate) fn new<T: Send + Sync + 'static>(object: Arc<T>) -> Self {
        Self {
            data: Arc::into_raw(object).cast(),
            retain: retain::<T>,
            release: release::<T>,
        }
    }

    /// Borrows the object.
    ///
    /// # Safety
    ///
    /// The object was made by `Shared::new::<T>` with this very `T`.
    pub(crate) unsafe fn get<T: Send + Sync + 'static>(&self) -> &T {
        // SAFETY: the caller vouches for the type, and `self` keeps the count above zero.
        unsafe { &*self.data.cast::<T>() }
    }

    /// Another owner of the object.
    ///
    /// # Safety
    ///
    /// As for [`Shared::get`].
    pub(crate) unsafe fn arc<T: Send + Sync + 'static>(&self) -> Arc<T> {
        // The type is known here, so the count need not be raised through the pointer.
        // SAFETY: as below; `self` keeps the count above zero.
        unsafe { Arc::increment_strong_count(self.data.cast::<T>()) };
        // SAFETY: the caller vouches for the type, and the count was just raised for this owner.
        unsafe { Arc::from_raw(self.data.cast::<T>()) }
    }
}

impl Clone for Shared {
    fn clone(&self) -> Self {
        (self.retain)(self.data);
        Self {
            data: self.data,
            retain: self.retain,
            release: self.release,
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        (self.release)(self.data);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

extern "C" fn retain<T: Send + Sync + 'static>(data: *const ()) {
    // SAFETY: `data` came from `Arc::<T>::into_raw` and its holder still owns a count.
    unsafe { Arc::increment_strong_count(data.cast::<T>()) }
}

extern "C" fn release<T: Send + Sync + 'static>(data: *const ()) {
    // SAFETY: `data` came from `Arc::<T>::into_raw`, and its holder gives up the count it owned.
    let object = unsafe { Arc::from_raw(data.cast::<T>()) };
    // Only the last owner runs the destructor, so only then is there anything to guard.
    if let Some(object) = Arc::into_inner(object) {
        guard::drop_quietly(object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Counted(Arc<AtomicU32>, bool);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            assert!(!self.1, "the destructor of this object panics");
        }
    }

    #[test]
    fn the_object_is_freed_once_when_its_last_owner_goes() {
        let freed = Arc::new(AtomicU32::new(0));
        let shared = Shared::new(Arc::new(Counted(freed.clone(), false)));
        let second = shared.clone();
        // SAFETY: made as `Counted` two lines above.
        let third = unsafe { second.arc::<Counted>() };
        drop(shared);
        drop(second);
        assert_eq!(freed.load(Ordering::Relaxed), 0);
        drop(third);
        assert_eq!(freed.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_panicking_destructor_stays_inside() {
        guard::quiet_guarded_panics();
        let freed = Arc::new(AtomicU32::new(0));
        drop(Shared::new(Arc::new(Counted(freed.clone(), true))));
        assert_eq!(freed.load(Ordering::Relaxed), 1);
    }
}
