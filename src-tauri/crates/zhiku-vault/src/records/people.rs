//! Members, departments, and the rules of documents.

use serde::Serialize;
use zhiku_core::{AclEffect, DepartmentId, DocumentVisibility, ProfileId, Role};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub profile_id: ProfileId,
    pub name: String,
    pub role: Role,
    pub departments: Vec<Department>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Department {
    pub department_id: DepartmentId,
    pub name: String,
}

/// Whom an explicit rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSubject {
    Profile(ProfileId),
    Department(DepartmentId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentRule {
    pub subject: RuleSubject,
    pub effect: AclEffect,
}

/// Who sees a document, as set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentAccess {
    pub visibility: DocumentVisibility,
    /// Those who see it when the visibility is `departments`.
    pub departments: Vec<DepartmentId>,
    pub rules: Vec<DocumentRule>,
}
