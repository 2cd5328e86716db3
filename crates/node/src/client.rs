//! A client: a player's machine, the ear of a carrier, and for bots a will.

use crate::carrier;
use crate::message::NodeMsg;
use game::{Bot, Intent};
use machine::{Input, Machine, Outbox, Rng, Span, Time};
use zone::{Happening, Player, PlayerConfig, Want};

/// How often a bot makes up its mind, on average.
const DECIDE_EVERY: Span = Span::from_millis(300);

/// What a client tells its owner.
pub type ClientEvent = Happening;

/// A player, with or without a will of its own.
pub struct Client {
    player: Player,
    bot: Option<Box<dyn Bot>>,
    rng: Rng,
    decides: Time,
    pace: Span,
    poses: u64,
    wants: Vec<Intent>,
    part: Outbox<zone::Msg, Happening>,
}

impl Client {
    /// A player who wants what their owner says.
    pub fn new(config: PlayerConfig) -> Self {
        let rng = Rng::seeded(config.seed).fork_named(!config.player.0);
        let (player, part) = (Player::new(config), Outbox::new());
        let (decides, pace) = (Time::ZERO, DECIDE_EVERY);
        Self { player, bot: None, rng, decides, pace, poses: 0, wants: Vec::new(), part }
    }

    /// A bot.
    pub fn bot(config: PlayerConfig, bot: Box<dyn Bot>) -> Self {
        Self { bot: Some(bot), ..Self::new(config) }
    }

    /// The same, deciding this often on average.
    pub fn paced(self, pace: Span) -> Self {
        Self { pace, ..self }
    }

    /// How many poses it has heard.
    pub const fn poses(&self) -> u64 {
        self.poses
    }

    /// Takes the bot's will away: it goes on as it is, and wants nothing new.
    pub fn calm(&mut self) {
        self.bot = None;
    }

    /// The player's machine, to look at.
    pub const fn player(&self) -> &Player {
        &self.player
    }

    fn decide(&mut self, now: Time, out: &mut Outbox<NodeMsg, ClientEvent>) {
        let Some(bot) = &mut self.bot else { return };
        if now < self.decides {
            return;
        }
        let half = self.pace.as_micros() / 2;
        self.decides = now + Span::from_micros(half + self.rng.below(2 * half));
        if let Some(sight) = self.player.sight(now) {
            bot.decide(&sight, &mut self.rng, &mut self.wants);
        }
        for want in std::mem::take(&mut self.wants) {
            let want = match want {
                Intent::Act(action) => Want::Act(action),
                Intent::Steer(velocity, heading) => Want::Steer(velocity, heading),
            };
            self.pass(now, Input::Command(want), out);
        }
    }

    fn pass(&mut self, now: Time, input: Input<zone::Msg, Want>, out: &mut Outbox<NodeMsg, ClientEvent>) {
        self.player.handle(now, input, &mut self.part);
        out.absorb(&mut self.part, NodeMsg::Zone, Some);
    }

    fn hear(&mut self, now: Time, datagram: &[u8], out: &mut Outbox<NodeMsg, ClientEvent>) {
        for pose in carrier::poses(datagram) {
            self.poses += 1;
            self.pass(now, Input::Command(Want::Hear(pose.object, pose.motion)), out);
        }
    }
}

impl Machine for Client {
    type Msg = NodeMsg;
    type Command = Want;
    type Event = ClientEvent;

    fn handle(&mut self, now: Time, input: Input<NodeMsg, Want>, out: &mut Outbox<NodeMsg, ClientEvent>) {
        match input {
            Input::Recv { msg: NodeMsg::Poses(datagram), .. } => self.hear(now, &datagram, out),
            Input::Recv { from, link, msg: NodeMsg::Zone(msg) } => {
                self.pass(now, Input::Recv { from, link, msg }, out)
            }
            Input::Command(want) => self.pass(now, Input::Command(want), out),
            Input::LinkUp { peer, link } => self.pass(now, Input::LinkUp { peer, link }, out),
            Input::LinkDown { peer, link } => self.pass(now, Input::LinkDown { peer, link }, out),
            Input::Wake => {
                self.pass(now, Input::Wake, out);
                self.decide(now, out);
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        let decides = self.bot.as_ref().map(|_| self.decides);
        [self.player.deadline(), decides].into_iter().flatten().min()
    }
}
