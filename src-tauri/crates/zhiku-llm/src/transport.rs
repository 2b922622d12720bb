//! The HTTP client of one provider: certificates, proxy, redirects, time limits.

use std::path::Path;
use std::time::Duration;

use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Certificate, Client, ClientBuilder, NoProxy, Proxy, StatusCode, Url};
use zhiku_core::model::ModelError;
use zhiku_core::{RunContext, Stopped};

use crate::endpoint::is_loopback;
use crate::failure;
use crate::providers::Timeouts;
use crate::surroundings::ProxyVariables;

const USER_AGENT: &str = concat!("zhiku/", env!("CARGO_PKG_VERSION"));

/// Follows at most this many redirects, all within one origin.
const MAX_REDIRECTS: usize = 3;

pub(crate) fn client(
    endpoint: &Url,
    ca_file: Option<&Path>,
    timeouts: Timeouts,
    proxy: &ProxyVariables,
) -> Result<Client, ModelError> {
    let mut builder = Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(Duration::from_millis(timeouts.connect_ms))
        .redirect(Policy::custom(within_one_origin))
        .referer(false);
    if let Some(path) = ca_file {
        builder = builder.tls_certs_merge(read_certificates(path)?);
    }
    with_proxies(builder.no_proxy(), endpoint, proxy)?
        .build()
        .map_err(|error| failure::invalid_input(format!("could not set up the connection: {error}"), None))
}

/// A header that holds the key must not reach another server, and 301 to 303 would turn the request into a GET.
fn within_one_origin(attempt: Attempt<'_>) -> Action {
    let keeps_method =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let same_origin = attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
    if keeps_method && same_origin && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn read_certificates(path: &Path) -> Result<Vec<Certificate>, ModelError> {
    let hint = Some("Choose a file of certificates in PEM format, or leave the field empty.");
    let refuse = |detail: String| {
        failure::invalid_input(format!("could not read the CA file {}: {detail}", path.display()), hint)
    };
    let pem = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
    let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| refuse(error.to_string()))?;
    if certificates.is_empty() {
        return Err(refuse("it holds no certificate".to_owned()));
    }
    Ok(certificates)
}

/// A server on this machine is never asked for through a proxy, whatever the variables say.
fn with_proxies(
    mut builder: ClientBuilder,
    endpoint: &Url,
    variables: &ProxyVariables,
) -> Result<ClientBuilder, ModelError> {
    if is_loopback(endpoint) {
        return Ok(builder);
    }
    let exceptions = variables.no_proxy.as_deref().and_then(NoProxy::from_string);
    let made = [variables.http.as_deref().map(Proxy::http), variables.https.as_deref().map(Proxy::https)];
    for proxy in made.into_iter().flatten() {
        let proxy = proxy.map_err(|error| {
            let hint =
                Some("Correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, for example http://proxy.example:8080.");
            failure::invalid_input(format!("could not read the proxy's address: {error}"), hint)
        })?;
        builder = builder.proxy(proxy.no_proxy(exceptions.clone()));
    }
    Ok(builder)
}

/// Why waiting ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupted {
    Stopped(Stopped),
    TooSlow,
}

/// Waits for `future`, at most `limit`, at most until the run's deadline, and not after its cancellation.
pub(crate) async fn within<F: Future>(
    ctx: &RunContext,
    limit: Duration,
    future: F,
) -> Result<F::Output, Interrupted> {
    let left = ctx.budget.time_left();
    tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => Err(Interrupted::Stopped(Stopped::Cancelled)),
        output = future => Ok(output),
        () = tokio::time::sleep(limit.min(left)) => {
            Err(if left <= limit { Interrupted::Stopped(Stopped::Deadline) } else { Interrupted::TooSlow })
        }
    }
}

#[cfg(test)]
mod tests {
    use zhiku_core::BudgetLimits;

    use super::*;

    fn context(wall_time: Duration) -> RunContext {
        RunContext::new(BudgetLimits { wall_time, ..BudgetLimits::default() })
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_at_the_first_of_limit_deadline_and_cancellation() {
        let second = Duration::from_secs(1);
        let never = std::future::pending::<()>;
        assert_eq!(within(&context(second * 60), second, never()).await, Err(Interrupted::TooSlow));
        let late = context(Duration::ZERO);
        assert_eq!(within(&late, second, never()).await, Err(Interrupted::Stopped(Stopped::Deadline)));
        let cancelled = context(second * 60);
        cancelled.cancel.cancel();
        assert_eq!(
            within(&cancelled, second, async { 1 }).await,
            Err(Interrupted::Stopped(Stopped::Cancelled))
        );
        assert_eq!(within(&context(second * 60), second, async { 1 }).await, Ok(1));
        assert_eq!(within(&RunContext::background(), second, never()).await, Err(Interrupted::TooSlow));
    }
}
