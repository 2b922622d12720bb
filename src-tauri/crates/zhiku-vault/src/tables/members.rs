//! Members, their roles and departments.

use rusqlite::{Connection, OptionalExtension, params};
use zhiku_core::{DepartmentId, ProfileId, Role};

use crate::clock::now_ms;
use crate::error::{Result, VaultError};
use crate::home::Profile;
use crate::principal::{Function, Scope};
use crate::records::{Department, Member};
use crate::storage::row;
use crate::vault::Vault;

impl Vault {
    /// By name. Every member may know who else is one.
    pub fn members(&self, scope: &Scope) -> Result<Vec<Member>> {
        self.role(scope)?;
        self.read(scope, |db| {
            let mut statement =
                db.prepare_cached("SELECT profile_id, name, role FROM members ORDER BY name")?;
            let rows = statement.query_map([], |row| {
                Ok(Member {
                    profile_id: ProfileId(row::get_uuid(row, 0)?),
                    name: row.get(1)?,
                    role: row::get_name(row, 2)?,
                    departments: Vec::new(),
                })
            })?;
            let mut members = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            for member in &mut members {
                member.departments = departments_of(db, member.profile_id)?;
            }
            Ok(members)
        })
    }

    /// Adds a member or changes the role of one.
    pub fn add_member(&self, scope: &Scope, profile: &Profile, role: Role) -> Result<()> {
        self.require(scope, Function::Members)?;
        let profile = profile.clone();
        self.database().write(move |tx| {
            tx.execute(
                "INSERT INTO members (profile_id, name, role, added_ms) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (profile_id) DO UPDATE SET name = excluded.name, role = excluded.role",
                params![profile.profile_id.0.as_bytes(), profile.name, role.as_str(), now_ms()],
            )?;
            require_an_owner(tx)
        })
    }

    pub fn set_role(&self, scope: &Scope, member: ProfileId, role: Role) -> Result<()> {
        self.require(scope, Function::Members)?;
        self.database().write(move |tx| {
            let changed = tx.execute(
                "UPDATE members SET role = ?2 WHERE profile_id = ?1",
                params![member.0.as_bytes(), role.as_str()],
            )?;
            found(changed)?;
            require_an_owner(tx)
        })
    }

    /// The member's own runs stay theirs and unreachable for others; documents they brought in stay in the vault.
    pub fn remove_member(&self, scope: &Scope, member: ProfileId) -> Result<()> {
        self.require(scope, Function::Members)?;
        self.database().write(move |tx| {
            found(tx.execute("DELETE FROM members WHERE profile_id = ?1", [member.0.as_bytes()])?)?;
            require_an_owner(tx)
        })
    }

    /// By name.
    pub fn departments(&self, scope: &Scope) -> Result<Vec<Department>> {
        self.role(scope)?;
        self.read(scope, |db| {
            let mut statement =
                db.prepare_cached("SELECT department_id, name FROM departments ORDER BY name")?;
            Ok(statement.query_map([], department)?.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The department of that name, made when it is not there.
    pub fn add_department(&self, scope: &Scope, name: &str) -> Result<Department> {
        self.require(scope, Function::Members)?;
        let name = name.trim().to_owned();
        if name.is_empty() {
            return Err(VaultError::InvalidInput("a department needs a name".to_owned()));
        }
        self.database().write(move |tx| {
            tx.execute(
                "INSERT INTO departments (department_id, name) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING",
                params![DepartmentId::new().0.as_bytes(), name],
            )?;
            let sql = "SELECT department_id, name FROM departments WHERE name = ?1";
            Ok(tx.query_row(sql, [&name], department)?)
        })
    }

    /// Replaces the departments of a member.
    pub fn set_departments(
        &self,
        scope: &Scope,
        member: ProfileId,
        departments: &[DepartmentId],
    ) -> Result<()> {
        self.require(scope, Function::Members)?;
        let departments = departments.to_vec();
        self.database().write(move |tx| {
            tx.execute("DELETE FROM member_departments WHERE profile_id = ?1", [member.0.as_bytes()])?;
            for department in departments {
                let sql =
                    "INSERT OR IGNORE INTO member_departments (profile_id, department_id) VALUES (?1, ?2)";
                tx.execute(sql, params![member.0.as_bytes(), department.0.as_bytes()])
                    .map_err(unknown_subject)?;
            }
            Ok(())
        })
    }
}

/// A reference to a member or department that is not there.
pub(super) fn unknown_subject(error: rusqlite::Error) -> VaultError {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) {
        VaultError::NotFound { what: "member or department" }
    } else {
        error.into()
    }
}

fn departments_of(db: &Connection, member: ProfileId) -> Result<Vec<Department>> {
    let mut statement = db.prepare_cached(
        "SELECT d.department_id, d.name FROM member_departments m JOIN departments d USING (department_id)
         WHERE m.profile_id = ?1 ORDER BY d.name",
    )?;
    Ok(statement.query_map([member.0.as_bytes()], department)?.collect::<rusqlite::Result<_>>()?)
}

fn department(row: &rusqlite::Row<'_>) -> rusqlite::Result<Department> {
    Ok(Department { department_id: DepartmentId(row::get_uuid(row, 0)?), name: row.get(1)? })
}

fn found(changed: usize) -> Result<()> {
    if changed > 0 { Ok(()) } else { Err(VaultError::NotFound { what: "member" }) }
}

fn require_an_owner(db: &Connection) -> Result<()> {
    let owner = db.query_row("SELECT 1 FROM members WHERE role = 'owner'", [], |_| Ok(())).optional()?;
    owner.ok_or_else(|| VaultError::InvalidInput("a vault needs at least one owner".to_owned()))
}
