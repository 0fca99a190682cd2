//! The messages of server reflection: the same in `grpc.reflection.v1` and `v1alpha`.

use prost::{Message, Oneof};

/// The method path in both versions, the newer first.
pub const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// A request of a client.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Request {
    /// Unused here.
    #[prost(string, tag = "1")]
    pub host: String,
    /// The question.
    #[prost(oneof = "Question", tags = "3, 4, 5, 6, 7")]
    pub question: Option<Question>,
}

/// The query of a request.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum Question {
    /// A file of this name.
    #[prost(string, tag = "3")]
    FileByFilename(String),
    /// The file that defines this symbol.
    #[prost(string, tag = "4")]
    FileContainingSymbol(String),
    /// The file with an extension, given by type and number.
    #[prost(message, tag = "5")]
    FileContainingExtension(ExtensionRequest),
    /// The numbers of all extensions of a type.
    #[prost(string, tag = "6")]
    AllExtensionNumbersOfType(String),
    /// The names of all services.
    #[prost(string, tag = "7")]
    ListServices(String),
}

/// An extension of a type.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ExtensionRequest {
    /// The extended type.
    #[prost(string, tag = "1")]
    pub containing_type: String,
    /// Its field number.
    #[prost(int32, tag = "2")]
    pub extension_number: i32,
}

/// A response of a server.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Response {
    /// The host of the request.
    #[prost(string, tag = "1")]
    pub valid_host: String,
    /// The request that this responds to.
    #[prost(message, optional, tag = "2")]
    pub original_request: Option<Request>,
    /// The content of the response.
    #[prost(oneof = "ReflectionBody", tags = "4, 5, 6, 7")]
    pub said: Option<ReflectionBody>,
}

/// The content of a response.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum ReflectionBody {
    /// Files, each a `FileDescriptorProto`.
    #[prost(message, tag = "4")]
    DescriptorFiles(DescriptorFiles),
    /// Extension numbers of a type.
    #[prost(message, tag = "5")]
    ExtensionNumbers(ExtensionNumbers),
    /// All services.
    #[prost(message, tag = "6")]
    Services(Services),
    /// An error.
    #[prost(message, tag = "7")]
    Error(Refusal),
}

/// File descriptors that define a symbol, possibly with those that they import.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct DescriptorFiles {
    /// Each a `FileDescriptorProto`.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub files: Vec<Vec<u8>>,
}

/// Extension numbers of a type.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ExtensionNumbers {
    /// The extended type.
    #[prost(string, tag = "1")]
    pub base_type_name: String,
    /// The field numbers.
    #[prost(int32, repeated, tag = "2")]
    pub extension_number: Vec<i32>,
}

/// All services.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Services {
    /// The services by name.
    #[prost(message, repeated, tag = "1")]
    pub service: Vec<Service>,
}

/// A service.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Service {
    /// Its full name with its package.
    #[prost(string, tag = "1")]
    pub name: String,
}

/// Why a request failed.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Refusal {
    /// A gRPC status code.
    #[prost(int32, tag = "1")]
    pub error_code: i32,
    /// The error as text.
    #[prost(string, tag = "2")]
    pub error_message: String,
}
