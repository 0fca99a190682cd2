//! The messages of a method in readable form.

use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, MethodDescriptor};
use serde::{Deserialize, Serialize};

/// The request and response types of a method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(Vec<u8>, String, String)", into = "(Vec<u8>, String, String)")]
pub struct MessageTypes {
    input: MessageDescriptor,
    output: MessageDescriptor,
}

impl From<MessageTypes> for (Vec<u8>, String, String) {
    /// The descriptors, and the names of the types.
    fn from(types: MessageTypes) -> Self {
        let MessageTypes { input, output } = types;
        (input.parent_pool().encode_to_vec(), input.full_name().to_owned(), output.full_name().to_owned())
    }
}

impl TryFrom<(Vec<u8>, String, String)> for MessageTypes {
    type Error = String;

    fn try_from((pool, input, output): (Vec<u8>, String, String)) -> Result<Self, String> {
        let pool = DescriptorPool::decode(&pool[..]).map_err(|error| error.to_string())?;
        let named = |name: &str| pool.get_message_by_name(name).ok_or_else(|| format!("{name} is not described"));
        Ok(Self { input: named(&input)?, output: named(&output)? })
    }
}

impl MessageTypes {
    pub(crate) fn new(method: &MethodDescriptor) -> Self {
        Self { input: method.input(), output: method.output() }
    }

    /// The bytes of a request message, given as JSON.
    ///
    /// # Errors
    /// It does not fit the method; the reason is for the user.
    #[inline]
    pub fn encode(&self, json: &[u8]) -> Result<Vec<u8>, String> {
        let mut reader = serde_json::Deserializer::from_slice(json);
        let read = DynamicMessage::deserialize(self.input.clone(), &mut reader);
        let message = read.and_then(|message| reader.end().map(|()| message)).map_err(|error| error.to_string())?;
        Ok(message.encode_to_vec())
    }

    /// A message as JSON; `None` when it does not fit the method's type.
    #[inline]
    pub fn json(&self, is_ours: bool, message: &[u8]) -> Option<String> {
        let kind = if is_ours { &self.input } else { &self.output };
        let message = DynamicMessage::decode(kind.clone(), message).ok()?;
        serde_json::to_string(&message).ok()
    }
}
