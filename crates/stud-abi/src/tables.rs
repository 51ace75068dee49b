//! One function table per category.
//!
//! A table starts with what every category has, `create` and `lifecycle`, and continues with its own functions.
//! It grows only at the end, and every function of its own may be missing: that is how an older plugin looks to a newer host.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use crate::call::{AsyncCall, CallContext};
use crate::entry::{EntryError, PluginEntry};
use crate::fault::Fault;
use crate::future::{self, Answer, Reply};
use crate::host_handle::HostHandle;
use crate::shared::Shared;
use crate::text::Text;
use abi_stable::std_types::RStr;

/// What a plugin implements whatever its category; `stud-sdk` does it for authors.
pub trait Export: Sized + Send + Sync + 'static {
    /// The functions of the table that are filled, by their names in the manifest.
    const HANDLERS: &'static [&'static str];

    /// Runs once per library, before any instance is made.
    fn open() -> Result<(), Fault> {
        Ok(())
    }

    /// Makes the instance for one session.
    fn create(host: HostHandle) -> Result<Self, Fault>;

    /// `init` with the validated config, `activate`, `deactivate` or `dispose`.
    fn lifecycle(
        self: Arc<Self>,
        phase: String,
        config: String,
        cx: CallContext,
    ) -> impl Future<Output = Result<String, Fault>> + Send + 'static;
}

/// One of the nine categories, as the host calls it.
pub trait Category: Copy + Send + Sync + 'static {
    /// The word in the manifest's `kind`.
    const KIND: &'static str;

    /// The fingerprint of the newest table of this category.
    const FINGERPRINT: &'static str;

    /// Which functions the plugin filled, by their names in the manifest.
    fn handlers(&self) -> Vec<&'static str>;

    #[doc(hidden)]
    fn resolve(entry: &'static PluginEntry) -> Result<Self, EntryError>;

    #[doc(hidden)]
    fn base(&self) -> Base;
}

/// The functions every table starts with.
#[derive(Clone, Copy)]
pub struct Base {
    create: extern "C" fn(HostHandle) -> Reply<Shared>,
    lifecycle: AsyncCall,
}

/// One plugin instance: an object and the functions that know its type, kept together for good.
#[derive(Clone)]
pub struct Instance<C> {
    object: Shared,
    category: C,
}

impl<C: Category> Instance<C> {
    /// Makes an instance. The plugin's constructor runs here.
    pub fn create(category: C, host: HostHandle) -> Result<Self, Fault> {
        let object = future::outcome((category.base().create)(host))?;
        Ok(Self { object, category })
    }

    /// Runs one lifecycle phase.
    pub fn lifecycle(
        &self,
        phase: &str,
        config: String,
        cx: CallContext,
    ) -> impl Future<Output = Result<String, Fault>> + Send + 'static + use<C> {
        let call = self.category.base().lifecycle;
        future::receive(
            "lifecycle",
            (call.run)(&self.object, phase.into(), config.as_str().into(), cx),
        )
    }

    /// The functions this plugin filled, by their names in the manifest.
    pub fn handlers(&self) -> Vec<&'static str> {
        self.category.handlers()
    }
}

impl<C: Category> fmt::Debug for Instance<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("kind", &C::KIND)
            .finish_non_exhaustive()
    }
}

extern "C" fn create<T: Export>(host: HostHandle) -> Reply<Shared> {
    future::answer("create", || {
        T::create(host).map(|object| Shared::new(Arc::new(object)))
    })
}

extern "C" fn lifecycle<T: Export>(
    object: &Shared,
    phase: RStr<'_>,
    config: RStr<'_>,
    cx: CallContext,
) -> Answer<Text> {
    // SAFETY: the object was made by `create::<T>` of the same table; `Instance` keeps the two together.
    let this = unsafe { object.arc::<T>() };
    future::send("lifecycle", move || {
        this.lifecycle(phase.into(), config.into(), cx)
    })
}

fn missing(name: &str) -> Fault {
    Fault::new(
        "ExtensionHost",
        "NotImplemented",
        format!("the plugin has no `{name}`"),
    )
}

