//! From the protocol's words to core's.

use data_encoding::BASE64;
use rmcp::model::{
    CallToolResult, ContentBlock, Prompt, PromptMessage as Message, Resource, ResourceContents,
    Role, Tool,
};
use stud_core::mcp::{
    ConnectionError, Part, PromptArgument, PromptDescriptor, PromptMessage, ResourceContent,
    ResourceDescriptor, ToolAnswer, ToolDescriptor,
};

pub(crate) fn tool(tool: Tool) -> ToolDescriptor {
    ToolDescriptor {
        name: tool.name.into_owned(),
        description: tool.description.map(std::borrow::Cow::into_owned),
        input_schema: (*tool.input_schema).clone(),
    }
}

pub(crate) fn prompt(prompt: Prompt) -> PromptDescriptor {
    let arguments = prompt.arguments.unwrap_or_default().into_iter();
    PromptDescriptor {
        name: prompt.name,
        description: prompt.description,
        arguments: arguments
            .map(|argument| PromptArgument {
                name: argument.name,
                required: argument.required.unwrap_or(false),
            })
            .collect(),
    }
}

pub(crate) fn resource(resource: Resource) -> ResourceDescriptor {
    ResourceDescriptor {
        uri: resource.uri,
        mime_type: resource.mime_type,
    }
}

pub(crate) fn answer(result: CallToolResult) -> ToolAnswer {
    ToolAnswer {
        content: result.content.into_iter().map(part).collect(),
        structured: result.structured_content,
        is_error: result.is_error.unwrap_or(false),
    }
}

fn part(block: ContentBlock) -> Part {
    match block {
        ContentBlock::Text(text) => Part::Text(text.text),
        ContentBlock::Image(image) => Part::Other {
            kind: "image",
            mime_type: image.mime_type,
            bytes: image.data.len(),
        },
        ContentBlock::Audio(audio) => Part::Other {
            kind: "audio",
            mime_type: audio.mime_type,
            bytes: audio.data.len(),
        },
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => Part::Text(text),
            ResourceContents::BlobResourceContents {
                mime_type, blob, ..
            } => Part::Other {
                kind: "resource",
                mime_type: mime_type.unwrap_or_else(|| OCTETS.to_owned()),
                bytes: blob.len(),
            },
            _ => unknown(),
        },
        ContentBlock::ResourceLink(link) => Part::Link(link.uri),
        _ => unknown(),
    }
}

/// What this version of the protocol has no word for.
fn unknown() -> Part {
    Part::Other {
        kind: "unknown",
        mime_type: OCTETS.to_owned(),
        bytes: 0,
    }
}

pub(crate) fn message(message: Message) -> PromptMessage {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let text = match message.content {
        ContentBlock::Text(text) => text.text,
        _ => String::new(),
    };
    PromptMessage {
        role: role.to_owned(),
        text,
    }
}

const OCTETS: &str = "application/octet-stream";

pub(crate) fn content(contents: ResourceContents) -> Result<ResourceContent, ConnectionError> {
    match contents {
        ResourceContents::TextResourceContents {
            mime_type, text, ..
        } => Ok(ResourceContent {
            bytes: text.into_bytes(),
            mime_type: mime_type.unwrap_or_else(|| "text/plain".to_owned()),
        }),
        ResourceContents::BlobResourceContents {
            mime_type, blob, ..
        } => {
            let bytes = BASE64.decode(blob.as_bytes()).map_err(|error| {
                ConnectionError::Refused(format!("what it sends is not base64: {error}"))
            })?;
            Ok(ResourceContent {
                bytes,
                mime_type: mime_type.unwrap_or_else(|| OCTETS.to_owned()),
            })
        }
        _ => Err(ConnectionError::Refused(
            "it sends something that is neither text nor bytes".to_owned(),
        )),
    }
}
