//! How much room the application takes, by what it is for.

use std::collections::BTreeMap;
use std::path::Path;

use zhiku_engine::Engine;

use crate::ipc::dto::StorageRow;

/// Sizes of the home's and the models' files, grouped; unreadable entries count as nothing.
pub(crate) fn sizes(engine: &Engine) -> Vec<StorageRow> {
    let (home, models) = (engine.home_dir(), engine.models().dir());
    let mut sizes = BTreeMap::new();
    add(home, Some(models), &mut |path, bytes| {
        *sizes.entry(part(path.strip_prefix(home).unwrap_or(path))).or_insert(0) += bytes;
    });
    add(models, None, &mut |_, bytes| *sizes.entry("models").or_insert(0) += bytes);
    let order = ["originals", "database", "index", "vectors", "models", "other"];
    let row = |part: &&str| {
        sizes.get(part).map(|bytes: &u64| StorageRow { part: (*part).to_owned(), size_bytes: *bytes as f64 })
    };
    order.iter().filter_map(row).collect()
}

fn part(path: &Path) -> &'static str {
    let named = |wanted: &str| path.components().any(|component| component.as_os_str() == wanted);
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    if named("objects") {
        "originals"
    } else if named("lexical") {
        "index"
    } else if file.starts_with("token_vectors") {
        "vectors"
    } else if file.contains(".sqlite") {
        "database"
    } else {
        "other"
    }
}

fn add(dir: &Path, except: Option<&Path>, count: &mut dyn FnMut(&Path, u64)) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if except == Some(path.as_path()) {
            continue;
        }
        if kind.is_dir() {
            add(&path, except, count);
        } else if let Ok(metadata) = entry.metadata() {
            count(&path, metadata.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_grouped_by_what_they_are_for() {
        let cases = [
            ("vaults/1/objects/ab/cd", "originals"),
            ("vaults/1/lexical/meta.json", "index"),
            ("vaults/1/token_vectors.sqlite-wal", "vectors"),
            ("vaults/1/vault.sqlite", "database"),
            ("home.sqlite", "database"),
            ("samples/a.pdf", "other"),
        ];
        for (path, expected) in cases {
            assert_eq!(part(Path::new(path)), expected, "{path}");
        }
    }
}
