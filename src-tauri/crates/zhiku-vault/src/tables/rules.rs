//! Who sees a document: its visibility, the departments it is for, explicit rules.

use rusqlite::{Connection, OptionalExtension, params};
use zhiku_core::{AclEffect, DepartmentId, DocumentId, DocumentVisibility, ProfileId};

use super::documents::visible_key;
use super::members::unknown_subject;
use crate::error::{Result, VaultError};
use crate::principal::{Function, Scope};
use crate::records::{DocumentAccess, DocumentRule, RuleSubject};
use crate::storage::row;
use crate::vault::Vault;
use crate::visibility;

impl Vault {
    /// Who sees a document, for those who may change it.
    pub fn access(&self, scope: &Scope, document: DocumentId) -> Result<DocumentAccess> {
        self.read(scope, |db| {
            let key = manageable_key(db, scope, document)?;
            let visibility =
                db.query_row("SELECT visibility FROM documents WHERE key = ?1", [key], |row| row::get_name(row, 0))?;
            let mut departments =
                db.prepare_cached("SELECT department_id FROM document_departments WHERE document_key = ?1")?;
            let departments = departments.query_map([key], |row| Ok(DepartmentId(row::get_uuid(row, 0)?)))?;
            let mut rules = db.prepare_cached(
                "SELECT effect, profile_id, department_id FROM document_rules WHERE document_key = ?1 ORDER BY rowid",
            )?;
            let rules = rules.query_map([key], |row| {
                let profile = row.get::<_, Option<[u8; 16]>>(1)?;
                let subject = match profile {
                    Some(_) => RuleSubject::Profile(ProfileId(row::get_uuid(row, 1)?)),
                    None => RuleSubject::Department(DepartmentId(row::get_uuid(row, 2)?)),
                };
                Ok(DocumentRule { subject, effect: row::get_name(row, 0)? })
            })?;
            Ok(DocumentAccess {
                visibility,
                departments: departments.collect::<rusqlite::Result<_>>()?,
                rules: rules.collect::<rusqlite::Result<_>>()?,
            })
        })
    }

    /// `departments` counts when the visibility is `departments`.
    pub fn set_visibility(
        &self,
        scope: &Scope,
        document: DocumentId,
        visibility: DocumentVisibility,
        departments: &[DepartmentId],
    ) -> Result<()> {
        let departments = departments.to_vec();
        self.change_access(scope, document, move |db, key| {
            db.execute(
                "UPDATE documents SET visibility = ?2 WHERE key = ?1",
                params![key, visibility.as_str()],
            )?;
            db.execute("DELETE FROM document_departments WHERE document_key = ?1", [key])?;
            for department in departments {
                let sql = "INSERT OR IGNORE INTO document_departments (document_key, department_id) VALUES (?1, ?2)";
                db.execute(sql, params![key, department.0.as_bytes()]).map_err(unknown_subject)?;
            }
            Ok(())
        })
    }

    /// One rule per subject: a later one replaces the earlier.
    pub fn set_rule(
        &self,
        scope: &Scope,
        document: DocumentId,
        subject: RuleSubject,
        effect: AclEffect,
    ) -> Result<()> {
        self.change_access(scope, document, move |db, key| {
            delete_rule(db, key, subject)?;
            let (profile, department) = columns(subject);
            db.execute(
                "INSERT INTO document_rules (document_key, effect, profile_id, department_id) VALUES (?1, ?2, ?3, ?4)",
                params![key, effect.as_str(), profile, department],
            )?;
            Ok(())
        })
    }

    pub fn clear_rule(&self, scope: &Scope, document: DocumentId, subject: RuleSubject) -> Result<()> {
        self.change_access(scope, document, move |db, key| delete_rule(db, key, subject))
    }

    fn change_access(
        &self,
        scope: &Scope,
        document: DocumentId,
        change: impl FnOnce(&Connection, i64) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        self.role(scope)?;
        let scope = scope.clone();
        self.database().write(move |tx| {
            let key = manageable_key(tx, &scope, document)?;
            change(tx, key)
        })
    }
}

/// The key of the document, or of the container it came in, for an owner of the vault or of the document; who sees it but may
/// not manage it is denied.
fn manageable_key(db: &Connection, scope: &Scope, document: DocumentId) -> Result<i64> {
    let own = visible_key(db, scope, document)?;
    let key = db
        .query_row("SELECT coalesce(root_key, key) FROM documents WHERE key = ?1", [own], |row| row.get(0))?;
    let role = visibility::role(db, scope)?;
    let own = db
        .query_row(
            "SELECT 1 FROM documents WHERE key = ?1 AND owner = ?2",
            params![key, scope.profile()],
            |_| Ok(()),
        )
        .optional()?;
    if own.is_some() || Function::Members.allowed_to(role) {
        Ok(key)
    } else {
        Err(VaultError::Denied { function: Function::Members })
    }
}

fn columns(subject: RuleSubject) -> (Option<[u8; 16]>, Option<[u8; 16]>) {
    match subject {
        RuleSubject::Profile(id) => (Some(id.0.into_bytes()), None),
        RuleSubject::Department(id) => (None, Some(id.0.into_bytes())),
    }
}

fn delete_rule(db: &Connection, key: i64, subject: RuleSubject) -> Result<()> {
    let (profile, department) = columns(subject);
    db.execute(
        "DELETE FROM document_rules WHERE document_key = ?1 AND profile_id IS ?2 AND department_id IS ?3",
        params![key, profile, department],
    )?;
    Ok(())
}
