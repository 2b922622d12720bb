//! Conversations and runs: each profile's own. Events are appended as they happen and the terminal one before it is sent;
//! what they quote from a document that was removed or withdrawn is blanked.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use zhiku_core::{AnswerEvent, ConversationId, DocumentId, Evidence, Locator, RunId, UtcMs};

use super::documents::visible_among;
use crate::clock::now_ms;
use crate::error::{Result, VaultError};
use crate::principal::Scope;
use crate::records::{Conversation, RunState, RunSummary};
use crate::storage::row;
use crate::vault::Vault;

const COLUMNS: &str = "SELECT r.run_id, c.conversation_id, r.question, r.state, r.created_ms, r.ended_ms
    FROM runs r LEFT JOIN conversations c ON c.key = r.conversation_key";

impl Vault {
    pub fn create_conversation(&self, scope: &Scope, title: &str) -> Result<Conversation> {
        self.role(scope)?;
        let conversation = Conversation {
            conversation_id: ConversationId::new(),
            title: title.to_owned(),
            created: UtcMs(now_ms()),
        };
        let (stored, profile) = (conversation.clone(), scope.profile_id());
        self.database().write(move |tx| {
            tx.execute(
                "INSERT INTO conversations (conversation_id, profile_id, title, created_ms) VALUES (?1, ?2, ?3, ?4)",
                params![stored.conversation_id.0.as_bytes(), profile.0.as_bytes(), stored.title, stored.created.0],
            )?;
            Ok(())
        })?;
        Ok(conversation)
    }

