//! The tokens of a session: one request to the lobby at a time, and one answer for all connections.
//!
//! When a host is lost, all connections break at once and each needs new tokens. They wait for one another here, also
//! while the lobby is away: a client with sixteen connections asks as often as one with a single connection.

use crate::lobby::{LobbyClientError, SessionInfo};
use machine::Rng;
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

/// The first pause before a failed attempt is repeated, and the longest when it keeps failing.
pub const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Growing pauses with a random spread: many clients that lost their host must not come back in the same moment.
pub struct RetryPauses {
    spread: Rng,
    next: Duration,
}

impl RetryPauses {
    /// Pauses whose spread is drawn from this generator.
    pub const fn new(spread: Rng) -> Self {
        Self { spread, next: RETRY_PAUSES.0 }
    }

    /// After a success: the next pause is a short one.
    pub const fn reset(&mut self) {
        self.next = RETRY_PAUSES.0;
    }

    /// The next pause: half to one and a half of the growing base.
    pub fn next(&mut self) -> Duration {
        let pause = self.next / 2 + self.share(self.next);
        self.next = (self.next * 2).min(RETRY_PAUSES.1);
        pause
    }

    /// A pause of at least the time that the lobby demands, and up to half as long again: all clients refused at once
    /// are told the same time.
    pub fn at_least(&mut self, demanded: Duration) -> Duration {
        demanded.max(self.next()) + self.share(demanded / 2)
    }

    /// A pause of the time that a waiting player was told, and up to a tenth more: who comes much later counts as absent.
    pub fn soon_after(&mut self, told: Duration) -> Duration {
        told + self.share(told / 10)
    }

    fn share(&mut self, of: Duration) -> Duration {
        // At least 1: `below` needs a bound above zero.
        Duration::from_micros(self.spread.below((of.as_micros() as u64).max(1)))
    }
}

/// The newest tokens, and how many times they were fetched.
pub type TokenSet = (u64, SessionInfo);

/// The tokens that all connections of a session share.
pub struct Tokens {
    newest: watch::Sender<TokenSet>,
    renewal: Mutex<RenewalState>,
}

/// State of the requests for new tokens.
struct RenewalState {
    pauses: RetryPauses,
    not_before: Instant,
    /// The lobby has refused in a way that no later request can change.
    is_over: bool,
}

impl Tokens {
    /// The tokens of a new session.
    pub fn new(info: SessionInfo, spread: Rng) -> Self {
        let renewal =
            RenewalState { pauses: RetryPauses::new(spread), not_before: Instant::now(), is_over: false };
        Self { newest: watch::channel((0, info)).0, renewal: Mutex::new(renewal) }
    }

    /// The tokens that were fetched last.
    pub fn newest(&self) -> TokenSet {
        self.newest.borrow().clone()
    }

    /// Yields tokens newer than the present ones.
    pub fn subscribe(&self) -> watch::Receiver<TokenSet> {
        self.newest.subscribe()
    }

    /// Tokens newer than those of this number: fetched by another connection meanwhile, or the answer to `ask`, however
    /// long that takes. `None` if the lobby will never give any: the session is over.
    ///
    /// A token is valid for half a minute; another connection may have fetched these longer ago. Then the host refuses,
    /// and the next call fetches new ones. If one task is dropped while it asks, no other has to pause for it.
    pub async fn newer<A, F>(&self, than: u64, ask: A) -> Option<TokenSet>
    where
        A: Fn(u64) -> F,
        F: Future<Output = Result<SessionInfo, LobbyClientError>>,
    {
        // Held across the request: the others wait here, and then find its answer.
        let mut renewal = self.renewal.lock().await;
        loop {
            let known = self.newest();
            if than < known.0 {
                return Some(known);
            }
            if renewal.is_over {
                return None;
            }
            tokio::time::sleep_until(renewal.not_before).await;
            match ask(known.1.session).await {
                Ok(info) => {
                    renewal.pauses.reset();
                    self.newest.send_modify(|it| *it = (it.0 + 1, info));
                }
                Err(why) => renewal.on_refused(&why),
            }
        }
    }

    /// Fetches new tokens whenever none were fetched for this long, until the session is over.
    pub async fn keep_recent<A, F>(&self, every: Duration, ask: A)
    where
        A: Fn(u64) -> F,
        F: Future<Output = Result<SessionInfo, LobbyClientError>>,
    {
        let mut fetched = self.subscribe();
        loop {
            match tokio::time::timeout(every, fetched.changed()).await {
                Ok(Ok(())) => (), // The time begins anew, also after the tokens that were fetched below.
                Ok(Err(_)) => return,
                Err(_) if self.newer(self.newest().0, &ask).await.is_none() => return,
                Err(_) => (),
            }
        }
    }
}

