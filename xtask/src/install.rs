//! System dependencies of the tests: installed as root or with sudo, or named exactly.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, run, run_in};

/// Environment variable that permits installations: with `no` they are named instead.
const MAY_INSTALL: &str = "ONRUSH_INSTALL";

/// If installation is refused, the error describes the manual step.
fn permission(response: Option<&str>, by_hand: &str) -> Result<(), Failure> {
    match response {
        Some("no") => Err(format!("{MAY_INSTALL}=no, so this is left to you: {by_hand}")),
        _ => Ok(()),
    }
}

fn response() -> Option<String> {
    std::env::var(MAY_INSTALL).ok()
}

/// Runs a command that installs something, if that is allowed.
pub(crate) fn fetch(command: &mut Command) -> Result<(), Failure> {
    fetch_in(&crate::root(), command)
}

fn fetch_in(folder: &Path, command: &mut Command) -> Result<(), Failure> {
    permission(response().as_deref(), &format!("{command:?}"))?;
    run_in(folder, command)
}

/// Makes sure that one of `paths` exists, by installing a Debian package when none does.
pub(crate) fn ensure(program: &str, package: &str, paths: &[&str]) -> Result<(), Failure> {
    ensure_by(install, program, package, paths)
}

/// The same for a package with a service, which is not started.
pub(crate) fn ensure_without_service(
    program: &str,
    package: &str,
    service: &str,
    paths: &[&str],
) -> Result<(), Failure> {
    ensure_by(|package| install_without_service(package, service), program, package, paths)
}

fn ensure_by(
    install: impl Fn(&str) -> Result<(), Failure>,
    program: &str,
    package: &str,
    paths: &[&str],
) -> Result<(), Failure> {
    let is_there = || paths.iter().any(|path| Path::new(path).exists());
    if is_there() {
        return Ok(());
    }
    let by_hand = format!("{program} is missing; install it: apt-get install {package}");
    install(package).map_err(|failure| format!("{failure}\n{by_hand}"))?;
    if is_there() { Ok(()) } else { Err(by_hand) }
}

/// Installs a Debian package.
pub(crate) fn install(package: &str) -> Result<(), Failure> {
    permission(response().as_deref(), &format!("apt-get install {package}"))?;
    let apt = |words: &[&str]| run(as_root("apt-get").args(words).env("DEBIAN_FRONTEND", "noninteractive"));
    // An outdated list, or an unreachable mirror, shows in the installation.
    let _ = apt(&["update", "-qq"]);
    apt(&["install", "-y", "-qq", "--no-install-recommends", package])
}

/// The script that installs a Debian package under a policy that no service is started, unless the machine has one.
const WITHOUT_SERVICE: &str = r#"
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' > "$policy" && chmod 755 "$policy" || exit 1
fi
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$1" || exit 1
# Nor does it start with the machine.
if command -v systemctl > /dev/null; then systemctl --quiet disable "$2" || true; fi
"#;

fn install_without_service(package: &str, service: &str) -> Result<(), Failure> {
    permission(response().as_deref(), &format!("apt-get install {package}"))?;
    run(as_root("sh").args(["-c", WITHOUT_SERVICE, "sh", package, service]))
}

/// A command that runs with root privileges.
pub(crate) fn as_root(program: &str) -> Command {
    if is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("sudo");
    command.args(["--non-interactive", program]);
    command
}

/// Go programs, in `target/tools`: the HTTP/2 conformance test, a gRPC client, a load generator, and servers for our
/// tests.
pub(crate) fn go_tools() -> Result<(), Failure> {
    let tools = crate::root().join("target/tools");
    for (program, module) in [("h2specd", H2SPECD), ("grpcurl", GRPCURL), ("hey", HEY)] {
        if !tools.join(program).exists() {
            fetch(go()?.env("GOBIN", &tools).args(["install", module]))?;
        }
    }
    grpc_peer().and_then(|_| websocket_peer())
}

/// The gRPC server on grpc-go, built; Go checks what is up to date.
pub(crate) fn grpc_peer() -> Result<PathBuf, Failure> {
    let program = crate::root().join("target/tools/grpcpeer");
    let folder = crate::root().join("crates/cli/tests/peers/grpc");
    run_in(&folder, go()?.args(["build", "-o", &program.to_string_lossy(), "."]))?;
    Ok(program)
}

/// The WebSocket server on gorilla/websocket, built.
fn websocket_peer() -> Result<(), Failure> {
    let program = crate::root().join("target/tools/wspeer");
    let folder = crate::root().join("crates/cli/tests/peers/websocket");
    run_in(&folder, go()?.args(["build", "-o", &program.to_string_lossy(), "."]))
}

