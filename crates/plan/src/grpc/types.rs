//! Messages of a method as a person reads them.

use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, MethodDescriptor};
use serde::{Deserialize, Serialize};

/// What a method takes and gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(Vec<u8>, String, String)", into = "(Vec<u8>, String, String)")]
pub struct MessageTypes {
    input: MessageDescriptor,
    output: MessageDescriptor,
}

impl From<MessageTypes> for (Vec<u8>, String, String) {
    /// What describes them, and their names.
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
    pub(crate) fn of(method: &MethodDescriptor) -> Self {
        Self { input: method.input(), output: method.output() }
    }

    /// The bytes of a message of ours that stands in JSON.
    ///
    /// # Errors
    /// It is not what the method takes; why, for a person.
    pub fn encode(&self, json: &[u8]) -> Result<Vec<u8>, String> {
        let mut reader = serde_json::Deserializer::from_slice(json);
        let read = DynamicMessage::deserialize(self.input.clone(), &mut reader);
        let message = read.and_then(|message| reader.end().map(|()| message)).map_err(|error| error.to_string())?;
        Ok(message.encode_to_vec())
    }

    /// A message as JSON; `None` when it is not what the method takes, or gives.
    pub fn json(&self, is_ours: bool, message: &[u8]) -> Option<String> {
        let kind = if is_ours { &self.input } else { &self.output };
        let message = DynamicMessage::decode(kind.clone(), message).ok()?;
        serde_json::to_string(&message).ok()
    }
}
