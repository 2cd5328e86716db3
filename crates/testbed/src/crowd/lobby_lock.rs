//! Asks a lobby that limits the rate of requests.

use client::LobbyClientError;
use tokio::sync::RwLock;
use tokio::time::Instant;

/// Attempts of a bot that the lobby refuses as too often. Bots take turns then, so more than two only happen if other
/// clients log in from the same address.
const TRIES: usize = 10;

/// The lock through which a crowd asks the lobby: many bots at a time, until the lobby refuses one as too often.
pub(super) type LobbyLock = RwLock<()>;

/// Asks the lobby. A bot that is refused as too often asks again after the wait that the lobby demands, and all other
/// bots after it.
pub(super) async fn in_turn<T, F>(lobby_lock: &LobbyLock, ask: impl Fn() -> F) -> Result<T, LobbyClientError>
where
    F: Future<Output = Result<T, LobbyClientError>>,
{
    let mut answer = {
        let _many = lobby_lock.read().await;
        ask().await
    };
    let Err(LobbyClientError::TooOften(wait, _)) = answer else { return answer };
    let mut not_before = Instant::now() + wait;
    let _alone = lobby_lock.write().await;
    for _ in 1..TRIES {
        tokio::time::sleep_until(not_before).await;
        answer = ask().await;
        let Err(LobbyClientError::TooOften(wait, _)) = answer else { break };
        not_before = Instant::now() + wait;
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;
    use tokio::task::JoinSet;

    /// This many bots ask a lobby that admits 20 at once and then two a second, or none. Returns the number of admitted
    /// bots, and of requests.
    async fn log_in_all(bots: usize, is_open: bool) -> (usize, usize) {
        let (began, lobby_lock, asked) = (Instant::now(), Arc::new(LobbyLock::default()), Arc::default());
        let admitted = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..bots {
            let (lobby_lock, asked, admitted) =
                (lobby_lock.clone(), Arc::<AtomicU64>::clone(&asked), admitted.clone());
            tasks.spawn(async move {
                let ask = async || {
                    asked.fetch_add(1, Ordering::Relaxed);
                    let room = 20 + began.elapsed().as_millis() as u64 / 500;
                    if !is_open || room <= admitted.load(Ordering::Relaxed) {
                        return Err(LobbyClientError::TooOften(Duration::from_secs(1), String::new()));
                    }
                    admitted.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                };
                in_turn(&lobby_lock, ask).await
            });
        }
        let succeeded = tasks.join_all().await.iter().filter(|it| it.is_ok()).count();
        (succeeded, asked.load(Ordering::Relaxed) as usize)
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_logs_in_as_fast_as_the_lobby_allows() {
        let (succeeded, asked) = log_in_all(100, true).await;
        assert_eq!(succeeded, 100);
        assert!(asked <= 3 * 100, "{asked}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_that_is_always_refused_gives_up() {
        assert_eq!(log_in_all(1, false).await, (0, TRIES));
    }
}
