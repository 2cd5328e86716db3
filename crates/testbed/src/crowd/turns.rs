//! Asking a lobby that limits how often it may be asked.

use client::LobbyError;
use tokio::sync::RwLock;
use tokio::time::Instant;

/// How often in a row a bot asks a lobby that says "too often". Bots take turns then, so more than two only happen
/// where others come in from the same address.
const TRIES: usize = 10;

/// The lock through which a crowd asks the lobby: many bots at a time, until the lobby says "too often" to one.
pub(super) type Door = RwLock<()>;

/// Asks the lobby. A bot that is told "too often" asks again when the lobby said to, and all other bots after it.
pub(super) async fn in_turn<T, F>(door: &Door, ask: impl Fn() -> F) -> Result<T, LobbyError>
where
    F: Future<Output = Result<T, LobbyError>>,
{
    let mut answer = {
        let _many = door.read().await;
        ask().await
    };
    let Err(LobbyError::TooOften(wait, _)) = answer else { return answer };
    let mut not_before = Instant::now() + wait;
    let _alone = door.write().await;
    for _ in 1..TRIES {
        tokio::time::sleep_until(not_before).await;
        answer = ask().await;
        let Err(LobbyError::TooOften(wait, _)) = answer else { break };
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

    /// So many bots come to a lobby that lets 20 in at once and then two a second, or nobody; how many got in, and how
    /// often they asked.
    async fn come(bots: usize, is_open: bool) -> (usize, usize) {
        let (began, door, asked) = (Instant::now(), Arc::new(Door::default()), Arc::default());
        let let_in = Arc::new(AtomicU64::new(0));
        let mut coming = JoinSet::new();
        for _ in 0..bots {
            let (door, asked, let_in) = (door.clone(), Arc::<AtomicU64>::clone(&asked), let_in.clone());
            coming.spawn(async move {
                let ask = async || {
                    asked.fetch_add(1, Ordering::Relaxed);
                    let room = 20 + began.elapsed().as_millis() as u64 / 500;
                    if !is_open || room <= let_in.load(Ordering::Relaxed) {
                        return Err(LobbyError::TooOften(Duration::from_secs(1), String::new()));
                    }
                    let_in.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                };
                in_turn(&door, ask).await
            });
        }
        let got_in = coming.join_all().await.iter().filter(|it| it.is_ok()).count();
        (got_in, asked.load(Ordering::Relaxed) as usize)
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_comes_in_as_fast_as_the_lobby_lets_it() {
        let (got_in, asked) = come(100, true).await;
        assert_eq!(got_in, 100);
        assert!(asked <= 3 * 100, "{asked}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_that_is_never_let_in_gives_up() {
        assert_eq!(come(1, false).await, (0, TRIES));
    }
}
