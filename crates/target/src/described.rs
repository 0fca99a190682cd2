//! Server reflection of the target, from the `.proto` files of the project.

use std::sync::OnceLock;

use protox::Compiler;
use protox::file::{File, FileResolver};
use protox::prost_reflect::{DescriptorPool, FileDescriptor};
use wire::grpc::Status;
use wire::grpc::reflection::{
    DescriptorFiles, Question, ReflectionBody, Refusal, Request, Response, Service, Services,
};

/// Name and text of each file.
const SOURCES: [(&str, &str); 3] = [
    ("hello.proto", include_str!("../proto/hello.proto")),
    ("api_server.proto", include_str!("../proto/api_server.proto")),
    ("grpc/reflection/v1/reflection.proto", include_str!("../proto/grpc/reflection/v1/reflection.proto")),
];
/// The older version of reflection has the same messages.
const OLDER: &str = "grpc/reflection/v1alpha/reflection.proto";

struct Own;

impl FileResolver for Own {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let named = name.replace("/v1alpha/", "/v1/");
        match SOURCES.iter().find(|(known, _)| *known == named) {
            Some((_, text)) if name == OLDER => File::from_source(
                name,
                &text.replace("package grpc.reflection.v1;", "package grpc.reflection.v1alpha;"),
            ),
            Some((name, text)) => File::from_source(name, text),
            None => Err(protox::Error::file_not_found(name)),
        }
    }
}

/// Parsed on first use.
fn pool() -> &'static DescriptorPool {
    static POOL: OnceLock<DescriptorPool> = OnceLock::new();
    POOL.get_or_init(|| {
        let mut compiler = Compiler::with_file_resolver(Own);
        let names = SOURCES.iter().map(|(name, _)| *name).chain([OLDER]);
        compiler.open_files(names).expect("our own files are right");
        compiler.descriptor_pool()
    })
}

/// All files, each as a `FileDescriptorProto`.
pub fn descriptors() -> Vec<Vec<u8>> {
    pool().files().map(|file| file.encode_to_vec()).collect()
}

/// The file that defines a symbol.
fn file_of(symbol: &str) -> Option<FileDescriptor> {
    let pool = pool();
    let of_message = || pool.get_message_by_name(symbol).map(|message| message.parent_file());
    let of_enum = || pool.get_enum_by_name(symbol).map(|kind| kind.parent_file());
    let of_service = |name: &str| pool.get_service_by_name(name).map(|service| service.parent_file());
    let of_method = || {
        let (service, method) = symbol.rsplit_once('.')?;
        let service = pool.get_service_by_name(service)?;
        service.methods().any(|each| each.name() == method).then(|| service.parent_file())
    };
    of_service(symbol).or_else(of_message).or_else(of_enum).or_else(of_method)
}

/// The response to a reflection request.
pub(crate) fn response(request: Request) -> Response {
    let not_found = |what: &str| {
        let error_message = format!("nothing is known of {what}");
        ReflectionBody::Error(Refusal { error_code: Status::NOT_FOUND.index() as i32, error_message })
    };
    let file = |file: Option<FileDescriptor>, what: &str| match file {
        Some(file) => ReflectionBody::DescriptorFiles(DescriptorFiles { files: vec![file.encode_to_vec()] }),
        None => not_found(what),
    };
    let said = match &request.question {
        Some(Question::ListServices(_)) => {
            let service = pool().services().map(|service| Service { name: service.full_name().to_owned() });
            ReflectionBody::Services(Services { service: service.collect() })
        }
        Some(Question::FileByFilename(name)) => file(pool().get_file_by_name(name), name),
        Some(Question::FileContainingSymbol(symbol)) => file(file_of(symbol), symbol),
        Some(Question::FileContainingExtension(extension)) => not_found(&extension.containing_type),
        Some(Question::AllExtensionNumbersOfType(kind)) => not_found(kind),
        None => ReflectionBody::Error(Refusal { error_code: 3, error_message: "there is no question".to_owned() }),
    };
    Response { valid_host: request.host.clone(), original_request: Some(request), said: Some(said) }
}
