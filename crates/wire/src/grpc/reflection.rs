//! The messages of server reflection: `grpc.reflection.v1` and `v1alpha` have the same.

use prost::{Message, Oneof};

/// The call, in both versions, the newer first.
pub const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// What a client asks.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Request {
    /// Of no meaning here.
    #[prost(string, tag = "1")]
    pub host: String,
    /// The question.
    #[prost(oneof = "Question", tags = "3, 4, 5, 6, 7")]
    pub question: Option<Question>,
}

/// A question.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum Question {
    /// A file of this name.
    #[prost(string, tag = "3")]
    FileByFilename(String),
    /// The file in which this is defined.
    #[prost(string, tag = "4")]
    FileContainingSymbol(String),
    /// The file with an extension; `type.name` and a number.
    #[prost(message, tag = "5")]
    FileContainingExtension(ExtensionRequest),
    /// The numbers of all extensions of a type.
    #[prost(string, tag = "6")]
    AllExtensionNumbersOfType(String),
    /// The names of all services.
    #[prost(string, tag = "7")]
    ListServices(String),
}

/// An extension.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ExtensionRequest {
    /// What is extended.
    #[prost(string, tag = "1")]
    pub containing_type: String,
    /// By which number.
    #[prost(int32, tag = "2")]
    pub extension_number: i32,
}

/// What a server answers.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Response {
    /// As in the request.
    #[prost(string, tag = "1")]
    pub valid_host: String,
    /// As it was asked.
    #[prost(message, optional, tag = "2")]
    pub original_request: Option<Request>,
    /// The answer.
    #[prost(oneof = "ReflectionBody", tags = "4, 5, 6, 7")]
    pub said: Option<ReflectionBody>,
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum ReflectionBody {
    /// Files, each a `FileDescriptorProto`.
    #[prost(message, tag = "4")]
    DescriptorFiles(DescriptorFiles),
    /// Numbers of extensions.
    #[prost(message, tag = "5")]
    ExtensionNumbers(ExtensionNumbers),
    /// All services.
    #[prost(message, tag = "6")]
    Services(Services),
    /// It cannot be answered.
    #[prost(message, tag = "7")]
    Error(Refusal),
}

/// Files that define something, and may come with what they import.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct DescriptorFiles {
    /// Each a `FileDescriptorProto`.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub files: Vec<Vec<u8>>,
}

/// Numbers of extensions.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ExtensionNumbers {
    /// What is extended.
    #[prost(string, tag = "1")]
    pub base_type_name: String,
    /// By which numbers.
    #[prost(int32, repeated, tag = "2")]
    pub extension_number: Vec<i32>,
}

/// All services.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Services {
    /// Each with its name.
    #[prost(message, repeated, tag = "1")]
    pub service: Vec<Service>,
}

/// A service.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Service {
    /// With its package.
    #[prost(string, tag = "1")]
    pub name: String,
}

/// Why a question has no answer.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Refusal {
    /// A status of gRPC.
    #[prost(int32, tag = "1")]
    pub error_code: i32,
    /// In words.
    #[prost(string, tag = "2")]
    pub error_message: String,
}
