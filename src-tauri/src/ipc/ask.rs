//! Conversations, questions, and the stream of an answer.

use tauri::AppHandle;
use tauri::ipc::Channel;
use zhiku_core::ConversationId;
use zhiku_engine::{ConversationTurn, SearchFilter, Session, WriterChoice};

use super::dto::{
    AnswerEvent, AskRequest, AskTicket, ConversationRow, StreamEnd, Tag, Turn, Withdrawn, answer_event,
};
use super::error::IpcError;
use super::{blocking, id};
use crate::app::invalidate;

/// Characters of the first question that name a conversation.
const TITLE_LENGTH: usize = 60;

#[tauri::command]
#[specta::specta]
pub(super) async fn conversations(app: AppHandle) -> Result<Vec<ConversationRow>, IpcError> {
    blocking(&app, |session| {
        let rows = session.conversations()?.into_iter().map(|conversation| ConversationRow {
            conversation_id: conversation.conversation_id.to_string(),
            title: conversation.title,
            updated_ms: conversation.created.0 as f64,
        });
        Ok(rows.collect())
    })
    .await
}

/// The turns of a conversation, oldest first.
#[tauri::command]
#[specta::specta]
pub(super) async fn conversation_turns(app: AppHandle, conversation: String) -> Result<Vec<Turn>, IpcError> {
    blocking(&app, move |session| {
        let conversation: ConversationId = id(&conversation, "conversation")?;
        let mut turns = Vec::new();
        for run in session.runs(Some(conversation))?.into_iter().rev() {
            turns.push(turn(session.run(run.run_id)?));
        }
        Ok(turns)
    })
    .await
}

#[tauri::command]
#[specta::specta]
pub(super) async fn conversation_delete(app: AppHandle, conversation: String) -> Result<(), IpcError> {
    blocking(&app, move |session| Ok(session.delete_conversation(id(&conversation, "conversation")?)?)).await
}

/// Takes a question and returns at once; `run_subscribe` reads what becomes of it.
#[tauri::command]
#[specta::specta]
pub(super) async fn ask(app: AppHandle, request: AskRequest) -> Result<AskTicket, IpcError> {
    let ticket = blocking(&app, move |session| put(session, request)).await?;
    invalidate(&app, &[Tag::Conversations]);
    Ok(ticket)
}

fn put(session: &Session, request: AskRequest) -> Result<AskTicket, IpcError> {
    let documents =
        request.documents.iter().map(|text| id(text, "document")).collect::<Result<Vec<_>, _>>()?;
    let conversation = match &request.conversation_id {
        Some(text) => id(text, "conversation")?,
        None => session.create_conversation(&title(&request.question))?.conversation_id,
    };
    let handle = session.ask(zhiku_engine::AskRequest {
        question: request.question,
        conversation: Some(conversation),
        filter: SearchFilter { documents: (!documents.is_empty()).then_some(documents) },
        writer: request.provider.map_or(WriterChoice::Extractive, WriterChoice::Provider),
    });
    if handle.is_err() && request.conversation_id.is_none() {
        // A question that was not taken leaves no empty conversation behind.
        session.delete_conversation(conversation)?;
    }
    Ok(AskTicket { conversation_id: conversation.to_string(), run_id: handle?.run_id.to_string() })
}

fn title(question: &str) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= TITLE_LENGTH {
        return line;
    }
    line.chars().take(TITLE_LENGTH - 1).chain(['…']).collect()
}

/// Reads a run's events after `after_seq`; answers when the stream has ended.
#[tauri::command]
#[specta::specta]
pub(super) async fn run_subscribe(
    app: AppHandle,
    run_id: String,
    after_seq: u32,
    events: Channel<AnswerEvent>,
) -> Result<StreamEnd, IpcError> {
    let mut stream =
        blocking(&app, move |session| Ok(session.subscribe(id(&run_id, "run")?, u64::from(after_seq))?))
            .await?;
    let mut end = StreamEnd { last_seq: after_seq, terminal: false };
    let nothing_withdrawn = Withdrawn::default();
    while let Some(event) = stream.recv().await {
        end.last_seq = u32::try_from(event.seq()).unwrap_or(u32::MAX);
        end.terminal = event.is_terminal();
        let window_is_gone = events.send(answer_event(event, &nothing_withdrawn)).is_err();
        if window_is_gone || end.terminal {
            break;
        }
    }
    Ok(end)
}

#[tauri::command]
#[specta::specta]
pub(super) async fn run_turn(app: AppHandle, run_id: String) -> Result<Turn, IpcError> {
    blocking(&app, move |session| Ok(turn(session.run(id(&run_id, "run")?)?))).await
}

#[tauri::command]
#[specta::specta]
pub(super) async fn run_cancel(app: AppHandle, run_id: String) -> Result<(), IpcError> {
    blocking(&app, move |session| Ok(session.cancel(id(&run_id, "run")?)?)).await
}

/// Opens an address in the browser. The window has shown it and the reader has agreed.
#[tauri::command]
#[specta::specta]
pub(super) async fn link_open(address: String) -> Result<(), IpcError> {
    let known = ["http://", "https://", "mailto:"];
    if !known.iter().any(|scheme| address.to_ascii_lowercase().starts_with(scheme)) {
        return Err(IpcError::invalid("only web and mail addresses can be opened"));
    }
    open::that_detached(address).map_err(|error| IpcError::environment("open the address", &error))
}

fn turn(found: ConversationTurn) -> Turn {
    let withdrawn = found.withdrawn;
    Turn {
        run_id: found.run.run_id.to_string(),
        question: found.run.question,
        asked_ms: found.run.created.0 as f64,
        state: found.run.state.into(),
        events: found.events.into_iter().map(|event| answer_event(event, &withdrawn)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_long_question_makes_a_short_title() {
        assert_eq!(title("  防水\n 用什么？ "), "防水 用什么？");
        assert_eq!(title(&"长".repeat(100)).chars().count(), 60);
    }
}
