//! `onrush grpc`: the services of a target, and their messages.

use engine::ReflectError;
use plan::{Draft, Flags, PlanError, Reflection, Schema};
use report::Language;

use crate::exit::Exit;
use crate::options::args::GrpcArgs;
use crate::options::usage;
use crate::output;

/// Runs `onrush grpc list`.
pub(crate) fn list(args: &GrpcArgs) -> Exit {
    report(Ask::new(args).map_err(GrpcCommandError::from).and_then(|ask| list_of(&ask)))
}

/// Runs `onrush grpc describe`.
pub(crate) fn describe(args: &GrpcArgs) -> Exit {
    report(Ask::new(args).map_err(GrpcCommandError::from).and_then(|ask| description_of(&ask)))
}

fn report(said: Result<String, GrpcCommandError>) -> Exit {
    let language = usage::language();
    match said {
        Ok(text) => output::to_stdout(&text, language),
        Err(error) => {
            let (text, exit) = error.say(language);
            output::complain(&text);
            exit
        }
    }
}

/// The exit code for a failed reflection.
fn exit_of(error: &ReflectError) -> Exit {
    match error {
        ReflectError::Settings(_) | ReflectError::NoSymbol { .. } => Exit::Usage,
        ReflectError::Resolve(engine::ResolveError::Consent { .. }) => Exit::Usage,
        _ => Exit::NothingMeasured,
    }
}

/// The reflected schema of a symbol.
pub(crate) fn reflected(reflection: &Reflection, symbol: &str) -> Result<Schema, GrpcCommandError> {
    Ok(Schema::from_files(&engine::describe(reflection, symbol)?)?)
}

/// Why a service cannot be described.
pub(crate) enum GrpcCommandError {
    Plan(PlanError),
    Reflection(ReflectError),
}

impl GrpcCommandError {
    pub(crate) fn say(&self, language: Language) -> (String, Exit) {
        match self {
            Self::Plan(error) => (report::plan_error(error, language), Exit::Usage),
            Self::Reflection(error) => (report::reflect_error(error, language), exit_of(error)),
        }
    }
}

impl From<PlanError> for GrpcCommandError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<ReflectError> for GrpcCommandError {
    fn from(error: ReflectError) -> Self {
        Self::Reflection(error)
    }
}

/// A query, as typed.
struct Ask {
    draft: Draft,
    symbol: Option<String>,
}

impl Ask {
    fn new(args: &GrpcArgs) -> Result<Self, PlanError> {
        let mut words = [args.flags.url.clone(), args.symbol.clone()].into_iter().flatten().peekable();
        let mut flags = Flags { url: None, ..args.flags.clone() };
        // With proto files, no address is needed.
        let is_address = |word: &String| word.contains("://") || word.contains(':');
        let has_schema = !flags.protos.is_empty() || !flags.protosets.is_empty();
        if !has_schema || words.peek().is_some_and(is_address) {
            flags.url = words.next().map(|url| if url.contains("://") { url } else { format!("grpc://{url}") });
        }
        // The path of the address may be the name, too.
        let of_path = || {
            let (address, path) = flags.url.as_deref()?.split_once("://")?.1.split_once('/')?;
            (!address.is_empty() && !path.is_empty()).then(|| path.to_owned())
        };
        let symbol = words.next().or_else(of_path);
        Ok(Self { draft: flags.draft()?, symbol })
    }

    fn reflection(&self) -> Result<Reflection, PlanError> {
        self.draft.catalog(self.symbol.clone())
    }
}

/// The service of a symbol that may name one of its methods.
fn service_of(symbol: &str) -> &str {
    symbol.split_once('/').map_or(symbol, |(service, _)| service)
}

/// One name per line, escaped: a server may use any name, and must not affect the terminal.
fn lines(names: &[String]) -> String {
    names.iter().map(|name| format!("{}\n", name.escape_debug())).collect()
}

/// All services, or all methods of one.
fn list_of(ask: &Ask) -> Result<String, GrpcCommandError> {
    let schema = ask.draft.request.call.schema()?;
    match (schema, &ask.symbol) {
        (Some(schema), None) => Ok(lines(&schema.services())),
        (Some(schema), Some(symbol)) => Ok(lines(&schema.methods(service_of(symbol))?)),
        (None, None) => Ok(lines(&engine::list_services(&ask.reflection()?)?)),
        (None, Some(symbol)) => {
            let service = service_of(symbol);
            Ok(lines(&reflected(&ask.reflection()?, service)?.methods(service)?))
        }
    }
}

/// The description of a symbol, or of all services.
fn description_of(ask: &Ask) -> Result<String, GrpcCommandError> {
    let schema = ask.draft.request.call.schema()?;
    let Some(symbol) = &ask.symbol else {
        let (names, schema) = match schema {
            Some(schema) => (schema.services(), schema),
            None => {
                let (names, files) = engine::describe_all(&ask.reflection()?)?;
                (names, Schema::from_files(&files)?)
            }
        };
        let described = names.iter().map(|name| schema.describe(name)).collect::<Result<Vec<_>, _>>()?;
        return Ok(described.join("\n"));
    };
    match schema {
        Some(schema) => Ok(schema.describe(symbol)?),
        None => Ok(reflected(&ask.reflection()?, service_of(symbol))?.describe(symbol)?),
    }
}
