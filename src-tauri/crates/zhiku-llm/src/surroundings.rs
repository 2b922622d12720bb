//! What a provider takes from the outside world besides the network: waiting, chance, and the proxy variables.

use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::retry::RetryPolicy;

/// The proxy variables that command-line programs share. Lower case wins over upper case, as in curl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyVariables {
    pub http: Option<String>,
    pub https: Option<String>,
    pub no_proxy: Option<String>,
}

impl ProxyVariables {
    pub fn from_process() -> Self {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// `ALL_PROXY` fills what the specific variables leave open.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name: &str| {
            [name.to_owned(), name.to_uppercase()]
                .iter()
                .find_map(|name| lookup(name))
                .filter(|value| !value.trim().is_empty())
        };
        let all = read("all_proxy");
        Self {
            http: read("http_proxy").or_else(|| all.clone()),
            https: read("https_proxy").or(all),
            no_proxy: read("no_proxy"),
        }
    }
}

type Pause = Arc<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>;
type Chance = Arc<dyn Fn() -> f64 + Send + Sync>;

/// Handed in so that tests neither wait nor depend on the machine's variables.
#[derive(Clone)]
pub struct Surroundings {
    pub proxy: ProxyVariables,
    pub retry: RetryPolicy,
    /// Waits before another attempt.
    pub pause: Pause,
    /// In [0, 1).
    pub jitter: Chance,
}

impl Surroundings {
    pub fn of_this_process() -> Self {
        Self { proxy: ProxyVariables::from_process(), ..Self::default() }
    }
}

/// The runtime's clock, real chance, no proxy.
impl Default for Surroundings {
    fn default() -> Self {
        Self {
            proxy: ProxyVariables::default(),
            retry: RetryPolicy::default(),
            pause: Arc::new(|wait| tokio::time::sleep(wait).boxed()),
            jitter: Arc::new(random_fraction),
        }
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The proxy's address may hold a password.
        formatter.debug_struct("Surroundings").field("retry", &self.retry).finish_non_exhaustive()
    }
}

/// The standard library seeds its hasher at random; spreading retries needs no better source.
fn random_fraction() -> f64 {
    let bits = std::hash::RandomState::new().build_hasher().finish();
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxy_variables_lower_case_first_and_all_proxy_fills_gaps() {
        let read = |pairs: &'static [(&str, &str)]| {
            ProxyVariables::from_lookup(|name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            read(&[("HTTP_PROXY", "http://upper"), ("http_proxy", "http://lower"), ("NO_PROXY", "a,b")]),
            ProxyVariables { http: some("http://lower"), https: None, no_proxy: some("a,b") }
        );
        assert_eq!(
            read(&[("ALL_PROXY", "http://all"), ("https_proxy", "http://tls")]),
            ProxyVariables { http: some("http://all"), https: some("http://tls"), no_proxy: None }
        );
        assert_eq!(read(&[("http_proxy", " ")]), ProxyVariables::default());
    }

    #[test]
    fn jitter_is_a_fraction() {
        assert!((0..1000).map(|_| random_fraction()).all(|value| (0.0..1.0).contains(&value)));
    }
}