/// Writes what one function of a table needs on both sides, by the shape of the call.
macro_rules! function {
    (export AskCall $name:ident $handler:literal) => {
        /// Answers at once; see the category's contract for subject and payload.
        fn $name(&self, subject: &str, payload: &str) -> Result<String, Fault> {
            let _ = (subject, payload);
            Err(missing($handler))
        }
    };
    (export AsyncCall $name:ident $handler:literal) => {
        /// May take its time; see the category's contract for subject and payload.
        fn $name(
            self: Arc<Self>,
            subject: String,
            payload: String,
            cx: CallContext,
        ) -> impl Future<Output = Result<String, Fault>> + Send + 'static {
            let _ = (subject, payload, cx);
            std::future::ready(Err(missing($handler)))
        }
    };
    (export EventCall $name:ident $handler:literal) => {
        /// Hears one event.
        fn $name(&self, header: EventHeader<'_>, payload: &str) -> Result<(), Fault> {
            let _ = (header, payload);
            Err(missing($handler))
        }
    };
    (export StreamCall $name:ident $handler:literal) => {
        /// Answers piece by piece.
        fn $name(
            self: Arc<Self>,
            payload: String,
            cx: CallContext,
        ) -> impl Future<Output = Result<$crate::stream::BoxStream, Fault>> + Send + 'static {
            let _ = (payload, cx);
            std::future::ready(Err(missing($handler)))
        }
    };

    (raw AskCall $Export:ident $name:ident) => {
        extern "C" fn $name<T: $Export>(
            object: &Shared,
            subject: abi_stable::std_types::RStr<'_>,
            payload: abi_stable::std_types::RStr<'_>,
        ) -> Reply<$crate::text::Text> {
            // SAFETY: the object was made by `create::<T>` of the same table; `Instance` keeps the two together.
            let this = unsafe { object.get::<T>() };
            future::answer(stringify!($name), || {
                this.$name(subject.as_str(), payload.as_str())
            })
        }
    };
    (raw AsyncCall $Export:ident $name:ident) => {
        extern "C" fn $name<T: $Export>(
            object: &Shared,
            subject: abi_stable::std_types::RStr<'_>,
            payload: abi_stable::std_types::RStr<'_>,
            cx: CallContext,
        ) -> Answer<$crate::text::Text> {
            // SAFETY: the object was made by `create::<T>` of the same table; `Instance` keeps the two together.
            let this = unsafe { object.arc::<T>() };
            future::send(stringify!($name), move || {
                this.$name(subject.into(), payload.into(), cx)
            })
        }
    };
    (raw EventCall $Export:ident $name:ident) => {
        extern "C" fn $name<T: $Export>(
            object: &Shared,
            header: &REventHeader<'_>,
            payload: abi_stable::std_types::RStr<'_>,
        ) -> Reply<()> {
            // SAFETY: the object was made by `create::<T>` of the same table; `Instance` keeps the two together.
            let this = unsafe { object.get::<T>() };
            future::answer(stringify!($name), || {
                let header = EventHeader {
                    seq: header.seq,
                    name: header.name.as_str(),
                    correlation_id: header.correlation_id.as_str(),
                };
                this.$name(header, payload.as_str())
            })
        }
    };
    (raw StreamCall $Export:ident $name:ident) => {
        extern "C" fn $name<T: $Export>(
            object: &Shared,
            payload: abi_stable::std_types::RStr<'_>,
            cx: CallContext,
        ) -> Answer<$crate::stream::RStream> {
            // SAFETY: the object was made by `create::<T>` of the same table; `Instance` keeps the two together.
            let this = unsafe { object.arc::<T>() };
            future::send(stringify!($name), move || {
                this.$name(payload.into(), cx)
            })
        }
    };

    (host AskCall $name:ident $handler:literal $(#[$doc:meta])*) => {
        $(#[$doc])*
        ///
        /// Asks the plugin; answered at once.
        pub fn $name(&self, subject: &str, payload: &str) -> Result<String, Fault> {
            let call = self.category.$name.ok_or_else(|| missing($handler))?;
            future::outcome((call.run)(&self.object, subject.into(), payload.into()))
        }
    };
    (host AsyncCall $name:ident $handler:literal $(#[$doc:meta])*) => {
        $(#[$doc])*
        ///
        /// Calls the plugin; dropping the future calls the work off.
        pub async fn $name(
            &self,
            subject: &str,
            payload: String,
            cx: CallContext,
        ) -> Result<String, Fault> {
            let call = self.category.$name.ok_or_else(|| missing($handler))?;
            let future = (call.run)(&self.object, subject.into(), payload.as_str().into(), cx);
            future::receive(stringify!($name), future).await
        }
    };
    (host EventCall $name:ident $handler:literal $(#[$doc:meta])*) => {
        $(#[$doc])*
        ///
        /// Tells the plugin what happened.
        pub fn $name(&self, header: EventHeader<'_>, payload: &str) -> Result<(), Fault> {
            let call = self.category.$name.ok_or_else(|| missing($handler))?;
            let header = REventHeader {
                seq: header.seq,
                name: header.name.into(),
                correlation_id: header.correlation_id.into(),
            };
            future::outcome((call.run)(&self.object, &header, payload.into()))
        }
    };
    (host StreamCall $name:ident $handler:literal $(#[$doc:meta])*) => {
        $(#[$doc])*
        ///
        /// Calls the plugin for a stream; dropping the stream calls the work off.
        pub async fn $name(&self, payload: String, cx: CallContext) -> Result<$crate::stream::Stream, Fault> {
            let call = self.category.$name.ok_or_else(|| missing($handler))?;
            let future = (call.run)(&self.object, payload.as_str().into(), cx);
            future::receive(stringify!($name), future).await
        }
    };
}

/// Declares a category: its table, what a plugin implements, what the host calls.
macro_rules! category {
    (
        $(#[$doc:meta])*
        $Category:ident = $kind:literal in $golden:literal;
        $Table:ident, $TableRef:ident, $TablePrefix:ident, $Export:ident {
            $( $(#[$function_doc:meta])* $shape:ident $name:ident = $handler:literal; )+
        }
    ) => {
        use std::fmt;
        use std::future::Future;
        use std::sync::Arc;

        use abi_stable::StableAbi;
        use abi_stable::prefix_type::{PrefixRef, PrefixTypeTrait, WithMetadata_};
        use abi_stable::type_layout::TypeLayout;
        #[expect(unused_imports, reason = "no category has functions of every shape")]
        use $crate::call::{
            AskCall, AsyncCall, CallContext, EventCall, EventHeader, REventHeader, StreamCall,
        };
                use super::{Base, Category, Export, Instance, create, lifecycle, missing};
        use $crate::entry::{EntryError, PluginEntry, RawTable};
        use $crate::fault::Fault;
        use $crate::future::{self, Answer, Reply};
        use $crate::host_handle::HostHandle;
        use $crate::shared::Shared;
        use $crate::{guard, layout};

        #[repr(C)]
        #[derive(StableAbi)]
        #[sabi(kind(Prefix(prefix_ref = $TableRef, prefix_fields = $TablePrefix)))]
        #[sabi(missing_field(default))]
        struct $Table {
            create: extern "C" fn(HostHandle) -> Reply<Shared>,
            #[sabi(last_prefix_field)]
            lifecycle: AsyncCall,
            $( $name: Option<$shape>, )+
        }

        /// What a plugin of this category implements; `stud-sdk` does it for authors.
        pub trait $Export: Export {
            $( function!(export $shape $name $handler); )+
        }

        $( function!(raw $shape $Export $name); )+

        extern "C" fn layout() -> &'static TypeLayout {
            // A static has one address wherever it is named from, so a plugin that is linked with its host is found to
            // be of one mind with it at a glance.
            static LAYOUT: &TypeLayout = <$TableRef as StableAbi>::LAYOUT;
            LAYOUT
        }

        extern "C" fn open<T: $Export>() -> Reply<RawTable> {
            guard::quiet_guarded_panics();
            future::answer("entry", || {
                T::open()?;
                let filled = |handler| T::HANDLERS.contains(&handler);
                let table = $Table {
                    create: create::<T>,
                    lifecycle: AsyncCall { run: lifecycle::<T> },
                    $( $name: filled($handler).then_some($shape { run: $name::<T> }), )+
                };
                Ok(RawTable(table.leak_into_prefix().0.to_raw_ptr().cast()))
            })
        }

        /// The entry of a plugin of this category.
        pub const fn entry<T: $Export>() -> PluginEntry {
            PluginEntry::new($kind, layout, open::<T>)
        }

        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $Category {
            base: Base,
            $( $name: Option<$shape>, )+
        }

        impl Category for $Category {
            const KIND: &'static str = $kind;
            const FINGERPRINT: &'static str = {
                const TEXT: [u8; 16] = layout::fingerprint(include_bytes!(concat!("../../layouts/", $golden, ".txt")));
                match str::from_utf8(&TEXT) {
                    Ok(text) => text,
                    Err(_) => "",
                }
            };

            fn handlers(&self) -> Vec<&'static str> {
                let filled = [$( self.$name.is_some().then_some($handler), )+];
                filled.into_iter().flatten().collect()
            }

            fn resolve(entry: &'static PluginEntry) -> Result<Self, EntryError> {
                let theirs = entry.check($kind)?;
                layout::check(theirs, layout())
                    .map_err(|difference| EntryError::Layout { difference })?;
                let RawTable(table) = entry.open()?;
                // SAFETY: the layout check above found the table to be a `$Table` of this or an older minor,
                // and tables are leaked by the library that made them, which is never unloaded.
                let prefix = unsafe { PrefixRef::<$TablePrefix>::from_raw(table.cast::<WithMetadata_<$TablePrefix, $TablePrefix>>()) };
                let table = $TableRef(prefix);
                Ok(Self {
                    base: Base {
                        create: table.create(),
                        lifecycle: table.lifecycle(),
                    },
                    $( $name: table.$name(), )+
                })
            }

            fn base(&self) -> Base {
                self.base
            }
        }

        impl Instance<$Category> {
            $( function!(host $shape $name $handler $(#[$function_doc])*); )+
        }

        impl fmt::Debug for $Category {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($kind).field("handlers", &self.handlers()).finish()
            }
        }

        #[cfg(test)]
        mod tests {
            #[test]
            fn the_layout_is_the_one_on_record() {
                use abi_stable::abi_stability::PrefixStableAbi as _;
                crate::layout::assert_golden($golden, super::$TablePrefix::LAYOUT);
            }
        }
    };
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base").finish_non_exhaustive()
    }
}

// Each file below is one invocation of `category!`.
pub mod provider;
pub mod tool;
pub mod hook;
pub mod ui;
pub mod logger;
pub mod state_machine;
pub mod command;
pub mod session_store;
pub mod context_provider;
