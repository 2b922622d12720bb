//! Who sees which document, as one SQL fragment that every read uses.
//!
//! A member sees a document that is not removed when they are an owner of the vault or brought the document in, or else
//! when no rule denies it to them and a rule allows it or its visibility includes them. Rights are rows, read in the same
//! statement as the content, so a change acts at the next statement. What came inside another document has the rights of its
//! outermost container.

use rusqlite::{Connection, OptionalExtension, named_params};
use zhiku_core::Role;

use crate::error::{Result, VaultError};
use crate::principal::Scope;
use crate::storage::row;

/// Opens a statement: `visible (document_key)` for the profile bound to `:profile`. Further tables follow after a comma.
pub(crate) const VISIBLE: &str = "WITH
    me (profile_id, role) AS (SELECT profile_id, role FROM members WHERE profile_id = :profile),
    mine (department_id) AS (SELECT department_id FROM member_departments WHERE profile_id = :profile),
    visible (document_key) AS (
        SELECT own.key FROM documents own JOIN documents d ON d.key = coalesce(own.root_key, own.key), me
        WHERE own.deleted_ms IS NULL AND d.deleted_ms IS NULL AND (
            me.role = 'owner' OR d.owner = me.profile_id OR (
                NOT EXISTS (
                    SELECT 1 FROM document_rules r WHERE r.document_key = d.key AND r.effect = 'deny'
                    AND (r.profile_id = me.profile_id OR r.department_id IN (SELECT department_id FROM mine)))
                AND (
                    d.visibility = 'all_members'
                    OR (d.visibility = 'departments' AND EXISTS (
                        SELECT 1 FROM document_departments p WHERE p.document_key = d.key
                        AND p.department_id IN (SELECT department_id FROM mine)))
                    OR EXISTS (
                        SELECT 1 FROM document_rules r WHERE r.document_key = d.key AND r.effect = 'allow'
                        AND (r.profile_id = me.profile_id OR r.department_id IN (SELECT department_id FROM mine)))
                )
            )
        )
    )
";

/// The member's role; [`VaultError::NotFound`] for who is not a member.
pub(crate) fn role(db: &Connection, scope: &Scope) -> Result<Role> {
    let mut statement = db.prepare_cached("SELECT role FROM members WHERE profile_id = :profile")?;
    statement
        .query_row(named_params! {":profile": scope.profile()}, |row| row::get_name(row, 0))
        .optional()?
        .ok_or(VaultError::NotFound { what: "vault" })
}
