//! How values stand in columns: ids as 16-byte blobs, enums by their serialised name, structures as JSON.

use rusqlite::Row;
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::error::{Result, VaultError};

pub(crate) fn get_uuid(row: &Row<'_>, index: usize) -> rusqlite::Result<Uuid> {
    Ok(Uuid::from_bytes(row.get::<_, [u8; 16]>(index)?))
}

pub(crate) fn get_opt_uuid(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<Uuid>> {
    Ok(row.get::<_, Option<[u8; 16]>>(index)?.map(Uuid::from_bytes))
}

pub(crate) fn get_json<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(index)?.as_str().map_err(|error| unreadable(index, error))?;
    serde_json::from_str(text).map_err(|error| unreadable(index, error))
}

pub(crate) fn get_opt_json<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<T>> {
    match row.get::<_, Option<String>>(index)? {
        Some(text) => serde_json::from_str(&text).map(Some).map_err(|error| unreadable(index, error)),
        None => Ok(None),
    }
}

/// An enum that serialises as a plain string.
pub(crate) fn get_name<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<T> {
    get_opt_name(row, index)?
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(index, "name".to_owned(), Type::Null))
}

pub(crate) fn get_opt_name<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<T>> {
    match row.get::<_, Option<String>>(index)? {
        Some(text) => serde_json::from_value(serde_json::Value::String(text))
            .map(Some)
            .map_err(|error| unreadable(index, error)),
        None => Ok(None),
    }
}

pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|_| VaultError::Damaged { what: "value" })
}

/// The name under which [`get_name`] finds the value again.
pub(crate) fn to_name<T: Serialize>(value: T) -> Result<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => Ok(name),
        _ => Err(VaultError::Damaged { what: "name" }),
    }
}

fn unreadable(index: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
}
