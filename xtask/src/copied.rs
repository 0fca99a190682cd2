//! The example of an own protocol, outside of the workspace: its readers copy it, set one path, and build it.

use std::path::Path;

use crate::{Failure, cargo, root, run_in};

/// The example, below the root.
const EXAMPLE: &str = "examples/own-protocol";
/// The path that its readers set.
const PATH: &str = "path = \"../../crates/cli\"";

/// Builds a copy of the example in a temporary folder, and runs its tests there.
pub(crate) fn own_protocol() -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("xtask-own-protocol-{}", std::process::id()));
    let done = copy(&folder).and_then(|()| {
        for verb in ["build", "test"] {
            run_in(&folder, cargo(&[verb, "--release"]).env("CARGO_TARGET_DIR", folder.join("target")))?;
        }
        Ok(())
    });
    let removed = std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()));
    done.and(removed)
}

/// Copies the example, with the versions of the workspace.
fn copy(folder: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    for name in ["src/main.rs", "tests/own.rs", "tests/server.py"] {
        let (from, to) = (root().join(EXAMPLE).join(name), folder.join(name));
        let parent = to.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        std::fs::copy(&from, &to).map_err(|error| failed(&from, error))?;
    }
    let lock = root().join("Cargo.lock");
    std::fs::copy(&lock, folder.join("Cargo.lock")).map_err(|error| failed(&lock, error))?;
    let manifest = root().join(EXAMPLE).join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).map_err(|error| failed(&manifest, error))?;
    let text = with_path(&text, &root().join("crates/cli"))?;
    std::fs::write(folder.join("Cargo.toml"), text).map_err(|error| failed(folder, error))
}

/// The manifest of the example with the absolute path of the library.
fn with_path(manifest: &str, library: &Path) -> Result<String, Failure> {
    match manifest.contains(PATH) {
        true => Ok(manifest.replace(PATH, &format!("path = {:?}", library.display().to_string()))),
        false => Err(format!("{EXAMPLE}/Cargo.toml has no {PATH}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_of_a_copy_has_one_other_path() {
        let manifest = std::fs::read_to_string(root().join(EXAMPLE).join("Cargo.toml")).expect("a manifest");
        let copied = with_path(&manifest, Path::new("/a/b")).expect("the path is there");
        assert_eq!(copied.matches("path = ").count(), 1, "nothing else leads into the workspace: {copied}");
        assert!(copied.contains("onrush = { path = \"/a/b\" }"), "{copied}");
        assert!(!copied.contains("workspace"), "{copied}");
        assert!(with_path(&copied, Path::new("/c")).is_err(), "a manifest without the path");
    }
}
