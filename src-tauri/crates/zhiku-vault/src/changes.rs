//! Versions by difference: how far a version is from the one that it will replace. Units are compared by what they say and what
//! they stand under, not by where they stand: a new paragraph moves all that follows it and changes none of it.

use std::collections::HashMap;

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256 as Hasher};

use crate::error::Result;
use crate::failpoint::failpoint;
use crate::records::{ChangeExtent, Sha256, VersionChange, VersionRef};
use crate::storage::row;
use crate::tables::versions;
use crate::vault::Vault;

/// Above this share of changed units a version is a major change.
const MAJOR_PER_CENT: usize = 30;

impl Vault {
    /// Compares the units of a version with those of the published one and notes the result. Call when they are all staged
    /// and read; again gives the same.
    pub fn record_change(&self, version: VersionRef) -> Result<VersionChange> {
        let compared = self.database().read(|db| {
            let found = versions::find(db, version)?;
            let after = contents(db, found.key)?;
            let before = found.published_key.filter(|key| *key != found.key);
            Ok(match before {
                Some(before) => Some(compare(&contents(db, before)?, &after)),
                None if found.published_key.is_some() => None,
                None => {
                    Some(VersionChange { extent: ChangeExtent::First, n_changed_units: after.len() as u32 })
                }
            })
        })?;
        // A published version is compared with nothing any more: what was noted stays.
        let Some(change) = compared else { return self.change(version) };
        let noted = self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            tx.execute(
                "UPDATE versions SET change_extent = ?2, n_changed_units = ?3 WHERE key = ?1",
                params![found.key, row::to_name(change.extent)?, change.n_changed_units],
            )?;
            Ok(change)
        });
        failpoint("change_recorded");
        noted
    }

    /// What [`Vault::record_change`] noted; a version from before it was noted counts as a first one.
    pub fn change(&self, version: VersionRef) -> Result<VersionChange> {
        self.database().read(|db| {
            let found = versions::find(db, version)?;
            let sql = "SELECT change_extent, coalesce(n_changed_units, 0) FROM versions WHERE key = ?1";
            Ok(db.prepare_cached(sql)?.query_row([found.key], |row| {
                let extent = row::get_opt_name(row, 0)?.unwrap_or(ChangeExtent::First);
                Ok(VersionChange { extent, n_changed_units: row.get(1)? })
            })?)
        })
    }
}

fn contents(db: &Connection, version_key: i64) -> Result<Vec<Sha256>> {
    let mut statement = db.prepare_cached(
        "SELECT kind, heading_path, text FROM units WHERE version_key = ?1 ORDER BY ordinal",
    )?;
    let rows = statement.query_map([version_key], |row| {
        let mut hasher = Hasher::new();
        for column in 0..3 {
            hasher.update(row.get_ref(column)?.as_bytes()?);
            hasher.update([0]);
        }
        Ok(hasher.finalize().into())
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn compare(before: &[Sha256], after: &[Sha256]) -> VersionChange {
    let n_changed = n_missing(before, after).max(n_missing(after, before));
    let is_major = n_changed * 100 > MAJOR_PER_CENT * before.len().max(after.len());
    let extent = if is_major { ChangeExtent::Major } else { ChangeExtent::Minor };
    VersionChange { extent, n_changed_units: n_changed as u32 }
}

/// How many of `wanted` are not among `there`, counting repetitions.
fn n_missing(wanted: &[Sha256], there: &[Sha256]) -> usize {
    let mut left: HashMap<&Sha256, usize> = HashMap::new();
    for hash in there {
        *left.entry(hash).or_default() += 1;
    }
    wanted
        .iter()
        .filter(|hash| match left.get_mut(hash) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(names: &str) -> Vec<Sha256> {
        names.bytes().map(|name| [name; 32]).collect()
    }

    #[test]
    fn the_share_of_changed_units_decides() {
        let cases = [
            ("abcdefghij", "abcdefghij", ChangeExtent::Minor, 0),
            ("abcdefghij", "jabcdefghi", ChangeExtent::Minor, 0),
            ("abcdefghij", "abXdefghij", ChangeExtent::Minor, 1),
            ("abcdefghij", "XYZdefghij", ChangeExtent::Minor, 3),
            ("abcdefghij", "WXYZefghij", ChangeExtent::Major, 4),
            ("abcdefghij", "abcdef", ChangeExtent::Major, 4),
            ("aab", "ab", ChangeExtent::Major, 1),
            ("", "", ChangeExtent::Minor, 0),
        ];
        for (before, after, extent, n_changed_units) in cases {
            let found = compare(&units(before), &units(after));
            assert_eq!(found, VersionChange { extent, n_changed_units }, "{before} → {after}");
        }
    }
}
