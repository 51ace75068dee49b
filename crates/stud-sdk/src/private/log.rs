//! Where what a plugin says through `tracing` goes: to the host's loggers, with the feature `tracing`.
//!
//! Each library has its own copy of `tracing`, so the host's subscriber is invisible to a plugin, as its runtime is.
//! Every call into the plugin therefore happens inside a subscriber of the plugin's own, which hands entries to its
//! host. Threads that the plugin starts by itself are heard through the plugin that was initialized last.

#[cfg(not(feature = "tracing"))]
mod off {
    use stud_host_api::Host;

    /// Without the feature there is nothing to hear.
    #[derive(Debug, Clone, Default)]
    pub(crate) struct Log;

    /// What the log would hold on to while a call runs.
    pub(crate) struct Unheard;

    impl Log {
        pub(crate) fn connect(&self, host: &Host) {
            let _ = (self, host);
        }

        pub(crate) fn enter(&self) -> Unheard {
            let _ = self;
            Unheard
        }
    }
}

#[cfg(feature = "tracing")]
mod spans;
#[cfg(feature = "tracing")]
mod subscriber;

#[cfg(not(feature = "tracing"))]
pub(crate) use off::Log;
#[cfg(feature = "tracing")]
pub(crate) use subscriber::TracedLog as Log;
