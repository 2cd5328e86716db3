//! Waiting in the lobby's queue: a client asks again and again until its player is let in.

use crate::lobby::{LobbyClientError, QueuePlace, SessionAnswer, SessionInfo};
use crate::tokens::RetryPauses;
use machine::Rng;
use std::sync::Arc;

/// Called with the place in the queue whenever the lobby tells it. It must not wait.
pub type WaitingCallback = Arc<dyn Fn(QueuePlace) + Send + Sync>;

/// Asks for a session until the player is let in. `on_waiting` is told each place in the queue.
///
/// A first request that fails is an error, as for any other request. A client that has a place asks again also when a request
/// fails, after pauses that grow, because the lobby keeps the place for a while; only a refusal that never changes ends the
/// wait. All pauses have a spread, drawn from `spread`.
pub async fn wait_for_session<F>(
    ask: impl Fn() -> F,
    spread: Rng,
    mut on_waiting: impl FnMut(QueuePlace),
) -> Result<SessionInfo, LobbyClientError>
where
    F: Future<Output = Result<SessionAnswer, LobbyClientError>>,
{
    let (mut pauses, mut has_place) = (RetryPauses::new(spread), false);
    loop {
        let pause = match ask().await {
            Ok(SessionAnswer::Begun(session)) => return Ok(*session),
            Ok(SessionAnswer::Waiting(place)) => {
                has_place = true;
                pauses.reset();
                on_waiting(place);
                pauses.soon_after(place.again_after)
            }
            Err(why) if !has_place || why.is_final() => return Err(why),
            Err(LobbyClientError::TooOften(wait, _)) => pauses.at_least(wait),
            Err(_) => pauses.next(),
        };
        tokio::time::sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lobby::WorldInfo;
    use std::cell::RefCell;
    use std::time::Duration;
    use tokio::time::Instant;

    type Answer = Result<SessionAnswer, LobbyClientError>;

    fn begun() -> Answer {
        let world = WorldInfo {
            game: String::new(),
            schema: String::new(),
            range: 1,
            region: Vec::new(),
            zones: Vec::new(),
        };
        let (name, hosts) = (String::new(), Vec::new());
        Ok(SessionAnswer::Begun(Box::new(SessionInfo { session: 7, player: 1, name, world, hosts })))
    }

    fn waits(place: u64, seconds: u64) -> Answer {
        Ok(SessionAnswer::Waiting(QueuePlace {
            place,
            waiting: 9,
            again_after: Duration::from_secs(seconds),
        }))
    }

    fn refused(status: u16) -> Answer {
        Err(LobbyClientError::Refused(status, "no".to_owned()))
    }

    /// The outcome with these answers, the places that were told, and the pauses, by a paused clock.
    async fn check(answers: Vec<Answer>) -> (Result<u64, LobbyClientError>, Vec<u64>, Vec<Duration>) {
        let (mut places, asked) = (Vec::new(), RefCell::new(Vec::new()));
        let ask = || {
            asked.borrow_mut().push(Instant::now());
            std::future::ready(answers[asked.borrow().len() - 1].clone())
        };
        let outcome = wait_for_session(ask, Rng::seeded(1), |it| places.push(it.place)).await;
        let pauses = asked.borrow().windows(2).map(|it| it[1] - it[0]).collect();
        (outcome.map(|it| it.session), places, pauses)
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_in_the_queue_is_no_error_and_the_client_comes_when_it_is_told_to() {
        let (outcome, places, pauses) = check(vec![waits(12, 15), waits(3, 2), begun()]).await;
        assert_eq!((outcome, places), (Ok(7), vec![12, 3]));
        for (pause, told) in pauses.iter().zip([15, 2]) {
            let told = Duration::from_secs(told);
            assert!(
                (told..told + told / 5).contains(pause),
                "{pause:?}: the lobby counts a late client as absent"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_with_a_place_outlasts_a_lobby_that_is_away() {
        let away = Err(LobbyClientError::Unreachable("the lobby".to_owned(), "gone".to_owned()));
        let often = Err(LobbyClientError::TooOften(Duration::from_secs(9), "slowly".to_owned()));
        let answers = vec![waits(2, 2), away.clone(), refused(503), away, often, begun()];
        let (outcome, _, pauses) = check(answers).await;
        assert_eq!(outcome, Ok(7));
        assert!(pauses[1] < pauses[3] && Duration::from_secs(9) <= pauses[4], "{pauses:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_request_that_fails_and_a_final_refusal_end_the_wait() {
        assert_eq!(check(vec![refused(503), begun()]).await.0.unwrap_err(), refused(503).unwrap_err());
        assert_eq!(check(vec![waits(1, 2), refused(401)]).await.0.unwrap_err(), refused(401).unwrap_err());
    }
}