/// The Autobahn test suite, in a Python environment in `target/tools`.
pub(crate) fn autobahn() -> Result<(), Failure> {
    let folder = crate::root().join("target/tools/autobahn");
    if folder.join("bin/kosoku").exists() {
        return Ok(());
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    fetch(Command::new(folder.join("bin/pip")).args(["install", "--quiet", "--disable-pip-version-check", KOSOKU]))
}

/// The WebSocket server on ws, in `target/tools/node`.
pub(crate) fn node_peer() -> Result<(), Failure> {
    ensure("node", "nodejs", &["/usr/bin/node", "/usr/local/bin/node"])?;
    let folder = crate::root().join("target/tools/node");
    if folder.join("node_modules/ws").exists() {
        return Ok(());
    }
    ensure("npm", "npm", &["/usr/bin/npm", "/usr/local/bin/npm"])?;
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fetch_in(&folder, Command::new("npm").args(["install", "--no-audit", "--no-fund", "--silent", "--no-save", WS]))
}

/// A browser, and the tools that drive it and check pages, in `target/tools/browser`.
pub(crate) fn browser() -> Result<(), Failure> {
    ensure("chromium", "chromium", &["/usr/bin/chromium"])?;
    let folder = crate::root().join("target/tools/browser");
    if folder.join("node_modules/axe-core").exists() {
        return Ok(());
    }
    ensure("npm", "npm", &["/usr/bin/npm", "/usr/local/bin/npm"])?;
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fetch_in(
        &folder,
        Command::new("npm").args(["install", "--no-audit", "--no-fund", "--silent", "--no-save", PUPPETEER, AXE]),
    )
}

/// Well-known load generators, where `bench/peers.py` finds them: k6, Locust and JMeter in the returned folder.
pub(crate) fn well_known_tools() -> Result<PathBuf, Failure> {
    let tools = k6()?;
    let python = tools.join("locust-environment");
    if !python.join("bin/locust").exists() {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&python))?;
        fetch(Command::new(python.join("bin/pip")).args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            LOCUST,
        ]))?;
    }
    script(&tools.join("locust"), &format!("exec {} \"$@\"\n", python.join("bin/locust").display()))?;
    jmeter(&tools)?;
    Ok(tools)
}

/// k6, in the returned folder.
pub(crate) fn k6() -> Result<PathBuf, Failure> {
    let tools = crate::root().join("target/tools");
    if !tools.join("k6").exists() {
        fetch(go()?.env("GOBIN", &tools).args(["install", K6]))?;
    }
    Ok(tools)
}

/// The ssh server for machines in network namespaces, on which workers are started.
pub(crate) fn sshd() -> Result<(), Failure> {
    ensure("ip", "iproute2", &["/usr/sbin/ip", "/usr/bin/ip", "/sbin/ip"])?;
    ensure("curl", "curl", &["/usr/bin/curl"])?;
    ensure("ssh-keygen", "openssh-client", &["/usr/bin/ssh-keygen"])?;
    ensure_without_service("sshd", "openssh-server", "ssh", &["/usr/sbin/sshd"])
}

/// The bus of cluster runs, for tests that kill it.
pub(crate) fn nats_server() -> Result<(), Failure> {
    let tools = crate::root().join("target/tools");
    if !tools.join("nats-server").exists() {
        fetch(go()?.env("GOBIN", &tools).args(["install", NATS_SERVER]))?;
    }
    Ok(())
}

/// JMeter from Maven, in the layout that its launcher needs, with the memory settings of its own script.
fn jmeter(tools: &Path) -> Result<(), Failure> {
    let home = tools.join("apache-jmeter");
    let starter = home.join("bin/ApacheJMeter.jar");
    if !starter.exists() {
        ensure("java", "default-jre-headless", &["/usr/bin/java", "/usr/local/bin/java"])?;
        ensure("mvn", "maven", &["/usr/bin/mvn", "/usr/local/bin/mvn"])?;
        ensure("unzip", "unzip", &["/usr/bin/unzip"])?;
        let (pom, parts) = (crate::root().join("bench/jmeter/pom.xml"), home.join("parts"));
        let into = format!("-DoutputDirectory={}", parts.display());
        fetch(Command::new("mvn").args(["-q", "-B", "-f"]).arg(pom).args(["dependency:copy-dependencies", &into]))?;
        run_in(&home, Command::new("unzip").args(["-qo", "parts/ApacheJMeter_config-*.jar", "bin/*"]))?;
        let steps = "mkdir -p lib/ext lib/junit && mv parts/ApacheJMeter_*.jar lib/ext/ \
            && mv parts/ApacheJMeter-*.jar bin/ApacheJMeter.jar && mv parts/*.jar lib/ && rmdir parts";
        run_in(&home, Command::new("sh").args(["-ec", steps]))?;
    }
    let memory = "-Xms1g -Xmx1g -XX:MaxMetaspaceSize=256m";
    script(&tools.join("jmeter"), &format!("exec java {memory} -jar {} \"$@\"\n", starter.display()))
}

