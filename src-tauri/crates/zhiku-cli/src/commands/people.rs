//! `vault`, `profile`, `member`, `rule`: people, roles and who sees what.

use std::process::ExitCode;

use serde_json::json;
use zhiku_core::{AclEffect, DocumentVisibility, Role};
use zhiku_engine::{EngineError, RuleChange, Session};

use super::{Result, engine, find_document, owner, reader};
use crate::args::{Global, MemberCommand, ProfileCommand, RuleCommand, VaultCommand};
use crate::output::Output;

pub(super) fn vault(global: &Global, command: VaultCommand, output: &Output) -> Result<ExitCode> {
    let engine = engine(global)?;
    let created = match command {
        VaultCommand::Create { name, dir } => {
            let owner = engine.sign_in(global.as_profile.as_deref())?;
            vec![engine.create_vault(&owner, &name, dir.as_deref())?]
        }
        VaultCommand::List => engine.vaults()?,
    };
    let rows: Vec<_> =
        created.iter().map(|vault| json!({ "vault": vault.vault_id, "name": vault.name, "dir": vault.path.to_string_lossy() })).collect();
    output.result(&json!({ "vaults": rows }), || {
        created
            .iter()
            .map(|vault| format!("{}  {}  {}", vault.vault_id, vault.name, vault.path.display()))
            .collect::<Vec<_>>()
            .join("\n")
    });
    Ok(ExitCode::SUCCESS)
}

pub(super) fn profile(global: &Global, command: ProfileCommand, output: &Output) -> Result<ExitCode> {
    let engine = engine(global)?;
    if let ProfileCommand::Add { name } = &command {
        engine.add_profile(name)?;
    }
    let profiles = engine.profiles()?;
    let rows: Vec<_> = profiles
        .iter()
        .map(|profile| json!({ "profile": profile.profile_id, "name": profile.name }))
        .collect();
    output.result(&json!({ "profiles": rows }), || {
        profiles.iter().map(|profile| profile.name.clone()).collect::<Vec<_>>().join("\n")
    });
    Ok(ExitCode::SUCCESS)
}

pub(super) fn member(global: &Global, command: MemberCommand, output: &Output) -> Result<ExitCode> {
    let session = match command {
        MemberCommand::List => reader(global)?,
        MemberCommand::Add { profile, role, departments } => {
            let session = owner(global)?;
            session.add_member(&profile, parse_role(&role)?, &departments)?;
            session
        }
        MemberCommand::Set { profile, role, departments } => {
            let session = owner(global)?;
            let role = role.as_deref().map(parse_role).transpose()?;
            session.set_member(
                &profile,
                role,
                (!departments.is_empty()).then_some(departments.as_slice()),
            )?;
            session
        }
        MemberCommand::Remove { profile } => {
            let session = owner(global)?;
            session.remove_member(&profile)?;
            session
        }
    };
    let members = session.members()?;
    let departments =
        |member: &zhiku_engine::Member| member.departments.iter().map(|d| d.name.clone()).collect::<Vec<_>>();
    let rows: Vec<_> = members
        .iter()
        .map(|member| json!({ "profile": member.profile_id, "name": member.name, "role": member.role, "departments": departments(member) }))
        .collect();
    output.result(&json!({ "members": rows }), || {
        let line = |m: &zhiku_engine::Member| {
            format!("{:<20} {:<7} {}", m.name, m.role.as_str(), departments(m).join(", "))
        };
        members.iter().map(line).collect::<Vec<_>>().join("\n")
    });
    Ok(ExitCode::SUCCESS)
}

pub(super) fn rule(global: &Global, command: RuleCommand, output: &Output) -> Result<ExitCode> {
    let (session, document) = match command {
        RuleCommand::List { document } => {
            let session = reader(global)?;
            let id = find_document(&session, &document)?;
            (session, id)
        }
        RuleCommand::Set { document, visibility, departments, allow, deny, clear } => {
            let session = owner(global)?;
            let id = find_document(&session, &document)?;
            if let Some(visibility) = visibility {
                let visibility = DocumentVisibility::from_text(&visibility)
                    .ok_or_else(|| EngineError::invalid(format!("unknown visibility {visibility}")))?;
                session.set_visibility(id, visibility, &departments)?;
            }
            change_rules(&session, id, &allow, RuleChange::Set(AclEffect::Allow))?;
            change_rules(&session, id, &deny, RuleChange::Set(AclEffect::Deny))?;
            change_rules(&session, id, &clear, RuleChange::Clear)?;
            (session, id)
        }
    };
    let access = session.access(document)?;
    output.result(&json!(access), || serde_json::to_string_pretty(&access).unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

fn change_rules(
    session: &Session,
    document: zhiku_core::DocumentId,
    subjects: &[String],
    change: RuleChange,
) -> Result<()> {
    subjects.iter().try_for_each(|subject| session.change_rule(document, subject, change))
}

fn parse_role(text: &str) -> Result<Role> {
    Role::from_text(text)
        .ok_or_else(|| EngineError::invalid(format!("unknown role {text}: owner, editor or reader")))
}
