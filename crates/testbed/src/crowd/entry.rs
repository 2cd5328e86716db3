//! How a bot comes in: as a guest of the lobby, with a session and connections of its own.

use super::experience::{Experience, listen};
use super::map::{borders_of, region_of};
use super::turns::{Door, in_turn};
use super::{CrowdOptions, MIXED};
use client::{Lobby, SessionInfo, Stay, StayOptions};
use game::{Bot, Intent, Sight};
use machine::Rng;
use net::dial::Dialer;
use node::Client as Node;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{Semaphore, mpsc};
use zone::PlayerConfig;

/// Log-ins at once.
const LOGINS: usize = 16;

/// What the bots of a crowd share while they come in.
pub(super) struct Entry {
    options: CrowdOptions,
    dialer: Dialer,
    calm: Arc<AtomicBool>,
    experience: Arc<Mutex<Experience>>,
    logins: Semaphore,
    door: Door,
}

impl Entry {
    pub(super) fn new(
        options: CrowdOptions,
        calm: Arc<AtomicBool>,
        experience: Arc<Mutex<Experience>>,
    ) -> anyhow::Result<Self> {
        let (logins, door) = (Semaphore::new(LOGINS), Door::default());
        Ok(Self { options, dialer: Dialer::new()?, calm, experience, logins, door })
    }

    /// Lets a bot in.
    pub(super) async fn admit(&self, number: usize) -> anyhow::Result<Stay> {
        let _permit = self.logins.acquire().await;
        let options = &self.options;
        let mixed = options.game.mixed_bots();
        let behaviour = match options.behaviour.as_str() {
            MIXED => mixed[number % mixed.len()],
            name => name,
        };
        let lobby = Lobby::new(&options.lobby);
        let name = format!("{behaviour}-{number}");
        let pass = in_turn(&self.door, || lobby.guest(&name)).await?;
        let (heard, happenings) = mpsc::unbounded_channel();
        tokio::spawn(listen(happenings, self.experience.clone()));
        let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
        let (transport, history, dialer) = (options.transport, options.history.clone(), self.dialer.clone());
        let stay_options = StayOptions { transport, dialer, history, seed };
        let begin = || {
            let make = |config, info: &SessionInfo| self.client(behaviour, config, info);
            Stay::begin(&lobby, &pass, stay_options.clone(), make, heard.clone())
        };
        Ok(in_turn(&self.door, begin).await?)
    }

    /// A client with the will of a bot.
    fn client(&self, behaviour: &str, config: PlayerConfig, info: &SessionInfo) -> Node {
        let bot =
            region_of(info).and_then(|it| self.options.game.bot(behaviour, &it, &borders_of(info, &it)));
        let calm = self.calm.clone();
        let node = match bot {
            Some(bot) => Node::bot(config, Box::new(Calmable { bot, calm })),
            None => Node::new(config),
        };
        match self.options.pace {
            Some(pace) => node.paced(pace),
            None => node,
        }
    }
}

/// A bot whose will can be taken away.
struct Calmable {
    bot: Box<dyn Bot>,
    calm: Arc<AtomicBool>,
}

impl Bot for Calmable {
    fn decide(&mut self, sight: &Sight<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        if !self.calm.load(Ordering::Relaxed) {
            self.bot.decide(sight, rng, wants);
        }
    }
}
