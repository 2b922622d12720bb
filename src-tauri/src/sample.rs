//! The sample documents of a first start: the two small stories of the fixtures, without what only some may see.

use std::fs;
use std::path::PathBuf;

use zhiku_engine::Session;

use crate::ipc::error::IpcError;

const FILES: &[(&str, &[u8])] = &[
    ("案例-海棠A户型.docx", include_bytes!("../../fixtures/stories/renovation/案例-海棠A户型.docx")),
    ("售后服务规定.pdf", include_bytes!("../../fixtures/stories/renovation/售后服务规定.pdf")),
    ("材料与供应商表.csv", include_bytes!("../../fixtures/stories/renovation/材料与供应商表.csv")),
    ("Travel Policy.pdf", include_bytes!("../../fixtures/stories/travel/Travel Policy.pdf")),
    ("Expense Handbook.md", include_bytes!("../../fixtures/stories/travel/Expense Handbook.md")),
];

/// Writes the samples below the application's folder; the paths are imported like any others.
pub(crate) fn write(session: &Session) -> Result<Vec<PathBuf>, IpcError> {
    let dir = session.engine().home_dir().join("samples");
    let written = fs::create_dir_all(&dir).and_then(|()| {
        FILES
            .iter()
            .map(|(name, bytes)| {
                let path = dir.join(name);
                fs::write(&path, bytes).map(|()| path)
            })
            .collect()
    });
    written.map_err(|error| IpcError::environment("write the sample documents", &error))
}
