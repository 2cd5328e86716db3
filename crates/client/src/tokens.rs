//! The tokens of a stay: one question to the lobby at a time, and one answer for all lines.
//!
//! When a host is lost, all lines break at once and each wants new tokens. They wait for one another here, and so does
//! whoever comes while the lobby is away: a player asks as often with sixteen lines as with one.

use crate::lobby::{LobbyError, SessionInfo};
use machine::Rng;
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

/// How soon something that failed is tried again, and how long at most it takes when it keeps failing.
pub const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Pauses that grow, each at another moment than anybody else's: a crowd that lost its host must not come back as one.
pub struct Pauses {
    spread: Rng,
    next: Duration,
}

impl Pauses {
    /// Pauses whose spread is drawn from this.
    pub const fn new(spread: Rng) -> Self {
        Self { spread, next: AGAIN.0 }
    }

    /// It worked: the next pause is a short one.
    pub const fn reset(&mut self) {
        self.next = AGAIN.0;
    }

    /// The next pause: half to one and a half of what grows.
    pub fn next(&mut self) -> Duration {
        let pause = self.next / 2 + self.share(self.next);
        self.next = (self.next * 2).min(AGAIN.1);
        pause
    }

    /// A pause of which somebody else said how long it is at least. All who are told at once are told the same.
    pub fn at_least(&mut self, told: Duration) -> Duration {
        told.max(self.next()) + self.share(told / 2)
    }

    fn share(&mut self, of: Duration) -> Duration {
        Duration::from_micros(self.spread.below((of.as_micros() as u64).max(1)))
    }
}

/// The newest tokens, and how many times they were fetched.
pub type Numbered = (u64, SessionInfo);

/// The tokens that all lines of a stay share.
pub struct Tokens {
    newest: watch::Sender<Numbered>,
    asking: Mutex<Asking>,
}

/// What whoever asks must know.
struct Asking {
    pauses: Pauses,
    not_before: Instant,
    /// The lobby said no for ever.
    is_over: bool,
}

impl Tokens {
    /// Tokens of a new session.
    pub fn new(info: SessionInfo, spread: Rng) -> Self {
        let asking = Asking { pauses: Pauses::new(spread), not_before: Instant::now(), is_over: false };
        Self { newest: watch::channel((0, info)).0, asking: Mutex::new(asking) }
    }

    /// The newest.
    pub fn newest(&self) -> Numbered {
        self.newest.borrow().clone()
    }

    /// Hears of newer ones.
    pub fn subscribe(&self) -> watch::Receiver<Numbered> {
        self.newest.subscribe()
    }

    /// Tokens newer than those of this number: what another line fetched meanwhile, or the answer to `ask`, however long
    /// that takes. `None` if the lobby will never give any: the stay is over.
    ///
    /// A token lives for half a minute; another line may have fetched these longer ago. Then the host refuses, and the
    /// next call fetches new ones. Whoever is dropped while they ask costs nobody a pause.
    pub async fn newer<A, F>(&self, than: u64, ask: A) -> Option<Numbered>
    where
        A: Fn(u64) -> F,
        F: Future<Output = Result<SessionInfo, LobbyError>>,
    {
        let mut asking = self.asking.lock().await;
        loop {
            let known = self.newest();
            if than < known.0 {
                return Some(known);
            }
            if asking.is_over {
                return None;
            }
            tokio::time::sleep_until(asking.not_before).await;
            match ask(known.1.session).await {
                Ok(info) => {
                    asking.pauses.reset();
                    self.newest.send_modify(|it| *it = (it.0 + 1, info));
                }
                Err(why) => asking.on_refused(&why),
            }
        }
    }
}

impl Asking {
    fn on_refused(&mut self, why: &LobbyError) {
        if why.is_final() {
            tracing::warn!(%why, "the lobby ends this stay");
            self.is_over = true;
            return;
        }
        let pause = match why {
            LobbyError::TooOften(wait, _) => self.pauses.at_least(*wait),
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

    type Said = Result<SessionInfo, LobbyError>;

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

    fn refused(status: u16) -> Said {
        Err(LobbyError::Refused(status, "no".to_owned()))
    }

    fn away() -> Said {
        Err(LobbyError::Away("the lobby".to_owned(), "gone".to_owned()))
    }

    /// So many lines lose their host at once. The lobby answers this, in turn, and yes from then on. Returns how often
    /// it was asked, how many lines got tokens, and how long that took, by a clock that only waits.
    async fn check(lines: usize, answers: &[Said]) -> (usize, usize, Duration) {
        let began = Instant::now();
        let tokens = Arc::new(Tokens::new(session(), Rng::seeded(1)));
        let asked = Arc::new(AtomicUsize::new(0));
        let mut waiting = JoinSet::new();
        for _ in 0..lines {
            let (tokens, asked, answers) = (tokens.clone(), asked.clone(), answers.to_vec());
            waiting.spawn(async move {
                let ask = |number| {
                    assert_eq!(number, 7, "always of the same session");
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
    async fn all_lines_share_one_answer() {
        let (asked, got, _) = check(16, &[]).await;
        assert_eq!((asked, got), (1, 16));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lobby_that_is_away_is_asked_by_one_line_ever_more_slowly() {
        let answers = [away(), refused(503), away(), away(), away(), away(), away(), away()];
        let (asked, got, took) = check(16, &answers).await;
        assert_eq!((asked, got), (9, 16));
        // 100, 200, 400, 800, 1600 and three times 2000 ms, each half as long at least.
        assert!(Duration::from_millis(4_550) <= took, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_asked_too_often_waits_as_long_as_they_are_told() {
        let wait = Duration::from_secs(7);
        let (asked, got, took) = check(16, &[Err(LobbyError::TooOften(wait, "slowly".to_owned()))]).await;
        assert_eq!((asked, got), (2, 16));
        assert!(wait <= took, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_that_never_changes_is_asked_for_once_and_ends_all_lines() {
        for status in [400, 401] {
            let (asked, got, _) = check(16, &[refused(status), refused(status)]).await;
            assert_eq!((asked, got), (1, 0), "{status}");
        }
    }

    #[test]
    fn no_two_pause_alike() {
        let pauses = |seed| {
            let mut it = Pauses::new(Rng::seeded(seed));
            [it.next(), it.next(), it.at_least(Duration::from_secs(3))]
        };
        let (one, other) = (pauses(1), pauses(2));
        assert!(one.iter().zip(&other).all(|(one, other)| one != other), "{one:?} {other:?}");
    }
}