impl RenewalState {
    fn on_refused(&mut self, why: &LobbyClientError) {
        if why.is_final() {
            tracing::warn!(%why, "the lobby ends this session");
            self.is_over = true;
            return;
        }
        let pause = match why {
            LobbyClientError::TooOften(wait, _) => self.pauses.at_least(*wait),
            _ => self.pauses.next(),
        };
        self.not_before = Instant::now() + pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lobby::WorldInfo;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::task::JoinSet;

    type LobbyAnswer = Result<SessionInfo, LobbyClientError>;

    fn session() -> SessionInfo {
        let world = WorldInfo {
            game: String::new(),
            schema: String::new(),
            range: 1,
            region: Vec::new(),
            zones: Vec::new(),
        };
        SessionInfo { session: 7, player: 1, name: String::new(), world, hosts: Vec::new() }
    }

    fn refused(status: u16) -> LobbyAnswer {
        Err(LobbyClientError::Refused(status, "no".to_owned()))
    }

    fn away() -> LobbyAnswer {
        Err(LobbyClientError::Unreachable("the lobby".to_owned(), "gone".to_owned()))
    }

    /// This many connections lose their host at once. The lobby gives these answers, then tokens. Returns the number of
    /// requests, the number of connections that got tokens, and the time it took, by a paused clock.
    async fn check(connections: usize, answers: &[LobbyAnswer]) -> (usize, usize, Duration) {
        let began = Instant::now();
        let tokens = Arc::new(Tokens::new(session(), Rng::seeded(1)));
        let asked = Arc::new(AtomicUsize::new(0));
        let mut waiting = JoinSet::new();
        for _ in 0..connections {
            let (tokens, asked, answers) = (tokens.clone(), asked.clone(), answers.to_vec());
            waiting.spawn(async move {
                let ask = |number| {
                    assert_eq!(number, 7, "always for the same session");
                    let answer = answers.get(asked.fetch_add(1, Ordering::Relaxed)).cloned();
                    async {
                        tokio::time::sleep(Duration::from_millis(30)).await;
                        answer.unwrap_or_else(|| Ok(session()))
                    }
                };
                tokens.newer(0, ask).await
            });
        }
        let got = waiting.join_all().await.into_iter().flatten().count();
        (asked.load(Ordering::Relaxed), got, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn all_connections_share_one_answer() {
        let (asked, got, _) = check(16, &[]).await;
        assert_eq!((asked, got), (1, 16));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lobby_that_is_away_is_asked_by_one_connection_ever_more_slowly() {
        let answers = [away(), refused(503), away(), away(), away(), away(), away(), away()];
        let (asked, got, took) = check(16, &answers).await;
        assert_eq!((asked, got), (9, 16));
        // 100, 200, 400, 800, 1600 and three times 2000 ms, each half as long at least.
        assert!(Duration::from_millis(4_550) <= took, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_asked_too_often_waits_as_long_as_demanded() {
        let wait = Duration::from_secs(7);
        let (asked, got, took) =
            check(16, &[Err(LobbyClientError::TooOften(wait, "slowly".to_owned()))]).await;
        assert_eq!((asked, got), (2, 16));
        assert!(wait <= took, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_final_refusal_is_asked_for_once_and_ends_all_connections() {
        for status in [400, 401] {
            let (asked, got, _) = check(16, &[refused(status), refused(status)]).await;
            assert_eq!((asked, got), (1, 0), "{status}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_lobby_is_told_as_often_as_was_asked_for() {
        let (tokens, told) = (Tokens::new(session(), Rng::seeded(1)), AtomicUsize::new(0));
        let ask = |_| {
            told.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Ok(session()))
        };
        let telling = tokens.keep_recent(Duration::from_secs(200), ask);
        tokio::pin!(telling);
        let hour = Duration::from_secs(3_599);
        assert!(tokio::time::timeout(hour, &mut telling).await.is_err(), "the session goes on");
        assert_eq!(told.load(Ordering::Relaxed), 17);
        // A connection fetches tokens 199 s after the last ones: the lobby has heard of the player.
        assert!(tokens.newer(17, ask).await.is_some());
        assert!(tokio::time::timeout(Duration::from_secs(199), &mut telling).await.is_err());
        assert_eq!(told.load(Ordering::Relaxed), 18);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_the_lobby_ends_is_told_no_more() {
        let tokens = Tokens::new(session(), Rng::seeded(1));
        tokens.keep_recent(Duration::from_secs(200), |_| std::future::ready(refused(401))).await;
    }

    #[test]
    fn two_clients_pause_differently() {
        let pauses = |seed| {
            let mut it = RetryPauses::new(Rng::seeded(seed));
            [it.next(), it.next(), it.at_least(Duration::from_secs(3))]
        };
        let (one, other) = (pauses(1), pauses(2));
        assert!(one.iter().zip(&other).all(|(one, other)| one != other), "{one:?} {other:?}");
    }
}