    /// The principal's own, newest first.
    pub fn conversations(&self, scope: &Scope) -> Result<Vec<Conversation>> {
        self.role(scope)?;
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(
                "SELECT conversation_id, title, created_ms FROM conversations WHERE profile_id = ?1 ORDER BY key DESC",
            )?;
            let rows = statement.query_map([scope.profile()], |row| {
                Ok(Conversation {
                    conversation_id: ConversationId(row::get_uuid(row, 0)?),
                    title: row.get(1)?,
                    created: UtcMs(row.get(2)?),
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    pub fn rename_conversation(
        &self,
        scope: &Scope,
        conversation: ConversationId,
        title: &str,
    ) -> Result<()> {
        let (profile, title) = (scope.profile_id(), title.to_owned());
        self.role(scope)?;
        self.database().write(move |tx| {
            let changed = tx.execute(
                "UPDATE conversations SET title = ?3 WHERE conversation_id = ?1 AND profile_id = ?2",
                params![conversation.0.as_bytes(), profile.0.as_bytes(), title],
            )?;
            if changed == 0 { Err(VaultError::NotFound { what: "conversation" }) } else { Ok(()) }
        })
    }

    /// With its runs.
    pub fn delete_conversation(&self, scope: &Scope, conversation: ConversationId) -> Result<()> {
        let profile = scope.profile_id();
        self.role(scope)?;
        self.database().write(move |tx| {
            let changed = tx.execute(
                "DELETE FROM conversations WHERE conversation_id = ?1 AND profile_id = ?2",
                params![conversation.0.as_bytes(), profile.0.as_bytes()],
            )?;
            if changed == 0 { Err(VaultError::NotFound { what: "conversation" }) } else { Ok(()) }
        })
    }

    /// Starts the record of a run.
    pub fn create_run(
        &self,
        scope: &Scope,
        run: RunId,
        conversation: Option<ConversationId>,
        question: &str,
    ) -> Result<()> {
        self.role(scope)?;
        let (profile, question) = (scope.profile_id(), question.to_owned());
        self.database().write(move |tx| {
            let conversation_key = match conversation {
                Some(id) => {
                    let sql = "SELECT key FROM conversations WHERE conversation_id = ?1 AND profile_id = ?2";
                    let bound = params![id.0.as_bytes(), profile.0.as_bytes()];
                    let key = tx.query_row(sql, bound, |row| row.get::<_, i64>(0)).optional()?;
                    Some(key.ok_or(VaultError::NotFound { what: "conversation" })?)
                }
                None => None,
            };
            tx.execute(
                "INSERT INTO runs (run_id, conversation_key, profile_id, question, state, created_ms)
                 VALUES (?1, ?2, ?3, ?4, 'running', ?5)",
                params![run.0.as_bytes(), conversation_key, profile.0.as_bytes(), question, now_ms()],
            )?;
            Ok(())
        })
    }

    /// Appends one event; a `seq` that is there already is left as it is. A terminal event ends the run, and nothing is
    /// taken after it. Send it only when this has returned.
    pub fn append_event(&self, run: RunId, event: &AnswerEvent) -> Result<()> {
        let event = event.clone();
        self.database().write(move |tx| {
            let sql = "SELECT key, state FROM runs WHERE run_id = ?1";
            let found = tx.prepare_cached(sql)?.query_row([run.0.as_bytes()], |row| {
                Ok((row.get::<_, i64>(0)?, row::get_name::<RunState>(row, 1)?))
            });
            let (run_key, state) = found.optional()?.ok_or(VaultError::NotFound { what: "run" })?;
            if state != RunState::Running {
                return Err(VaultError::InvalidInput("the run has ended".to_owned()));
            }
            tx.prepare_cached("INSERT OR IGNORE INTO run_events (run_key, seq, event) VALUES (?1, ?2, ?3)")?
                .execute(params![run_key, event.seq() as i64, row::to_json(&event)?])?;
            for document in quoted_documents(&event) {
                tx.prepare_cached(
                    "INSERT OR IGNORE INTO run_documents (document_id, run_key) VALUES (?1, ?2)",
                )?
                .execute(params![document.0.as_bytes(), run_key])?;
            }
            if event.is_terminal() {
                tx.execute(
                    "UPDATE runs SET state = 'ended', ended_ms = ?2 WHERE key = ?1",
                    params![run_key, now_ms()],
                )?;
            }
            Ok(())
        })
    }

    /// The events of an own run after `seq`, in order. Quotes from documents that the principal does not see now are blank.
    pub fn events_after(&self, scope: &Scope, run: RunId, seq: u64) -> Result<Vec<AnswerEvent>> {
        self.read(scope, |db| {
            let key = own_run(db, scope, run)?;
            let mut statement = db.prepare_cached(
                "SELECT event FROM run_events WHERE run_key = ?1 AND seq > ?2 ORDER BY seq",
            )?;
            let rows =
                statement.query_map(params![key, seq as i64], |row| row::get_json::<AnswerEvent>(row, 0))?;
            let mut events = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            let withdrawn = withdrawn(db, scope, key)?;
            if !withdrawn.is_empty() {
                for event in &mut events {
                    blank(event, &|document| withdrawn.contains(&document));
                }
            }
            Ok(events)
        })
    }

    /// The documents quoted by an own run that are removed or no longer visible: their quotes are blank.
    pub fn withdrawn_documents(&self, scope: &Scope, run: RunId) -> Result<HashSet<DocumentId>> {
        self.read(scope, |db| {
            let key = own_run(db, scope, run)?;
            withdrawn(db, scope, key)
        })
    }

    pub fn run(&self, scope: &Scope, run: RunId) -> Result<RunSummary> {
        self.read(scope, |db| {
            let key = own_run(db, scope, run)?;
            Ok(db.query_row(&format!("{COLUMNS} WHERE r.key = ?1"), [key], summary)?)
        })
    }

    /// The principal's own, newest first; of one conversation in the order asked.
    pub fn runs(&self, scope: &Scope, conversation: Option<ConversationId>) -> Result<Vec<RunSummary>> {
        self.role(scope)?;
        self.read(scope, |db| {
            let profile = scope.profile_id();
            Ok(match conversation {
                None => {
                    let sql = format!("{COLUMNS} WHERE r.profile_id = ?1 ORDER BY r.key DESC");
                    let mut statement = db.prepare_cached(&sql)?;
                    let rows = statement.query_map([profile.0.as_bytes()], summary)?;
                    rows.collect::<rusqlite::Result<Vec<_>>>()?
                }
                Some(id) => {
                    let sql = format!(
                        "{COLUMNS} WHERE r.profile_id = ?1 AND c.conversation_id = ?2 ORDER BY r.key"
                    );
                    let mut statement = db.prepare_cached(&sql)?;
                    let rows =
                        statement.query_map(params![profile.0.as_bytes(), id.0.as_bytes()], summary)?;
                    rows.collect::<rusqlite::Result<Vec<_>>>()?
                }
            })
        })
    }
}

/// After a crash: runs without a terminal event are interrupted, with what they had.
pub(crate) fn interrupt_running(tx: &Transaction<'_>) -> Result<usize> {
    Ok(tx.execute(
        "UPDATE runs SET state = 'interrupted', ended_ms = ?1 WHERE state = 'running'",
        [now_ms()],
    )?)
}

/// Blanks for good what stored runs quote from a document; returns the number of events changed.
pub(crate) fn erase_quotes(tx: &Transaction<'_>, document: DocumentId) -> Result<u64> {
    let mut changed = 0;
    for (run_key, seq, mut event) in events_of_runs_with(tx, document)? {
        let before = event.clone();
        blank(&mut event, &|id| id == document);
        if event != before {
            tx.execute(
                "UPDATE run_events SET event = ?3 WHERE run_key = ?1 AND seq = ?2",
                params![run_key, seq, row::to_json(&event)?],
            )?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// Events that still quote a document.
pub(crate) fn count_quotes(db: &Connection, document: DocumentId) -> Result<u64> {
    let mut found = 0;
    for (_, _, event) in events_of_runs_with(db, document)? {
        let mut blanked = event.clone();
        blank(&mut blanked, &|id| id == document);
        found += u64::from(blanked != event);
    }
    Ok(found)
}

fn events_of_runs_with(db: &Connection, document: DocumentId) -> Result<Vec<(i64, i64, AnswerEvent)>> {
    let mut statement = db.prepare(
        "SELECT e.run_key, e.seq, e.event FROM run_documents d JOIN run_events e ON e.run_key = d.run_key
         WHERE d.document_id = ?1",
    )?;
    let rows = statement
        .query_map([document.0.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?, row::get_json(row, 2)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn own_run(db: &Connection, scope: &Scope, run: RunId) -> Result<i64> {
    let mut statement = db.prepare_cached(
        "SELECT r.key FROM runs r JOIN members m ON m.profile_id = r.profile_id WHERE r.run_id = ?1 AND r.profile_id = ?2",
    )?;
    let key = statement.query_row(params![run.0.as_bytes(), scope.profile()], |row| row.get(0)).optional()?;
    key.ok_or(VaultError::NotFound { what: "run" })
}

fn withdrawn(db: &Connection, scope: &Scope, run_key: i64) -> Result<HashSet<DocumentId>> {
    let mut statement = db.prepare_cached("SELECT document_id FROM run_documents WHERE run_key = ?1")?;
    let rows = statement.query_map([run_key], |row| Ok(DocumentId(row::get_uuid(row, 0)?)))?;
    let quoted = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let visible = visible_among(db, scope, &quoted)?;
    Ok(quoted.into_iter().filter(|document| !visible.contains(document)).collect())
}

fn quoted_documents(event: &AnswerEvent) -> HashSet<DocumentId> {
    match event {
        AnswerEvent::EvidenceReady { items, .. } => items.iter().map(|item| item.document_id).collect(),
        AnswerEvent::Final { answer, .. } => {
            answer.citations.iter().map(|citation| citation.document).collect()
        }
        _ => HashSet::new(),
    }
}

/// Takes out the document's words and leaves the answer's own sentences.
fn blank(event: &mut AnswerEvent, is_gone: &dyn Fn(DocumentId) -> bool) {
    match event {
        AnswerEvent::EvidenceReady { items, .. } => {
            for item in items.iter_mut().filter(|item| is_gone(item.document_id)) {
                blank_evidence(item);
            }
        }
        AnswerEvent::Final { answer, .. } => {
            for citation in answer.citations.iter_mut().filter(|citation| is_gone(citation.document)) {
                citation.title.clear();
                citation.quote.clear();
                blank_locator(&mut citation.locator);
            }
        }
        _ => {}
    }
}

fn blank_evidence(item: &mut Evidence) {
    item.title.clear();
    item.header.clear();
    item.text.clear();
    item.media_ref = None;
    blank_locator(&mut item.locator);
}

/// Headings, page labels and sheet names are words of the document too.
fn blank_locator(locator: &mut Locator) {
    match locator {
        Locator::Page { page_label, .. } => page_label.clear(),
        Locator::Section { heading_path, .. } => heading_path.clear(),
        Locator::Cells { sheet, .. } => sheet.clear(),
        Locator::Slide { .. } | Locator::Region { .. } | Locator::Time { .. } | Locator::Chars { .. } => {}
    }
}

fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let conversation_id = match row.get::<_, Option<[u8; 16]>>(1)? {
        Some(_) => Some(ConversationId(row::get_uuid(row, 1)?)),
        None => None,
    };
    Ok(RunSummary {
        run_id: RunId(row::get_uuid(row, 0)?),
        conversation_id,
        question: row.get(2)?,
        state: row::get_name(row, 3)?,
        created: UtcMs(row.get(4)?),
        ended: row.get::<_, Option<i64>>(5)?.map(UtcMs),
    })
}
