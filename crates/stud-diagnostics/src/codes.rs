//! The whole registry, alphabetical within a class.
//!
//! A released code is never renamed, reused or removed.

use crate::{Class, Code};

/// Declares each code once: a static for its users and its place in [`ALL`].
///
/// With `pages`, a code without its page does not compile.
macro_rules! codes {
    ($($class:ident {
        $(#[doc = $summary:literal] $name:ident => $constant:ident, since $since:literal;)+
    })+) => {
        $($(
            #[cfg_attr(feature = "pages", doc = include_str!(page!($class, $name)))]
            #[cfg_attr(not(feature = "pages"), doc = $summary)]
            pub static $constant: Code = Code {
                class: Class::$class,
                name: stringify!($name),
                summary: $summary.trim_ascii(),
                since: $since,
                #[cfg(feature = "pages")]
                page: include_str!(page!($class, $name)),
            };
        )+)+

        /// Every code, in the order of the registry.
        pub static ALL: &[&Code] = &[$($(&$constant),+),+];
    };
}

#[cfg(feature = "pages")]
macro_rules! page {
    ($class:ident, $name:ident) => {
        concat!(
            "../pages/",
            stringify!($class),
            "/",
            stringify!($name),
            ".md"
        )
    };
}

codes! {
    Validation {
        /// The plugin was built for another revision of the binary interface.
        AbiFingerprintMismatch => ABI_FINGERPRINT_MISMATCH, since "0.1.0";
        /// A type that crosses the plugin boundary has a different layout than core expects.
        AbiLayoutMismatch => ABI_LAYOUT_MISMATCH, since "0.1.0";
        /// An allowlist entry names no tool or cannot be parsed.
        AllowlistEntryInvalid => ALLOWLIST_ENTRY_INVALID, since "0.1.0";
        /// An allowlist is configured, but no scope selects the mode `allowlist`.
        AllowlistWithoutMode => ALLOWLIST_WITHOUT_MODE, since "0.1.0";
        /// A tool derived an approval key that cannot be used.
        ApprovalKeyInvalid => APPROVAL_KEY_INVALID, since "0.1.0";
        /// A command-line argument or the value of a flag is missing.
        ArgumentMissing => ARGUMENT_MISSING, since "0.1.0";
        /// An audit record has no correlation id.
        AuditWithoutCorrelation => AUDIT_WITHOUT_CORRELATION, since "0.1.0";
        /// An MCP resource binding has an invalid limit.
        BindingCapExceeded => BINDING_CAP_EXCEEDED, since "0.1.0";
        /// The manifest declares a different cardinality than its category has.
        CardinalityMismatch => CARDINALITY_MISMATCH, since "0.1.0";
        /// The plugin is in the folder of another category.
        CategoryFolderMismatch => CATEGORY_FOLDER_MISMATCH, since "0.1.0";
        /// No error code has the given name.
        CodeUnknown => CODE_UNKNOWN, since "0.1.0";
        /// Two plugins of the same scope define the same command name.
        CommandAmbiguous => COMMAND_AMBIGUOUS, since "0.1.0";
        /// A command has no description.
        CommandDescriptionEmpty => COMMAND_DESCRIPTION_EMPTY, since "0.1.0";
        /// A command name is not a flat name of letters, digits, `_` and `-`.
        CommandNameInvalid => COMMAND_NAME_INVALID, since "0.1.0";
        /// No command has the given name.
        CommandUnknown => COMMAND_UNKNOWN, since "0.1.0";
        /// A config does not match its schema, or the schema itself is invalid.
        ConfigSchemaViolation => CONFIG_SCHEMA_VIOLATION, since "0.1.0";
        /// A context provider contributed text that looks like a credential.
        ContextContainsForbiddenSource => CONTEXT_CONTAINS_FORBIDDEN_SOURCE, since "0.1.0";
        /// A state machine wrote to its context outside the phase `setup`, or to what core keeps there.
        ContextMutationForbidden => CONTEXT_MUTATION_FORBIDDEN, since "0.1.0";
        /// The conversation does not fit the model's context window, even after compaction.
        ContextOverflow => CONTEXT_OVERFLOW, since "0.1.0";
        /// The plugin was built for a contract version this core does not support.
        ContractVersionMismatch => CONTRACT_VERSION_MISMATCH, since "0.1.0";
        /// Settings of the control socket contradict each other or cannot be used.
        ControlSettingsInvalid => CONTROL_SETTINGS_INVALID, since "0.1.0";
        /// The settings already contain an entry with this id.
        DuplicateConfigKey => DUPLICATE_CONFIG_KEY, since "0.1.0";
        /// A provider declares a model twice with conflicting definitions.
        DuplicateModelDeclaration => DUPLICATE_MODEL_DECLARATION, since "0.1.0";
        /// The library does not export the entry symbol its manifest names.
        EntrySymbolMissing => ENTRY_SYMBOL_MISSING, since "0.1.0";
        /// An environment variable the plugin requires is not set.
        EnvNameNotSet => ENV_NAME_NOT_SET, since "0.1.0";
        /// A plugin declares or publishes an event under a name that belongs to core.
        EventNameReserved => EVENT_NAME_RESERVED, since "0.1.0";
        /// An event's payload does not match its declared schema.
        EventPayloadInvalid => EVENT_PAYLOAD_INVALID, since "0.1.0";
        /// A plugin published an event its manifest does not declare.
        EventUndeclared => EVENT_UNDECLARED, since "0.1.0";
        /// No plugin has the given id.
        ExtensionNotFound => EXTENSION_NOT_FOUND, since "0.1.0";
        /// A guard hook denied a stage.
        Forbidden => FORBIDDEN, since "0.1.0";
        /// A context fragment has a negative token budget.
        FragmentBudgetNegative => FRAGMENT_BUDGET_NEGATIVE, since "0.1.0";
        /// A context fragment has an unknown kind.
        FragmentKindInvalid => FRAGMENT_KIND_INVALID, since "0.1.0";
        /// A context fragment lacks a member or has a member of the wrong type.
        FragmentShapeInvalid => FRAGMENT_SHAPE_INVALID, since "0.1.0";
        /// The grant of a tool call was used already.
        GrantAlreadyConsumed => GRANT_ALREADY_CONSUMED, since "0.1.0";
        /// No grant matches a tool call.
        GrantNotFound => GRANT_NOT_FOUND, since "0.1.0";
        /// The stage attempt that a grant belongs to is over.
        GrantStageExpired => GRANT_STAGE_EXPIRED, since "0.1.0";
        /// A prompt needs an answer, and no interactive UI is attached.
        HeadlessInteractionRequired => HEADLESS_INTERACTION_REQUIRED, since "0.1.0";
        /// The project is not trusted, and no interactive UI is attached to ask.
        HeadlessTrustRequired => HEADLESS_TRUST_REQUIRED, since "0.1.0";
        /// Stud has no home: `STUD_HOME`, or `HOME` if that is not set, is not an absolute path.
        HomeMissing => HOME_MISSING, since "0.1.0";
        /// A hook of this sub-kind may not be attached to this slot.
        HookInvalidAttachment => HOOK_INVALID_ATTACHMENT, since "0.1.0";
        /// A hook names a slot that does not exist.
        HookSlotUnknown => HOOK_SLOT_UNKNOWN, since "0.1.0";
        /// A user input is blank.
        InputInvalid => USER_INPUT_INVALID, since "0.1.0";
        /// The source of an installation holds no plugin that can be installed.
        InstallSourceInvalid => INSTALL_SOURCE_INVALID, since "0.1.0";
        /// A plugin raises an interaction kind that its category may not raise.
        InteractionKindForbidden => INTERACTION_KIND_FORBIDDEN, since "0.1.0";
        /// An interaction kind is unknown.
        InteractionKindUnknown => INTERACTION_KIND_UNKNOWN, since "0.1.0";
        /// The payload of an interaction does not match the schema of its kind.
        InteractionPayloadMismatch => INTERACTION_PAYLOAD_MISMATCH, since "0.1.0";
        /// A schema in the manifest does not compile.
        InternalPipelineFailure => INTERNAL_PIPELINE_FAILURE, since "0.1.0";
        /// An unknown security mode was given on the command line.
        InvalidMode => INVALID_MODE, since "0.1.0";
        /// A `--param` argument has no path or no value.
        InvalidParam => INVALID_PARAM, since "0.1.0";
        /// The settings name an unknown security mode.
        InvalidSecurityMode => INVALID_SECURITY_MODE, since "0.1.0";
        /// A request contains a value that must not reach a model.
        LLMContextLeak => LLM_CONTEXT_LEAK, since "0.1.0";
        /// The library was built for another processor architecture.
        LibraryArchitectureMismatch => LIBRARY_ARCHITECTURE_MISMATCH, since "0.1.0";
        /// The file is not a library in a format this platform can load.
        LibraryFormatUnknown => LIBRARY_FORMAT_UNKNOWN, since "0.1.0";
        /// The file is an object file or a program, not a dynamic library.
        LibraryNotDynamic => LIBRARY_NOT_DYNAMIC, since "0.1.0";
        /// The library file is shorter than its headers say.
        LibraryTruncated => LIBRARY_TRUNCATED, since "0.1.0";
        /// The library file cannot be read.
        LibraryUnreadable => LIBRARY_UNREADABLE, since "0.1.0";
        /// The listen address is reachable from other machines, and TLS or the allowed host names are not configured.
        ListenAddressRefused => LISTEN_ADDRESS_REFUSED, since "0.1.0";
        /// An item that an MCP server offers is invalid and was ignored.
        MCPOfferInvalid => MCP_OFFER_INVALID, since "0.1.0";
        /// The configuration of an MCP server is invalid.
        MCPServerConfigInvalid => MCP_SERVER_CONFIG_INVALID, since "0.1.0";
        /// No MCP server has the given name.
        MCPServerNotRegistered => MCP_SERVER_NOT_REGISTERED, since "0.1.0";
        /// A secret reference has no name.
        MalformedSecretReference => MALFORMED_SECRET_REFERENCE, since "0.1.0";
        /// The library contains more than one manifest section.
        ManifestDuplicate => MANIFEST_DUPLICATE, since "0.1.0";
        /// The manifest section is empty.
        ManifestEmpty => MANIFEST_EMPTY, since "0.1.0";
        /// The manifest section has an unsupported format version.
        ManifestFormatUnknown => MANIFEST_FORMAT_UNKNOWN, since "0.1.0";
        /// The manifest section does not start with the header `STUD`.
        ManifestHeaderInvalid => MANIFEST_HEADER_INVALID, since "0.1.0";
        /// The manifest length in the header does not match the section.
        ManifestLengthInvalid => MANIFEST_LENGTH_INVALID, since "0.1.0";
        /// The manifest is not well-formed JSON.
        ManifestMalformed => MANIFEST_MALFORMED, since "0.1.0";
        /// The manifest has a member this core does not know.
        ManifestMemberUnknown => MANIFEST_MEMBER_UNKNOWN, since "0.1.0";
        /// The library contains no manifest section.
        ManifestMissing => MANIFEST_MISSING, since "0.1.0";
        /// The manifest is not UTF-8 text.
        ManifestNotUtf8 => MANIFEST_NOT_UTF8, since "0.1.0";
        /// No provider is configured, and no interactive UI is attached to configure one.
        MissingHeadlessDefaults => MISSING_HEADLESS_DEFAULTS, since "0.1.0";
        /// A provider has no model with the given name.
        ModelNotInProvider => MODEL_NOT_IN_PROVIDER, since "0.1.0";
        /// The context window of a model is not a positive number of tokens.
        ModelWindowInvalid => MODEL_WINDOW_INVALID, since "0.1.0";
        /// A plugin other than the bundled `delegate` tool tried to open a child session.
        OpenChildForbidden => OPEN_CHILD_FORBIDDEN, since "0.1.0";
        /// An ordering manifest names an extension twice in one slot.
        OrderingManifestDuplicateExtId => ORDERING_MANIFEST_DUPLICATE_EXT_ID, since "0.1.0";
        /// An ordering manifest is invalid.
        OrderingManifestMalformed => ORDERING_MANIFEST_MALFORMED, since "0.1.0";
        /// The plugin was built with `panic = "abort"`.
        PanicStrategyUnsupported => PANIC_STRATEGY_UNSUPPORTED, since "0.1.0";
        /// Two parameters conflict.
        ParamCrossFieldInvalid => PARAM_CROSS_FIELD_INVALID, since "0.1.0";
        /// A parameter has the name of a key or an authorization header.
        ParamForbiddenKey => PARAM_FORBIDDEN_KEY, since "0.1.0";
        /// The parameter is reserved for the provider.
        ParamReserved => PARAM_RESERVED, since "0.1.0";
        /// The value of a parameter looks like a secret.
        ParamSecretValue => PARAM_SECRET_VALUE, since "0.1.0";
        /// The provider has no such parameter.
        ParamUnknown => PARAM_UNKNOWN, since "0.1.0";
        /// The active model ignores a parameter.
        ParamUnsupportedOnActive => PARAM_UNSUPPORTED_ON_ACTIVE, since "0.1.0";
        /// A parameter is spelled as in the backend's API.
        ParamWireShape => PARAM_WIRE_SHAPE, since "0.1.0";
        /// An entry of the network policy is not a host, a scope or a list of ports.
        PolicyInvalid => POLICY_INVALID, since "0.1.0";
        /// A project path is not absolute or not normalized.
        ProjectPathInvalid => PROJECT_PATH_INVALID, since "0.1.0";
        /// A session records a project root that is not a project's `.stud` folder.
        ProjectRootInvariantViolated => PROJECT_ROOT_INVARIANT_VIOLATED, since "0.1.0";
        /// No prompt template has the given id.
        PromptMissing => PROMPT_MISSING, since "0.1.0";
        /// A prompt template's source does not match its id.
        PromptSourceMismatch => PROMPT_SOURCE_MISMATCH, since "0.1.0";
        /// A prompt template id is malformed.
        PromptUriMalformed => PROMPT_URI_MALFORMED, since "0.1.0";
        /// Another plugin already has this id.
        RegistrationConflict => REGISTRATION_CONFLICT, since "0.1.0";
        /// The plugin does not support this version of core.
        RequiredCoreVersionMismatch => REQUIRED_CORE_VERSION_MISMATCH, since "0.1.0";
        /// A resource binding has an empty id, a wrong source or no limits.
        ResourceBindingInvalid => RESOURCE_BINDING_INVALID, since "0.1.0";
        /// No resource has the given id.
        ResourceMissing => RESOURCE_MISSING, since "0.1.0";
        /// Another state machine is attached to the session.
        SMAlreadyAttached => SM_ALREADY_ATTACHED, since "0.1.0";
        /// A value of `env` in the settings is not a string.
        ScopeShapeInvalid => SCOPE_SHAPE_INVALID, since "0.1.0";
        /// A secret reference names a secret that does not exist.
        SecretMissing => SECRET_MISSING, since "0.1.0";
        /// The secrets file can be read by other users of the machine.
        SecretsFileExposed => SECRETS_FILE_EXPOSED, since "0.1.0";
        /// A project's settings contain the value of an environment variable instead of a reference.
        SettingsLiteralEnvValue => SETTINGS_LITERAL_ENV_VALUE, since "0.1.0";
        /// A settings file has a value of the wrong shape.
        SettingsShapeInvalid => SETTINGS_SHAPE_INVALID, since "0.1.0";
        /// A manifest member is missing or has the wrong type or value.
        ShapeInvalid => SHAPE_INVALID, since "0.1.0";
        /// A state slot has no version.
        SlotVersionMissing => SLOT_VERSION_MISSING, since "0.1.0";
        /// A span has no correlation id.
        SpanWithoutCorrelation => SPAN_WITHOUT_CORRELATION, since "0.1.0";
        /// A stage's completion schema is not a valid JSON Schema.
        StageCompletionSchemaInvalid => STAGE_COMPLETION_SCHEMA_INVALID, since "0.1.0";
        /// A stage's body refers to an undeclared context name.
        StageCtxUnresolved => STAGE_CTX_UNRESOLVED, since "0.1.0";
        /// The stage list of a state machine is invalid.
        StageDefinitionInvalid => STAGE_DEFINITION_INVALID, since "0.1.0";
        /// The join of parallel stages is not a stage that can join them.
        StageJoinDangling => STAGE_JOIN_DANGLING, since "0.1.0";
        /// A stage's turn cap is below one.
        StageTurnCapTooLow => STAGE_TURN_CAP_TOO_LOW, since "0.1.0";
        /// The `systemMessageMode` of a model removes a system prompt that plugins contribute to.
        SystemModeRemoveLoadBearing => SYSTEM_MODE_REMOVE_LOAD_BEARING, since "0.1.0";
        /// The system prompt file exists but cannot be used.
        SystemPromptUnreadable => SYSTEM_PROMPT_UNREADABLE, since "0.1.0";
        /// The function table of a plugin does not match its manifest.
        TableManifestMismatch => TABLE_MANIFEST_MISMATCH, since "0.1.0";
        /// The plugin was built for another target.
        TargetMismatch => TARGET_MISMATCH, since "0.1.0";
        /// A prompt has a timeout that is not greater than zero.
        TimeoutMsInvalid => TIMEOUT_MS_INVALID, since "0.1.0";
        /// Another plugin of the same scope already defines a tool of this name.
        ToolNameConflict => TOOL_NAME_CONFLICT, since "0.1.0";
        /// An entry of the trust list is invalid.
        TrustEntryInvalid => TRUST_ENTRY_INVALID, since "0.1.0";
        /// The list of trusted projects would lie inside another `.stud` folder.
        TrustScopeViolation => TRUST_SCOPE_VIOLATION, since "0.1.0";
        /// A declared UI role has no handler.
        UIRoleHandlerMissing => UI_ROLE_HANDLER_MISSING, since "0.1.0";
        /// An audit record has an unknown class.
        UnknownAuditClass => UNKNOWN_AUDIT_CLASS, since "0.1.0";
        /// A plugin read a config key that does not exist or is not readable.
        UnknownConfigKey => UNKNOWN_CONFIG_KEY, since "0.1.0";
        /// A command-line flag or argument is unknown.
        UnknownFlag => UNKNOWN_FLAG, since "0.1.0";
        /// A provider entry names a protocol that no enabled provider implements.
        UnknownProtocol => UNKNOWN_PROTOCOL, since "0.1.0";
        /// A settings file has an unknown top-level key.
        UnknownTopLevelKey => UNKNOWN_TOP_LEVEL_KEY, since "0.1.0";
        /// A command-line flag is not supported in this version.
        UnsupportedFlag => UNSUPPORTED_FLAG, since "0.1.0";
        /// Stud does not support this operating system.
        UnsupportedPlatform => UNSUPPORTED_PLATFORM, since "0.1.0";
        /// An approval for the project was given, but no project is trusted.
        UntrustedProjectCachePath => UNTRUSTED_PROJECT_CACHE_PATH, since "0.1.0";
        /// An update declares more rights, capabilities or dependencies than the installed plugin.
        UpdateRightsWidened => UPDATE_RIGHTS_WIDENED, since "0.1.0";
    }
    ProviderTransient {
        /// The configured address does not serve the model.
        EndpointNotFound => ENDPOINT_NOT_FOUND, since "0.1.0";
        /// An MCP server cannot be reached, or the connection was lost.
        MCPConnectionLost => MCP_CONNECTION_LOST, since "0.1.0";
        /// A model's backend could not be reached, closed the connection or timed out.
        NetworkTimeout => NETWORK_TIMEOUT, since "0.1.0";
        /// A model's backend returned a server error.
        Provider5xx => PROVIDER_5XX, since "0.1.0";
        /// A model's backend limits the request rate.
        RateLimited => RATE_LIMITED, since "0.1.0";
        /// A model's backend aborted a stream with an unknown error.
        StreamError => STREAM_ERROR, since "0.1.0";
        /// The model failed to summarize the conversation for compaction.
        SummarizeFailed => SUMMARIZE_FAILED, since "0.1.0";
        /// A model's backend rejected the key.
        Unauthorized => UNAUTHORIZED, since "0.1.0";
    }
    ProviderCapability {
        /// The request exceeds the model's context window.
        ContextWindowTooSmall => CONTEXT_WINDOW_TOO_SMALL, since "0.1.0";
        /// The model lacks a capability the session requires.
        MissingCapability => MISSING_CAPABILITY, since "0.1.0";
        /// A model's backend does not stream its answers.
        MissingStreaming => MISSING_STREAMING, since "0.1.0";
        /// The model does not support tool calls, and the request offers tools.
        MissingToolCalling => MISSING_TOOL_CALLING, since "0.1.0";
        /// The response of a model's backend is malformed.
        OutputMalformed => PROVIDER_OUTPUT_MALFORMED, since "0.1.0";
        /// A model's backend rejected the request.
        RequestRejected => REQUEST_REJECTED, since "0.1.0";
    }
    ToolTransient {
        /// A plugin call timed out.
        ExecutionTimeout => EXECUTION_TIMEOUT, since "0.1.0";
        /// A resource a tool needs is in use; a retry may succeed.
        ResourceBusy => RESOURCE_BUSY, since "0.1.0";
        /// The content of a resource could not be fetched; a retry may succeed.
        ResourceFetchFailed => RESOURCE_FETCH_FAILED, since "0.1.0";
    }
    ToolTerminal {
        /// A text that must occur exactly once occurs several times.
        AmbiguousMatch => AMBIGUOUS_MATCH, since "0.1.0";
        /// The user, a rule or a guard denied the tool call.
        ApprovalDenied => APPROVAL_DENIED, since "0.1.0";
        /// A tool failed to derive the approval key of a call.
        ApprovalKeyDerivationFailed => APPROVAL_KEY_DERIVATION_FAILED, since "0.1.0";
        /// The command is blocked by the operator.
        CommandRejected => COMMAND_REJECTED, since "0.1.0";
        /// A tool may not access the given path or address.
        Forbidden => TOOL_FORBIDDEN, since "0.1.0";
        /// The arguments of a tool call or command do not match their schema, or the tool does not exist.
        InputInvalid => INPUT_INVALID, since "0.1.0";
        /// A tool asked for input or approval, and no interactive UI is attached.
        InteractionUnavailable => INTERACTION_UNAVAILABLE, since "0.1.0";
        /// An MCP server returned no content for a resource.
        MCPResourceEmpty => MCP_RESOURCE_EMPTY, since "0.1.0";
        /// A tool of an MCP server failed.
        MCPToolFailed => MCP_TOOL_FAILED, since "0.1.0";
        /// The network policy denies access to a host.
        NetworkDenied => NETWORK_DENIED, since "0.1.0";
        /// The file or item a tool was asked for, or the tool itself, does not exist.
        NotFound => NOT_FOUND, since "0.1.0";
        /// The output of a tool cannot be returned as a result.
        OutputMalformed => OUTPUT_MALFORMED, since "0.1.0";
        /// A tool exceeded the limit of repeated prompts.
        RepromptLimit => REPROMPT_LIMIT, since "0.1.0";
        /// The content of a resource exceeds the byte limit of its binding.
        ResourceOverBytesCap => RESOURCE_OVER_BYTES_CAP, since "0.1.0";
        /// A tool failed without an error code of its own.
        ToolExecutionFailed => TOOL_EXECUTION_FAILED, since "0.1.0";
        /// The owner of a tool does not know it.
        ToolNotRegistered => TOOL_NOT_REGISTERED, since "0.1.0";
    }
    Session {
        /// The approvals of the project cannot be read or written.
        ApprovalCacheUnavailable => APPROVAL_CACHE_UNAVAILABLE, since "0.1.0";
        /// An audit trail was changed after it was written.
        AuditTrailBroken => AUDIT_TRAIL_BROKEN, since "0.1.0";
        /// The last record of an audit trail is incomplete.
        AuditTrailTorn => AUDIT_TRAIL_TORN, since "0.1.0";
        /// An audit trail cannot be opened, read or written.
        AuditTrailUnavailable => AUDIT_TRAIL_UNAVAILABLE, since "0.1.0";
        /// A control request was answered, and not accepted.
        ControlNotAccepted => CONTROL_NOT_ACCEPTED, since "0.1.0";
        /// No control socket can be used: none answers, or none can be listened at.
        ControlUnavailable => CONTROL_UNAVAILABLE, since "0.1.0";
        /// The session's state does not allow this transition.
        IllegalTransition => ILLEGAL_TRANSITION, since "0.1.0";
        /// The session's input queue is full.
        InputQueueFull => INPUT_QUEUE_FULL, since "0.1.0";
        /// A prompt was already settled when this answer arrived.
        InteractionAlreadyAnswered => INTERACTION_ALREADY_ANSWERED, since "0.1.0";
        /// No open prompt has the given id.
        InteractionNotFound => INTERACTION_NOT_FOUND, since "0.1.0";
        /// An answer came from a client whose interactive mode is disabled.
        InteractorNotAuthorized => INTERACTOR_NOT_AUTHORIZED, since "0.1.0";
        /// The list of trusted MCP servers cannot be read or written.
        MCPTrustUnavailable => MCP_TRUST_UNAVAILABLE, since "0.1.0";
        /// An MCP server is not trusted and was not started.
        MCPUntrusted => MCP_UNTRUSTED, since "0.1.0";
        /// The stored manifest or snapshot of a session is invalid.
        ManifestDrift => MANIFEST_DRIFT, since "0.1.0";
        /// An ordering manifest cannot be read.
        OrderingManifestUnreadable => ORDERING_MANIFEST_UNREADABLE, since "0.1.0";
        /// The project folder has not been trusted, so nothing in it was loaded.
        ProjectTrustRequired => PROJECT_TRUST_REQUIRED, since "0.1.0";
        /// A provider's stream violates the protocol.
        ProviderProtocolViolation => PROVIDER_PROTOCOL_VIOLATION, since "0.1.0";
        /// A session has no record with the given number.
        RecordNotFound => RECORD_NOT_FOUND, since "0.1.0";
        /// The session was written by another store than the active one.
        ResumeMismatch => RESUME_MISMATCH, since "0.1.0";
        /// A document that must not contain secrets contains a resolved secret.
        SecretLeak => SECRET_LEAK, since "0.1.0";
        /// The keyring or the secrets file cannot be read or written.
        SecretStoreUnavailable => SECRET_STORE_UNAVAILABLE, since "0.1.0";
        /// Several session ids begin with the given characters.
        SessionAmbiguous => SESSION_AMBIGUOUS, since "0.1.0";
        /// No session has the given id.
        SessionNotFound => SESSION_NOT_FOUND, since "0.1.0";
        /// A settings file could not be written.
        SettingsUnwritable => SETTINGS_UNWRITABLE, since "0.1.0";
        /// The stored state was written by another version of the plugin, and its drift policy rejects that.
        SlotDriftRejected => SLOT_DRIFT_REJECTED, since "0.1.0";
        /// The stored state of another plugin version could not be migrated.
        SlotMigrationFailed => SLOT_MIGRATION_FAILED, since "0.1.0";
        /// The session store is unavailable, or it has no such session.
        StoreUnavailable => STORE_UNAVAILABLE, since "0.1.0";
        /// What is stored of a session is not what was written.
        StoredSessionDamaged => STORED_SESSION_DAMAGED, since "0.1.0";
        /// The trust list cannot be read or written.
        TrustStoreUnavailable => TRUST_STORE_UNAVAILABLE, since "0.1.0";
    }
    Cancellation {
        /// The session was closed or cancelled before the work finished.
        SessionCancelled => SESSION_CANCELLED, since "0.1.0";
        /// A tool call was cancelled.
        ToolCancelled => TOOL_CANCELLED, since "0.1.0";
        /// The turn was cancelled.
        TurnCancelled => TURN_CANCELLED, since "0.1.0";
    }
    ExtensionHost {
        /// A plugin tried to write an audit record of a class reserved for core.
        AuditClassReserved => AUDIT_CLASS_RESERVED, since "0.1.0";
        /// A plugin panicked inside a call.
        CallPanicked => CALL_PANICKED, since "0.1.0";
        /// A plugin did not return from a call after its cancellation.
        CallStuck => CALL_STUCK, since "0.1.0";
        /// A plugin's category may not dispatch commands.
        CommandDispatchForbidden => COMMAND_DISPATCH_FORBIDDEN, since "0.1.0";
        /// A command failed.
        CommandExecFailed => COMMAND_EXEC_FAILED, since "0.1.0";
        /// A turn was started while another one is running in the same session.
        ConcurrentTurnForbidden => CONCURRENT_TURN_FORBIDDEN, since "0.1.0";
        /// A plugin that is not a context provider tried to contribute context.
        ContextContributionForbidden => CONTEXT_CONTRIBUTION_FORBIDDEN, since "0.1.0";
        /// A required context provider failed.
        ContextProviderFailed => CONTEXT_PROVIDER_FAILED, since "0.1.0";
        /// A plugin requested a privileged operation reserved for a bundled command.
        DeedForbidden => DEED_FORBIDDEN, since "0.1.0";
        /// Two plugins that conflict are both installed.
        DependencyConflict => DEPENDENCY_CONFLICT, since "0.1.0";
        /// Plugins depend on each other in a cycle.
        DependencyCycle => DEPENDENCY_CYCLE, since "0.1.0";
        /// A plugin depends on a plugin that is not available.
        DependencyMissing => DEPENDENCY_MISSING, since "0.1.0";
        /// The plugin's entry function returned an error.
        EntryFailed => ENTRY_FAILED, since "0.1.0";
        /// The plugin's entry function panicked.
        EntryPanicked => ENTRY_PANICKED, since "0.1.0";
        /// The plugin exceeded the event rate limit.
        EventRateExceeded => EVENT_RATE_EXCEEDED, since "0.1.0";
        /// A guard hook failed, and its stage was denied.
        HookGuardFailed => HOOK_GUARD_FAILED, since "0.1.0";
        /// A transform hook failed.
        HookTransformFailed => HOOK_TRANSFORM_FAILED, since "0.1.0";
        /// The library file does not match its pin.
        IntegrityFailed => INTEGRITY_FAILED, since "0.1.0";
        /// A plan of parallel stages is invalid.
        InvalidParallelPlan => INVALID_PARALLEL_PLAN, since "0.1.0";
        /// The join of parallel stages cannot run, because one of them did not succeed.
        JoinPreconditionViolated => JOIN_PRECONDITION_VIOLATED, since "0.1.0";
        /// A lifecycle function of a plugin failed or timed out.
        LifecycleFailure => LIFECYCLE_FAILURE, since "0.1.0";
        /// A lifecycle step is not valid in the plugin's current phase.
        LifecyclePhaseInvalid => LIFECYCLE_PHASE_INVALID, since "0.1.0";
        /// A turn exceeded the limit of model continuations.
        LoopBoundExceeded => LOOP_BOUND_EXCEEDED, since "0.1.0";
        /// The host or plugin does not implement this call.
        NotImplemented => NOT_IMPLEMENTED, since "0.1.0";
        /// A host service was used in a phase in which it is not available.
        NotReady => NOT_READY, since "0.1.0";
        /// The system loader could not open the library.
        OpenFailed => OPEN_FAILED, since "0.1.0";
        /// One of several parallel stages failed, and the others were stopped.
        ParallelSiblingFailure => PARALLEL_SIBLING_FAILURE, since "0.1.0";
        /// Nested commands exceeded the depth limit.
        ReentrantDelivery => REENTRANT_DELIVERY, since "0.1.0";
        /// A plugin accessed the state slot of another plugin.
        SlotAccessDenied => SLOT_ACCESS_DENIED, since "0.1.0";
        /// The operating system refused an operation stud needs to start.
        StartupFailure => STARTUP_FAILURE, since "0.1.0";
        /// A plugin that is not a UI tried to submit user input.
        UserInputForbidden => USER_INPUT_FORBIDDEN, since "0.1.0";
    }
}

#[cfg(all(test, feature = "pages"))]
mod tests;
