//! Asks a provider one question and prints the reply as it comes; the key, if any, is read from `ZHIKU_KEY`.
//!
//!     cargo run -p zhiku-llm --example chat_once -- openai_compatible http://127.0.0.1:8080/v1 MODEL "What is two plus two?"

use std::io::Write;

use anyhow::{Context, bail};
use futures::StreamExt;
use zhiku_core::model::{ChatDelta, ChatMessage, ChatRequest, ChatRole};
use zhiku_core::{BudgetLimits, RunContext};
use zhiku_llm::{ProviderConfig, ProviderKind, Secret, build};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, base_url, model, question] = arguments.as_slice() else {
        bail!("usage: chat_once KIND BASE_URL MODEL QUESTION");
    };
    let kind = ProviderKind::ALL
        .into_iter()
        .find(|known| known.as_str() == kind)
        .context("unknown kind of provider")?;
    let config = ProviderConfig::new("example", kind, base_url, model);
    let model = build(&config, std::env::var("ZHIKU_KEY").ok().map(Secret::new))?;
    let message = ChatMessage { role: ChatRole::User, content: question.clone() };
    let request = ChatRequest { messages: vec![message], max_output_tokens: 64, temperature: Some(0.0) };
    let ctx = RunContext::new(BudgetLimits::default());
    let mut deltas = model.stream(request, &ctx).await?;
    let mut out = std::io::stdout();
    while let Some(delta) = deltas.next().await {
        match delta? {
            ChatDelta::Text(text) => write!(out, "{text}")?,
            ChatDelta::Done { stop, usage } => writeln!(out, "\n[{stop:?}, {usage:?}]")?,
        }
        out.flush()?;
    }
    Ok(())
}
