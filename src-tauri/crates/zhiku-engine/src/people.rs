//! Members, departments and who sees a document.

use zhiku_core::{AclEffect, DepartmentId, DocumentId, DocumentVisibility, ProfileId, Role};
use zhiku_vault::{DocumentAccess, Member, RuleSubject, Scope};

use crate::error::{EngineError, Result};
use crate::session::Session;

/// What happens to an explicit rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleChange {
    Set(AclEffect),
    Clear,
}

impl Session {
    pub fn members(&self) -> Result<Vec<Member>> {
        Ok(self.vault().members(&self.scope()?)?)
    }

    /// Makes a profile of this home a member; departments are made when they are not there.
    pub fn add_member(&self, profile: &str, role: Role, departments: &[String]) -> Result<()> {
        let scope = self.scope()?;
        let profile = self.engine.home.profile(profile)?;
        self.vault().add_member(&scope, &profile, role)?;
        self.set_departments(&scope, profile.profile_id, departments)
    }

    pub fn set_member(&self, member: &str, role: Option<Role>, departments: Option<&[String]>) -> Result<()> {
        let scope = self.scope()?;
        let id = self.member_id(&scope, member)?;
        if let Some(role) = role {
            self.vault().set_role(&scope, id, role)?;
        }
        departments.map_or(Ok(()), |departments| self.set_departments(&scope, id, departments))
    }

    pub fn remove_member(&self, member: &str) -> Result<()> {
        let scope = self.scope()?;
        let id = self.member_id(&scope, member)?;
        Ok(self.vault().remove_member(&scope, id)?)
    }

    pub fn access(&self, document: DocumentId) -> Result<DocumentAccess> {
        Ok(self.vault().access(&self.scope()?, document)?)
    }

    pub fn set_visibility(
        &self,
        document: DocumentId,
        visibility: DocumentVisibility,
        departments: &[String],
    ) -> Result<()> {
        let scope = self.scope()?;
        let ids = self.department_ids(&scope, departments)?;
        Ok(self.vault().set_visibility(&scope, document, visibility, &ids)?)
    }

    /// `subject` is a member's name or `department:NAME`.
    pub fn change_rule(&self, document: DocumentId, subject: &str, change: RuleChange) -> Result<()> {
        let scope = self.scope()?;
        let subject = match subject.strip_prefix("department:") {
            Some(name) => RuleSubject::Department(self.vault().add_department(&scope, name)?.department_id),
            None => RuleSubject::Profile(self.member_id(&scope, subject)?),
        };
        match change {
            RuleChange::Set(effect) => self.vault().set_rule(&scope, document, subject, effect)?,
            RuleChange::Clear => self.vault().clear_rule(&scope, document, subject)?,
        }
        Ok(())
    }

    fn set_departments(&self, scope: &Scope, member: ProfileId, names: &[String]) -> Result<()> {
        let ids = self.department_ids(scope, names)?;
        Ok(self.vault().set_departments(scope, member, &ids)?)
    }

    fn department_ids(&self, scope: &Scope, names: &[String]) -> Result<Vec<DepartmentId>> {
        names.iter().map(|name| Ok(self.vault().add_department(scope, name)?.department_id)).collect()
    }

    fn member_id(&self, scope: &Scope, name: &str) -> Result<ProfileId> {
        let members = self.vault().members(scope)?;
        let found = members.into_iter().find(|member| member.name == name);
        found.map(|member| member.profile_id).ok_or_else(|| EngineError::not_found("member"))
    }
}
