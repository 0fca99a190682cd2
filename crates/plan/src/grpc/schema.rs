//! Descriptions of services and messages, from any source.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use prost_reflect::prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};
use prost_reflect::{DescriptorPool, MethodDescriptor, ServiceDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, GoogleFileResolver};

use super::sources::Sources;
use super::{SCHEMA_BYTES_MAX, sound};
use crate::PlanError;
use crate::file::read_up_to;

/// The most names in a message that lists them.
const NAMES_MAX: usize = 20;

/// Services and messages.
#[derive(Clone, Debug)]
pub struct Schema {
    pub(super) pool: DescriptorPool,
}

impl Schema {
    /// The definitions in `.proto` files and in those that they import.
    ///
    /// # Errors
    /// A file is missing or invalid; the message names the position.
    pub fn from_protos(paths: &[String], import_paths: &[String]) -> Result<Self, PlanError> {
        let mut folders: Vec<PathBuf> = import_paths.iter().map(PathBuf::from).collect();
        for path in paths {
            let found = find(path, import_paths);
            // An unreadable file is reported with its path.
            read_up_to("--proto", &found.to_string_lossy(), SCHEMA_BYTES_MAX)?;
            let folder = found.parent().filter(|folder| !folder.as_os_str().is_empty());
            for folder in [PathBuf::from("."), folder.unwrap_or(Path::new(".")).to_owned()] {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        let sources = Sources::new(&folders);
        let wrong = |error: &protox::Error| match edition_of(error, &folders) {
            Some(file) => PlanError::Edition { file },
            None => PlanError::Proto { reason: format!("{error:?}") },
        };
        let names: Vec<String> = paths
            .iter()
            .map(|path| {
                let found = find(path, import_paths);
                sources.name_of(&found).map_err(|other| PlanError::Proto { reason: shadowed(&found, &other) })
            })
            .collect::<Result<_, _>>()?;
        let mut resolver = ChainFileResolver::new();
        resolver.add(sources);
        resolver.add(GoogleFileResolver::new());
        let mut compiler = Compiler::with_file_resolver(resolver);
        for name in names {
            compiler.open_file(name).map_err(|error| wrong(&error))?;
        }
        Ok(Self { pool: compiler.descriptor_pool() })
    }

    /// The descriptions in files that `protoc --descriptor_set_out` wrote.
    ///
    /// # Errors
    /// A file cannot be read, or is no descriptor set.
    pub fn from_sets(paths: &[String]) -> Result<Self, PlanError> {
        let mut files = Vec::new();
        for path in paths {
            let bytes = read_up_to("--protoset", path, SCHEMA_BYTES_MAX)?;
            let wrong = |reason: String| PlanError::Protoset { path: path.clone(), reason };
            let set = FileDescriptorSet::decode(&*bytes).map_err(|error| wrong(error.to_string()))?;
            if set.file.is_empty() {
                return Err(wrong("it describes no file".to_owned()));
            }
            files.extend(set.file);
        }
        Self::from_descriptors(files).map_err(|error| match error {
            PlanError::Described { reason } => PlanError::Protoset { path: paths.join(", "), reason },
            other => other,
        })
    }

    /// The descriptions that a server returned: each a `FileDescriptorProto`.
    ///
    /// # Errors
    /// One cannot be read, or they are inconsistent.
    pub fn from_files(files: &[Vec<u8>]) -> Result<Self, PlanError> {
        Self::from_descriptors(decode(files)?)
    }

    fn from_descriptors(mut files: Vec<FileDescriptorProto>) -> Result<Self, PlanError> {
        if let Some(file) = files.iter().find(|file| file.syntax() == "editions") {
            return Err(PlanError::Edition { file: file.name().to_owned() });
        }
        let mut names = BTreeSet::new();
        files.retain(|file| names.insert(file.name().to_owned()));
        files.iter_mut().for_each(sound::strip);
        // The well-known types may be left out.
        let imported: BTreeSet<String> = files.iter().flat_map(|file| file.dependency.iter().cloned()).collect();
        for name in imported.iter().filter(|name| !names.contains(*name)) {
            if let Some(known) = DescriptorPool::global().get_file_by_name(name) {
                files.push(known.file_descriptor_proto().clone());
            }
        }
        sound::check(&files).map_err(|reason| PlanError::Described { reason })?;
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(files).map_err(|error| PlanError::Described { reason: error.to_string() })?;
        Ok(Self { pool })
    }

    /// The names of all services, in order.
    pub fn services(&self) -> Vec<String> {
        let names: BTreeSet<String> = self.pool.services().map(|service| service.full_name().to_owned()).collect();
        names.into_iter().collect()
    }

    /// The names of a service's methods, with the service's before them, in order.
    ///
    /// # Errors
    /// The service is unknown.
    pub fn methods(&self, service: &str) -> Result<Vec<String>, PlanError> {
        let service = self.service(service)?;
        Ok(service.methods().map(|method| format!("{}/{}", service.full_name(), method.name())).collect())
    }

    fn service(&self, name: &str) -> Result<ServiceDescriptor, PlanError> {
        self.pool
            .get_service_by_name(name)
            .ok_or_else(|| PlanError::NoService { service: name.to_owned(), known: list(self.services().into_iter()) })
    }

    pub(crate) fn method(&self, service: &str, method: &str) -> Result<MethodDescriptor, PlanError> {
        let service = self.service(service)?;
        service.methods().find(|each| each.name() == method).ok_or_else(|| PlanError::NoMethod {
            service: service.full_name().to_owned(),
            method: method.to_owned(),
            known: list(service.methods().map(|each| each.name().to_owned())),
        })
    }
}

/// The imports of these files that are neither among them nor well-known.
///
/// # Errors
/// One is no `FileDescriptorProto`.
pub fn missing_imports(files: &[Vec<u8>]) -> Result<Vec<String>, PlanError> {
    let read = decode(files)?;
    let names: BTreeSet<&str> = read.iter().map(|file| file.name()).collect();
    let imported: BTreeSet<&str> = read.iter().flat_map(|file| &file.dependency).map(String::as_str).collect();
    let is_known = |name: &str| names.contains(name) || DescriptorPool::global().get_file_by_name(name).is_some();
    Ok(imported.into_iter().filter(|name| !is_known(name)).map(str::to_owned).collect())
}

fn decode(files: &[Vec<u8>]) -> Result<Vec<FileDescriptorProto>, PlanError> {
    let read = files.iter().map(|bytes| FileDescriptorProto::decode(&**bytes)).collect::<Result<_, _>>();
    read.map_err(|error| PlanError::Described { reason: error.to_string() })
}

fn list(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.take(NAMES_MAX + 1).collect();
    if names.len() > NAMES_MAX {
        names[NAMES_MAX] = "...".to_owned();
    }
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}

/// A file by its path, or by its import name.
fn find(path: &str, import_paths: &[String]) -> PathBuf {
    let plain = PathBuf::from(path);
    if plain.exists() {
        return plain;
    }
    import_paths.iter().map(|folder| Path::new(folder).join(path)).find(|path| path.exists()).unwrap_or(plain)
}

/// The error that an import would find another file under the name of this one.
fn shadowed(path: &Path, other: &Path) -> String {
    format!(
        "{} is hidden by {}, which imports find first; name its folder first with --import-path, or rename one of them",
        path.display(),
        other.display()
    )
}

/// The file, when its edition is not supported by the compiler.
fn edition_of(error: &protox::Error, folders: &[PathBuf]) -> Option<String> {
    let file = error.file()?;
    let text = folders.iter().find_map(|folder| std::fs::read_to_string(folder.join(file)).ok())?;
    let first = text
        .trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with("//"))?;
    first.strip_prefix("edition").is_some_and(|rest| rest.trim_start().starts_with('=')).then(|| file.to_owned())
}
