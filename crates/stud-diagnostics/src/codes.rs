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
        /// A type that crosses the plugin boundary has another layout than core expects.
        AbiLayoutMismatch => ABI_LAYOUT_MISMATCH, since "0.1.0";
        /// An entry of an allowlist names no tool, or says nothing that can be understood.
        AllowlistEntryInvalid => ALLOWLIST_ENTRY_INVALID, since "0.1.0";
        /// There is an allowlist, and no scope chooses the mode that reads it.
        AllowlistWithoutMode => ALLOWLIST_WITHOUT_MODE, since "0.1.0";
        /// A tool derived an approval key that cannot be used.
        ApprovalKeyInvalid => APPROVAL_KEY_INVALID, since "0.1.0";
        /// A command-line argument or the value of a flag is missing.
        ArgumentMissing => ARGUMENT_MISSING, since "0.1.0";
        /// An audit record belongs to no turn and no other correlation.
        AuditWithoutCorrelation => AUDIT_WITHOUT_CORRELATION, since "0.1.0";
        /// A resource of an MCP server is bound with a limit that is none.
        BindingCapExceeded => BINDING_CAP_EXCEEDED, since "0.1.0";
        /// The manifest declares other cardinalities than its category has.
        CardinalityMismatch => CARDINALITY_MISMATCH, since "0.1.0";
        /// The plugin lies in the folder of another category.
        CategoryFolderMismatch => CATEGORY_FOLDER_MISMATCH, since "0.1.0";
        /// No code has the name that was asked for.
        CodeUnknown => CODE_UNKNOWN, since "0.1.0";
        /// Two plugins of the same scope define the same command name.
        CommandAmbiguous => COMMAND_AMBIGUOUS, since "0.1.0";
        /// A command has no description.
        CommandDescriptionEmpty => COMMAND_DESCRIPTION_EMPTY, since "0.1.0";
        /// A command name is not a flat name of letters, digits, `_` and `-`.
        CommandNameInvalid => COMMAND_NAME_INVALID, since "0.1.0";
        /// No command has the name that was asked for.
        CommandUnknown => COMMAND_UNKNOWN, since "0.1.0";
        /// A configuration does not fit its schema, or the schema itself breaks the rules for one.
        ConfigSchemaViolation => CONFIG_SCHEMA_VIOLATION, since "0.1.0";
        /// A context provider handed in something of the shape of a credential.
        ContextContainsForbiddenSource => CONTEXT_CONTAINS_FORBIDDEN_SOURCE, since "0.1.0";
        /// The conversation does not fit into the model's window, not even summarized.
        ContextOverflow => CONTEXT_OVERFLOW, since "0.1.0";
        /// The plugin was written against a contract version this core does not speak.
        ContractVersionMismatch => CONTRACT_VERSION_MISMATCH, since "0.1.0";
        /// There is an entry of this id in the settings already.
        DuplicateConfigKey => DUPLICATE_CONFIG_KEY, since "0.1.0";
        /// A model of one provider is declared twice, and not the same both times.
        DuplicateModelDeclaration => DUPLICATE_MODEL_DECLARATION, since "0.1.0";
        /// The library does not export the entry symbol its manifest names.
        EntrySymbolMissing => ENTRY_SYMBOL_MISSING, since "0.1.0";
        /// An environment name the plugin requires is not set.
        EnvNameNotSet => ENV_NAME_NOT_SET, since "0.1.0";
        /// A plugin declares or publishes an event under a name that belongs to core.
        EventNameReserved => EVENT_NAME_RESERVED, since "0.1.0";
        /// An event's payload does not fit the schema declared for it.
        EventPayloadInvalid => EVENT_PAYLOAD_INVALID, since "0.1.0";
        /// A plugin published an event its manifest does not declare.
        EventUndeclared => EVENT_UNDECLARED, since "0.1.0";
        /// No plugin has the id that was asked for.
        ExtensionNotFound => EXTENSION_NOT_FOUND, since "0.1.0";
        /// A guard did not let something pass.
        Forbidden => FORBIDDEN, since "0.1.0";
        /// A context fragment asks for less than no room.
        FragmentBudgetNegative => FRAGMENT_BUDGET_NEGATIVE, since "0.1.0";
        /// A context fragment has a kind that does not exist.
        FragmentKindInvalid => FRAGMENT_KIND_INVALID, since "0.1.0";
        /// A context fragment lacks a member or has one of the wrong type.
        FragmentShapeInvalid => FRAGMENT_SHAPE_INVALID, since "0.1.0";
        /// A question needs an answer and nobody is there to give one.
        HeadlessInteractionRequired => HEADLESS_INTERACTION_REQUIRED, since "0.1.0";
        /// A project has to be trusted, and nobody is there to be asked.
        HeadlessTrustRequired => HEADLESS_TRUST_REQUIRED, since "0.1.0";
        /// Stud has no home: `STUD_HOME`, or `HOME` if that is not set, is no absolute path.
        HomeMissing => HOME_MISSING, since "0.1.0";
        /// A hook of this sub-kind may not sit on this slot.
        HookInvalidAttachment => HOOK_INVALID_ATTACHMENT, since "0.1.0";
        /// A hook names a slot that does not exist.
        HookSlotUnknown => HOOK_SLOT_UNKNOWN, since "0.1.0";
        /// There is nothing in an input that could be answered.
        InputInvalid => USER_INPUT_INVALID, since "0.1.0";
        /// A plugin asks for a kind of interaction it may not raise.
        InteractionKindForbidden => INTERACTION_KIND_FORBIDDEN, since "0.1.0";
        /// An interaction kind does not exist.
        InteractionKindUnknown => INTERACTION_KIND_UNKNOWN, since "0.1.0";
        /// The payload of an interaction does not have the shape of its kind.
        InteractionPayloadMismatch => INTERACTION_PAYLOAD_MISMATCH, since "0.1.0";
        /// A schema in the manifest does not compile.
        InternalPipelineFailure => INTERNAL_PIPELINE_FAILURE, since "0.1.0";
        /// A security mode was asked for that there is not.
        InvalidMode => INVALID_MODE, since "0.1.0";
        /// A parameter on the command line has no path or no value.
        InvalidParam => INVALID_PARAM, since "0.1.0";
        /// The settings name a security mode that there is not.
        InvalidSecurityMode => INVALID_SECURITY_MODE, since "0.1.0";
        /// A value that must not reach a model stands in a request.
        LLMContextLeak => LLM_CONTEXT_LEAK, since "0.1.0";
        /// The library was built for another processor architecture.
        LibraryArchitectureMismatch => LIBRARY_ARCHITECTURE_MISMATCH, since "0.1.0";
        /// The file is not a library of a format this platform loads.
        LibraryFormatUnknown => LIBRARY_FORMAT_UNKNOWN, since "0.1.0";
        /// The file is an object file or a program, not a dynamic library.
        LibraryNotDynamic => LIBRARY_NOT_DYNAMIC, since "0.1.0";
        /// The library file ends before the parts its headers describe.
        LibraryTruncated => LIBRARY_TRUNCATED, since "0.1.0";
        /// The library file cannot be read.
        LibraryUnreadable => LIBRARY_UNREADABLE, since "0.1.0";
        /// Something that an MCP server offers cannot be used, and is left out.
        MCPOfferInvalid => MCP_OFFER_INVALID, since "0.1.0";
        /// An MCP server is configured in a way that cannot work.
        MCPServerConfigInvalid => MCP_SERVER_CONFIG_INVALID, since "0.1.0";
        /// There is no MCP server of this name.
        MCPServerNotRegistered => MCP_SERVER_NOT_REGISTERED, since "0.1.0";
        /// An object that claims to be a secret reference has no name.
        MalformedSecretReference => MALFORMED_SECRET_REFERENCE, since "0.1.0";
        /// The library carries more than one manifest section.
        ManifestDuplicate => MANIFEST_DUPLICATE, since "0.1.0";
        /// The manifest section holds no manifest.
        ManifestEmpty => MANIFEST_EMPTY, since "0.1.0";
        /// The manifest section has a format version this core does not read.
        ManifestFormatUnknown => MANIFEST_FORMAT_UNKNOWN, since "0.1.0";
        /// The manifest section does not start with the header of one.
        ManifestHeaderInvalid => MANIFEST_HEADER_INVALID, since "0.1.0";
        /// The manifest section gives a length that does not fit the section.
        ManifestLengthInvalid => MANIFEST_LENGTH_INVALID, since "0.1.0";
        /// The manifest is not well-formed JSON.
        ManifestMalformed => MANIFEST_MALFORMED, since "0.1.0";
        /// The manifest has a member this core does not know.
        ManifestMemberUnknown => MANIFEST_MEMBER_UNKNOWN, since "0.1.0";
        /// The library carries no manifest section.
        ManifestMissing => MANIFEST_MISSING, since "0.1.0";
        /// The manifest is not UTF-8 text.
        ManifestNotUtf8 => MANIFEST_NOT_UTF8, since "0.1.0";
        /// Nobody is there to set a provider up, and none is set up.
        MissingHeadlessDefaults => MISSING_HEADLESS_DEFAULTS, since "0.1.0";
        /// A provider has no model of the name that was asked for.
        ModelNotInProvider => MODEL_NOT_IN_PROVIDER, since "0.1.0";
        /// The size of a model's window is not a number of tokens.
        ModelWindowInvalid => MODEL_WINDOW_INVALID, since "0.1.0";
        /// A plugin other than the bundled `delegate` tool tried to open a child session.
        OpenChildForbidden => OPEN_CHILD_FORBIDDEN, since "0.1.0";
        /// An ordering manifest names an extension twice in one slot.
        OrderingManifestDuplicateExtId => ORDERING_MANIFEST_DUPLICATE_EXT_ID, since "0.1.0";
        /// An ordering manifest is not what it must be.
        OrderingManifestMalformed => ORDERING_MANIFEST_MALFORMED, since "0.1.0";
        /// The plugin was built so that a panic ends the whole process.
        PanicStrategyUnsupported => PANIC_STRATEGY_UNSUPPORTED, since "0.1.0";
        /// Two parameters contradict each other.
        ParamCrossFieldInvalid => PARAM_CROSS_FIELD_INVALID, since "0.1.0";
        /// A parameter has the name of a key or an authorization header.
        ParamForbiddenKey => PARAM_FORBIDDEN_KEY, since "0.1.0";
        /// The provider sets this parameter itself.
        ParamReserved => PARAM_RESERVED, since "0.1.0";
        /// The value of a parameter looks like a secret.
        ParamSecretValue => PARAM_SECRET_VALUE, since "0.1.0";
        /// The provider has no such parameter.
        ParamUnknown => PARAM_UNKNOWN, since "0.1.0";
        /// The model that answers does not heed a parameter.
        ParamUnsupportedOnActive => PARAM_UNSUPPORTED_ON_ACTIVE, since "0.1.0";
        /// A parameter has the backend's spelling of its name.
        ParamWireShape => PARAM_WIRE_SHAPE, since "0.1.0";
        /// An entry of the network policy is not a host, a scope or a list of ports.
        PolicyInvalid => POLICY_INVALID, since "0.1.0";
        /// The path of a project is not absolute, or has detours in it.
        ProjectPathInvalid => PROJECT_PATH_INVALID, since "0.1.0";
        /// A session says that it began at a place that is no project.
        ProjectRootInvariantViolated => PROJECT_ROOT_INVARIANT_VIOLATED, since "0.1.0";
        /// No prompt has the id that was asked for.
        PromptMissing => PROMPT_MISSING, since "0.1.0";
        /// A prompt says it comes from somewhere else than its id says.
        PromptSourceMismatch => PROMPT_SOURCE_MISMATCH, since "0.1.0";
        /// A text is not the id of a prompt.
        PromptUriMalformed => PROMPT_URI_MALFORMED, since "0.1.0";
        /// Another plugin already has this id.
        RegistrationConflict => REGISTRATION_CONFLICT, since "0.1.0";
        /// The plugin does not accept this version of core.
        RequiredCoreVersionMismatch => REQUIRED_CORE_VERSION_MISMATCH, since "0.1.0";
        /// A resource was bound under an empty id, a foreign source or without limits.
        ResourceBindingInvalid => RESOURCE_BINDING_INVALID, since "0.1.0";
        /// No resource has the id that was asked for.
        ResourceMissing => RESOURCE_MISSING, since "0.1.0";
        /// A value of `env` in the settings is not text.
        ScopeShapeInvalid => SCOPE_SHAPE_INVALID, since "0.1.0";
        /// A secret reference names a secret that is not there.
        SecretMissing => SECRET_MISSING, since "0.1.0";
        /// The secrets file can be read by other users of the machine.
        SecretsFileExposed => SECRETS_FILE_EXPOSED, since "0.1.0";
        /// A project has the value of a variable in its settings, and not the name of one.
        SettingsLiteralEnvValue => SETTINGS_LITERAL_ENV_VALUE, since "0.1.0";
        /// A settings file has a value of the wrong shape.
        SettingsShapeInvalid => SETTINGS_SHAPE_INVALID, since "0.1.0";
        /// A manifest member is missing or has the wrong type or value.
        ShapeInvalid => SHAPE_INVALID, since "0.1.0";
        /// Stored plugin state does not say which version of its shape it has.
        SlotVersionMissing => SLOT_VERSION_MISSING, since "0.1.0";
        /// A span belongs to no turn and no other correlation.
        SpanWithoutCorrelation => SPAN_WITHOUT_CORRELATION, since "0.1.0";
        /// A stage's completion schema is not a valid JSON Schema.
        StageCompletionSchemaInvalid => STAGE_COMPLETION_SCHEMA_INVALID, since "0.1.0";
        /// A stage's body refers to a context name that nothing provides.
        StageCtxUnresolved => STAGE_CTX_UNRESOLVED, since "0.1.0";
        /// The stages of a state machine do not form a usable list.
        StageDefinitionInvalid => STAGE_DEFINITION_INVALID, since "0.1.0";
        /// A stage's turn cap is below one.
        StageTurnCapTooLow => STAGE_TURN_CAP_TOO_LOW, since "0.1.0";
        /// The system prompt was to be left out of a request that cannot do without it.
        SystemModeRemoveLoadBearing => SYSTEM_MODE_REMOVE_LOAD_BEARING, since "0.1.0";
        /// The file with the system prompt is there and cannot be used.
        SystemPromptUnreadable => SYSTEM_PROMPT_UNREADABLE, since "0.1.0";
        /// The table a plugin returned does not match the manifest it carries.
        TableManifestMismatch => TABLE_MANIFEST_MISMATCH, since "0.1.0";
        /// The plugin was built for another target.
        TargetMismatch => TARGET_MISMATCH, since "0.1.0";
        /// A prompt has a time limit that is not above zero.
        TimeoutMsInvalid => TIMEOUT_MS_INVALID, since "0.1.0";
        /// Another plugin of the same scope already defines a tool of this name.
        ToolNameConflict => TOOL_NAME_CONFLICT, since "0.1.0";
        /// An entry of the trust list is not usable.
        TrustEntryInvalid => TRUST_ENTRY_INVALID, since "0.1.0";
        /// The list of trusted projects would lie inside another `.stud` folder.
        TrustScopeViolation => TRUST_SCOPE_VIOLATION, since "0.1.0";
        /// A declared UI role has no handler.
        UIRoleHandlerMissing => UI_ROLE_HANDLER_MISSING, since "0.1.0";
        /// Core was about to write an audit record of a class that does not exist.
        UnknownAuditClass => UNKNOWN_AUDIT_CLASS, since "0.1.0";
        /// A configuration key that does not exist was asked for.
        UnknownConfigKey => UNKNOWN_CONFIG_KEY, since "0.1.0";
        /// A command-line flag does not exist.
        UnknownFlag => UNKNOWN_FLAG, since "0.1.0";
        /// An entry of the settings asks for a protocol that no provider speaks.
        UnknownProtocol => UNKNOWN_PROTOCOL, since "0.1.0";
        /// A settings file has a top-level key that does not exist.
        UnknownTopLevelKey => UNKNOWN_TOP_LEVEL_KEY, since "0.1.0";
        /// A flag was given that this stud knows and does not take.
        UnsupportedFlag => UNSUPPORTED_FLAG, since "0.1.0";
        /// The system is none that stud runs on.
        UnsupportedPlatform => UNSUPPORTED_PLATFORM, since "0.1.0";
        /// An approval for the project was given where no project is trusted.
        UntrustedProjectCachePath => UNTRUSTED_PROJECT_CACHE_PATH, since "0.1.0";
    }
    ProviderTransient {
        /// Nothing serves the model at the address that is configured.
        EndpointNotFound => ENDPOINT_NOT_FOUND, since "0.1.0";
        /// An MCP server cannot be reached, or not any more.
        MCPConnectionLost => MCP_CONNECTION_LOST, since "0.1.0";
        /// A model's backend could not be reached, went away or was silent for too long.
        NetworkTimeout => NETWORK_TIMEOUT, since "0.1.0";
        /// A model's backend failed.
        Provider5xx => PROVIDER_5XX, since "0.1.0";
        /// A model's backend wants to be asked less often.
        RateLimited => RATE_LIMITED, since "0.1.0";
        /// A model's backend broke an answer off and did not say why in words that are known.
        StreamError => STREAM_ERROR, since "0.1.0";
        /// The model did not summarize the conversation.
        SummarizeFailed => SUMMARIZE_FAILED, since "0.1.0";
        /// A model's backend did not accept the key.
        Unauthorized => UNAUTHORIZED, since "0.1.0";
    }
    ProviderCapability {
        /// The request does not fit into what the model can read at once.
        ContextWindowTooSmall => CONTEXT_WINDOW_TOO_SMALL, since "0.1.0";
        /// The model lacks something the session cannot do without.
        MissingCapability => MISSING_CAPABILITY, since "0.1.0";
        /// A model's backend does not stream its answers.
        MissingStreaming => MISSING_STREAMING, since "0.1.0";
        /// The model cannot call tools, and tools were offered to it.
        MissingToolCalling => MISSING_TOOL_CALLING, since "0.1.0";
        /// The answer of a model is not in the form that its backend promised.
        OutputMalformed => PROVIDER_OUTPUT_MALFORMED, since "0.1.0";
        /// A model's backend refuses the request as it is.
        RequestRejected => REQUEST_REJECTED, since "0.1.0";
    }
    ToolTransient {
        /// A plugin did not answer in time.
        ExecutionTimeout => EXECUTION_TIMEOUT, since "0.1.0";
        /// Somebody else is at what a tool was to change, and may be done later.
        ResourceBusy => RESOURCE_BUSY, since "0.1.0";
        /// The content of a resource could not be fetched, and may be later.
        ResourceFetchFailed => RESOURCE_FETCH_FAILED, since "0.1.0";
    }
    ToolTerminal {
        /// A text that must be there exactly once is there more often.
        AmbiguousMatch => AMBIGUOUS_MATCH, since "0.1.0";
        /// The person, a rule or a guard did not allow the tool call.
        ApprovalDenied => APPROVAL_DENIED, since "0.1.0";
        /// A tool could not say what an approval of its call would cover.
        ApprovalKeyDerivationFailed => APPROVAL_KEY_DERIVATION_FAILED, since "0.1.0";
        /// The operator does not want this command to be run.
        CommandRejected => COMMAND_REJECTED, since "0.1.0";
        /// A tool was asked to go where it may not.
        Forbidden => TOOL_FORBIDDEN, since "0.1.0";
        /// The arguments of a tool call or of a command do not fit their schema, or there is no such tool.
        InputInvalid => INPUT_INVALID, since "0.1.0";
        /// A tool asked for input or approval and no interactive UI is there.
        InteractionUnavailable => INTERACTION_UNAVAILABLE, since "0.1.0";
        /// An MCP server gives no content for a resource.
        MCPResourceEmpty => MCP_RESOURCE_EMPTY, since "0.1.0";
        /// A tool of an MCP server failed.
        MCPToolFailed => MCP_TOOL_FAILED, since "0.1.0";
        /// The network policy does not let a host be reached.
        NetworkDenied => NETWORK_DENIED, since "0.1.0";
        /// What a tool was asked for is not there, or there is no such tool.
        NotFound => NOT_FOUND, since "0.1.0";
        /// What a tool found cannot be given as a result.
        OutputMalformed => OUTPUT_MALFORMED, since "0.1.0";
        /// A tool asked again more often than it may.
        RepromptLimit => REPROMPT_LIMIT, since "0.1.0";
        /// The content of a resource is larger than its binding allows.
        ResourceOverBytesCap => RESOURCE_OVER_BYTES_CAP, since "0.1.0";
        /// A tool failed without saying how in a code of its own.
        ToolExecutionFailed => TOOL_EXECUTION_FAILED, since "0.1.0";
        /// A plugin or a server was asked for the approval key of a tool it does not have.
        ToolNotRegistered => TOOL_NOT_REGISTERED, since "0.1.0";
    }
    Session {
        /// The approvals of the project cannot be read or written.
        ApprovalCacheUnavailable => APPROVAL_CACHE_UNAVAILABLE, since "0.1.0";
        /// An audit trail is not the one that was written.
        AuditTrailBroken => AUDIT_TRAIL_BROKEN, since "0.1.0";
        /// The last record of an audit trail was not written to its end.
        AuditTrailTorn => AUDIT_TRAIL_TORN, since "0.1.0";
        /// An audit trail cannot be opened, read or written.
        AuditTrailUnavailable => AUDIT_TRAIL_UNAVAILABLE, since "0.1.0";
        /// The session cannot do that from the state it is in.
        IllegalTransition => ILLEGAL_TRANSITION, since "0.1.0";
        /// More inputs wait for their turn than the session holds.
        InputQueueFull => INPUT_QUEUE_FULL, since "0.1.0";
        /// A prompt was settled before this answer came.
        InteractionAlreadyAnswered => INTERACTION_ALREADY_ANSWERED, since "0.1.0";
        /// No prompt of this session has the id that was answered.
        InteractionNotFound => INTERACTION_NOT_FOUND, since "0.1.0";
        /// The list of trusted MCP servers cannot be read or written.
        MCPTrustUnavailable => MCP_TRUST_UNAVAILABLE, since "0.1.0";
        /// An MCP server is not trusted, so nothing of it was started.
        MCPUntrusted => MCP_UNTRUSTED, since "0.1.0";
        /// What is stored of a session is not what a session has.
        ManifestDrift => MANIFEST_DRIFT, since "0.1.0";
        /// An ordering manifest cannot be read.
        OrderingManifestUnreadable => ORDERING_MANIFEST_UNREADABLE, since "0.1.0";
        /// The project folder has not been trusted, so nothing in it was loaded.
        ProjectTrustRequired => PROJECT_TRUST_REQUIRED, since "0.1.0";
        /// A provider's stream does not end as it must.
        ProviderProtocolViolation => PROVIDER_PROTOCOL_VIOLATION, since "0.1.0";
        /// A session has no record with the number that was asked for.
        RecordNotFound => RECORD_NOT_FOUND, since "0.1.0";
        /// The session cannot be resumed with the store that is active.
        ResumeMismatch => RESUME_MISMATCH, since "0.1.0";
        /// A resolved secret was about to be kept in a document that must not hold any.
        SecretLeak => SECRET_LEAK, since "0.1.0";
        /// The keyring or the secrets file cannot be used.
        SecretStoreUnavailable => SECRET_STORE_UNAVAILABLE, since "0.1.0";
        /// Several sessions have an id that begins with what was given.
        SessionAmbiguous => SESSION_AMBIGUOUS, since "0.1.0";
        /// No session has the id that was asked for.
        SessionNotFound => SESSION_NOT_FOUND, since "0.1.0";
        /// The settings could not be changed.
        SettingsUnwritable => SETTINGS_UNWRITABLE, since "0.1.0";
        /// Another version of the plugin wrote its state, and this one takes only its own.
        SlotDriftRejected => SLOT_DRIFT_REJECTED, since "0.1.0";
        /// What another version of the plugin kept could not be brought to this one.
        SlotMigrationFailed => SLOT_MIGRATION_FAILED, since "0.1.0";
        /// The session store is out of reach, full, locked or has no such session.
        StoreUnavailable => STORE_UNAVAILABLE, since "0.1.0";
        /// The trust list cannot be read or written.
        TrustStoreUnavailable => TRUST_STORE_UNAVAILABLE, since "0.1.0";
    }
    Cancellation {
        /// The session ended before the work was done.
        SessionCancelled => SESSION_CANCELLED, since "0.1.0";
        /// A tool call was called off.
        ToolCancelled => TOOL_CANCELLED, since "0.1.0";
        /// The turn was called off before its work was done.
        TurnCancelled => TURN_CANCELLED, since "0.1.0";
    }
    ExtensionHost {
        /// A plugin tried to write an audit record of a class that belongs to core.
        AuditClassReserved => AUDIT_CLASS_RESERVED, since "0.1.0";
        /// A plugin panicked inside a call.
        CallPanicked => CALL_PANICKED, since "0.1.0";
        /// A plugin did not return from a call that was over.
        CallStuck => CALL_STUCK, since "0.1.0";
        /// A plugin of a category that may not run commands tried to.
        CommandDispatchForbidden => COMMAND_DISPATCH_FORBIDDEN, since "0.1.0";
        /// A command failed with something that is not for the person who ran it.
        CommandExecFailed => COMMAND_EXEC_FAILED, since "0.1.0";
        /// A turn was begun while another one runs in the same session.
        ConcurrentTurnForbidden => CONCURRENT_TURN_FORBIDDEN, since "0.1.0";
        /// A plugin that is no context provider tried to contribute context.
        ContextContributionForbidden => CONTEXT_CONTRIBUTION_FORBIDDEN, since "0.1.0";
        /// A context provider failed, and the request needs it.
        ContextProviderFailed => CONTEXT_PROVIDER_FAILED, since "0.1.0";
        /// A plugin wanted something done that only one of stud's own commands may ask for.
        DeedForbidden => DEED_FORBIDDEN, since "0.1.0";
        /// Two plugins that must not be loaded together are both present.
        DependencyConflict => DEPENDENCY_CONFLICT, since "0.1.0";
        /// Plugins depend on each other in a circle.
        DependencyCycle => DEPENDENCY_CYCLE, since "0.1.0";
        /// A plugin depends on something that is not there.
        DependencyMissing => DEPENDENCY_MISSING, since "0.1.0";
        /// The plugin's entry function returned an error.
        EntryFailed => ENTRY_FAILED, since "0.1.0";
        /// The plugin's entry function panicked.
        EntryPanicked => ENTRY_PANICKED, since "0.1.0";
        /// The plugin publishes more events than others can take.
        EventRateExceeded => EVENT_RATE_EXCEEDED, since "0.1.0";
        /// A guard failed, which is not a yes.
        HookGuardFailed => HOOK_GUARD_FAILED, since "0.1.0";
        /// A transform failed.
        HookTransformFailed => HOOK_TRANSFORM_FAILED, since "0.1.0";
        /// The library file is not the one that was recorded.
        IntegrityFailed => INTEGRITY_FAILED, since "0.1.0";
        /// A lifecycle function of a plugin failed or did not return in time.
        LifecycleFailure => LIFECYCLE_FAILURE, since "0.1.0";
        /// A lifecycle step was asked for that does not follow from the plugin's state.
        LifecyclePhaseInvalid => LIFECYCLE_PHASE_INVALID, since "0.1.0";
        /// A turn went back to the model too often.
        LoopBoundExceeded => LOOP_BOUND_EXCEEDED, since "0.1.0";
        /// The other side of the plugin boundary does not know this call.
        NotImplemented => NOT_IMPLEMENTED, since "0.1.0";
        /// A host service was used at a time when it is not available.
        NotReady => NOT_READY, since "0.1.0";
        /// The system loader could not open the library.
        OpenFailed => OPEN_FAILED, since "0.1.0";
        /// Commands run one another without an end.
        ReentrantDelivery => REENTRANT_DELIVERY, since "0.1.0";
        /// A plugin asked for state that belongs to another plugin.
        SlotAccessDenied => SLOT_ACCESS_DENIED, since "0.1.0";
        /// What was asked could not begin, because the system said no.
        StartupFailure => STARTUP_FAILURE, since "0.1.0";
        /// A plugin that is no user interface tried to speak for the user.
        UserInputForbidden => USER_INPUT_FORBIDDEN, since "0.1.0";
    }
}

#[cfg(all(test, feature = "pages"))]
mod tests;