/// Writes a program of one line.
fn script(path: &Path, line: &str) -> Result<(), Failure> {
    let reported = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::write(path, format!("#!/bin/sh\n{line}")).map_err(reported)?;
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).map_err(reported)
}

/// Go, installed when missing.
pub(crate) fn go() -> Result<Command, Failure> {
    if !go_here().arg("version").output().is_ok_and(|output| output.status.success()) {
        install("golang-go")?;
    }
    Ok(go_here())
}

/// Go writes what it counts about itself beside its settings: these hold, but the counts go to `target`.
fn go_here() -> Command {
    let mut go = Command::new("go");
    if let Some(settings) = settings_of_go() {
        go.env("GOENV", settings).env("XDG_CONFIG_HOME", crate::root().join("target/cache/config"));
    }
    go
}

/// The file with Go's settings, in the place that Go itself takes; `None` without one.
fn settings_of_go() -> Option<PathBuf> {
    let path_in = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = || path_in("XDG_CONFIG_HOME").or_else(|| Some(path_in("HOME")?.join(".config")));
    path_in("GOENV").or_else(|| Some(folder()?.join("go/env")))
}

/// A NATS server with all features of the bus; building it needs Go 1.25 or later.
const NATS_SERVER: &str = "github.com/nats-io/nats-server/v2@v2.14.9";
/// The driver of the browser, without a browser of its own.
const PUPPETEER: &str = "puppeteer-core@24";
/// Checks of accessibility in pages.
const AXE: &str = "axe-core@4.14";
/// The most widely used WebSocket server for Node.
const WS: &str = "ws@8.18.3";
/// The Autobahn test suite for Python 3.
const KOSOKU: &str = "kosoku==0.1.0";
/// The latest published version.
const H2SPECD: &str = "github.com/summerwind/h2spec/cmd/h2specd@v2.2.1+incompatible";
/// The latest version that the Go of Debian 12 builds.
const GRPCURL: &str = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.8.9";

/// A load generator whose output is compared with ours.
const HEY: &str = "github.com/rakyll/hey@v0.1.4";
/// Another load generator; it is built from source.
const OHA_VERSION: &str = "1.16.0";

/// Load generators in Go and in Python; JMeter's version is in `bench/jmeter/pom.xml`.
const K6: &str = "go.k6.io/k6@v1.8.1";
const LOCUST: &str = "locust==2.47.0";

/// Whether oha is where the tests look for it.
pub(crate) fn has_oha() -> bool {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo/bin/oha"));
    crate::root().join("target/tools/oha").exists()
        || Path::new("/usr/bin/oha").exists()
        || home.is_some_and(|path| path.exists())
}

/// The load generator oha, in `target/tools`.
pub(crate) fn oha() -> Result<(), Failure> {
    let tools = crate::root().join("target/tools");
    if has_oha() {
        return Ok(());
    }
    let folder = tools.join("cargo");
    fetch(Command::new("cargo").args(["install", "oha", "--version", OHA_VERSION, "--locked", "--root"]).arg(&folder))?;
    std::fs::copy(folder.join("bin/oha"), tools.join("oha")).map(|_| ()).map_err(|error| format!("oha: {error}"))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_is_answered_with_what_is_missing() {
        let by_hand = "apt-get install nginx-light";
        let said = permission(Some("no"), by_hand).expect_err("nothing is installed");
        assert!(said.contains("ONRUSH_INSTALL=no") && said.contains(by_hand), "{said}");
        for response in [None, Some(""), Some("yes")] {
            assert_eq!(permission(response, by_hand), Ok(()), "{response:?}");
        }
    }

    /// Every installation asks for permission first.
    #[test]
    fn every_way_to_install_asks() {
        let folder = crate::root().join("xtask/src");
        let mut open = vec![folder];
        let mut requested = 0;
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(std::fs::read_dir(&path).expect("a folder").flatten().map(|entry| entry.path()));
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("UTF-8");
            // Commands that download: from the registries of Go and Rust, Python, Node and Java. apt asks for
            // permission itself.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for statement in code.split([';', '{', '}']) {
                let fetches =
                    ["[\"install\"", "bin/pip\"", "\"npm\"", "\"mvn\""].iter().any(|word| statement.contains(word));
                if fetches && !statement.contains("apt(") && !statement.contains("ensure(") {
                    requested += 1;
                    assert!(statement.contains("fetch"), "{}: {statement}", path.display());
                }
            }
        }
        assert!(requested >= 8, "only {requested} were found");
    }
}
