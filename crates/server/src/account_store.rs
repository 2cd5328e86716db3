//! The thread that stores new accounts: a slow disk delays them, and nothing else.

use lobby::{AccountLog, HashedCreation, Lobby, LobbyError, PassGrant, UnixSeconds};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::Media;
use tokio::sync::{mpsc, oneshot};

/// New accounts that wait for the disk: a few seconds' worth of hashed passwords.
const STORES_WAITING: usize = 64;

/// Sends new accounts to the thread that stores them.
pub struct AccountStore(mpsc::Sender<StoreRequest>);

/// The error of a new account that was not tried: too many wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreBusy;

struct StoreRequest {
    creation: HashedCreation,
    now: UnixSeconds,
    answer: oneshot::Sender<Result<PassGrant, LobbyError>>,
}

impl AccountStore {
    /// Starts the thread, which lives as long as this. It locks the lobby before and after an account is stored, not while.
    pub fn start<M: Media + Send + 'static>(
        lobby: Arc<Mutex<Lobby>>,
        mut log: AccountLog<M>,
    ) -> std::io::Result<Self> {
        let (sender, mut requests) = mpsc::channel::<StoreRequest>(STORES_WAITING);
        let run = move || {
            while let Some(StoreRequest { creation, now, answer }) = requests.blocking_recv() {
                let reserved = lock(&lobby).reserve_account(creation);
                let grant = reserved.and_then(|reservation| {
                    let stored = log.store(reservation);
                    lock(&lobby).finish_account(stored, now)
                });
                drop(answer.send(grant)); // The client may have given up: the account exists all the same.
            }
        };
        std::thread::Builder::new().name("accounts".to_owned()).spawn(run)?;
        Ok(Self(sender))
    }

    /// Stores a new account, and waits until it is on the disk.
    pub async fn store(
        &self,
        creation: HashedCreation,
        now: UnixSeconds,
    ) -> Result<Result<PassGrant, LobbyError>, StoreBusy> {
        let (answer, done) = oneshot::channel();
        self.0.try_send(StoreRequest { creation, now, answer }).map_err(|_| StoreBusy)?;
        done.await.map_err(|_| StoreBusy)
    }
}

fn lock(lobby: &Mutex<Lobby>) -> MutexGuard<'_, Lobby> {
    lobby.lock().unwrap_or_else(PoisonError::into_inner)
}
