//! A client: a player's machine, the receiving end of a carrier, and for bots a decision maker.

use crate::carrier;
use crate::message::NodeMsg;
use game::{Bot, Intent};
use machine::{Input, Machine, Outbox, Rng, Span, Time};
use zone::{Player, PlayerCommand, PlayerConfig, PlayerEvent};

/// The average time between two decisions of a bot.
const DECIDE_EVERY: Span = Span::from_millis(300);

/// Poses that come this long after the first of a round belong to the next tick of the carrier, which has ten per second.
const ROUND_PAUSE: Span = Span::from_millis(50);

/// The events that a client node reports to the program that runs it.
pub type ClientEvent = PlayerEvent;

/// The machine of a player, with or without a bot that decides for them.
pub struct ClientNode {
    player: Player,
    bot: Option<Box<dyn Bot>>,
    rng: Rng,
    next_decision: Time,
    pace: Span,
    poses: u64,
    pose_rounds: u64,
    /// When the last round of poses began.
    posed: Time,
    intents: Vec<Intent>,
    part: Outbox<zone::ZoneMsg, PlayerEvent>,
}

impl ClientNode {
    /// A player whose commands come from the program that runs it.
    pub fn new(config: PlayerConfig) -> Self {
        // Why `!`: the player's own machine forks by the plain number.
        let rng = Rng::seeded(config.seed).fork_named(!config.player.0);
        let (player, part) = (Player::new(config), Outbox::new());
        let (next_decision, pace) = (Time::ZERO, DECIDE_EVERY);
        Self {
            player,
            bot: None,
            rng,
            next_decision,
            pace,
            poses: 0,
            pose_rounds: 0,
            posed: Time::ZERO,
            intents: Vec::new(),
            part,
        }
    }

    /// A player for whom a bot decides.
    pub fn bot(config: PlayerConfig, bot: Box<dyn Bot>) -> Self {
        Self { bot: Some(bot), ..Self::new(config) }
    }

    /// The same client, whose bot decides once per `pace` on average.
    pub fn paced(self, pace: Span) -> Self {
        Self { pace, ..self }
    }

    /// The number of poses received so far.
    pub const fn poses(&self) -> u64 {
        self.poses
    }

    /// The number of rounds of poses received so far: ticks of the carrier that had something for this client.
    pub const fn pose_rounds(&self) -> u64 {
        self.pose_rounds
    }

    /// Removes the bot: the avatar goes on as it is, and no new commands come.
    pub fn remove_bot(&mut self) {
        self.bot = None;
    }

    /// The player's machine, for inspection.
    pub const fn player(&self) -> &Player {
        &self.player
    }

    fn decide(&mut self, now: Time, out: &mut Outbox<NodeMsg, ClientEvent>) {
        let Some(bot) = &mut self.bot else { return };
        if now < self.next_decision {
            return;
        }
        // Why a random interval: bots that start together would otherwise decide in the same instant for ever.
        let half = bot.pace(self.pace).as_micros() / 2;
        // (`below` panics at 0, so a pace below 2 µs is a mistake of the caller, or of the bot.)
        self.next_decision = now + Span::from_micros(half + self.rng.below(2 * half));
        if let Some(sight) = self.player.sight(now) {
            bot.decide(&sight, &mut self.rng, &mut self.intents);
        }
        for intent in std::mem::take(&mut self.intents) {
            let command = match intent {
                Intent::Act(action) => PlayerCommand::Act(action),
                Intent::Steer(velocity, heading) => PlayerCommand::Steer(velocity, heading),
            };
            self.handle_player(now, Input::Command(command), out);
        }
    }

    fn handle_player(
        &mut self,
        now: Time,
        input: Input<zone::ZoneMsg, PlayerCommand>,
        out: &mut Outbox<NodeMsg, ClientEvent>,
    ) {
        self.player.handle(now, input, &mut self.part);
        out.absorb(&mut self.part, NodeMsg::Zone, Some);
    }

    fn receive_poses(&mut self, now: Time, datagram: &[u8]) {
        // In a crowd the poses of one tick fill several datagrams.
        if ROUND_PAUSE <= now.since(self.posed) {
            self.pose_rounds += 1;
            self.posed = now;
        }
        for pose in carrier::poses(datagram) {
            self.poses += 1;
            self.player.hear(pose.object, &pose.motion);
        }
    }
}

impl Machine for ClientNode {
    type Msg = NodeMsg;
    type Command = PlayerCommand;
    type Event = ClientEvent;

    fn handle(
        &mut self,
        now: Time,
        input: Input<NodeMsg, PlayerCommand>,
        out: &mut Outbox<NodeMsg, ClientEvent>,
    ) {
        match input {
            Input::Recv { msg: NodeMsg::Poses(datagram), .. } => self.receive_poses(now, &datagram),
            Input::Recv { from, link, msg: NodeMsg::Zone(msg) } => {
                self.handle_player(now, Input::Recv { from, link, msg }, out)
            }
            Input::Command(command) => self.handle_player(now, Input::Command(command), out),
            Input::LinkUp { peer, link } => self.handle_player(now, Input::LinkUp { peer, link }, out),
            Input::LinkDown { peer, link } => self.handle_player(now, Input::LinkDown { peer, link }, out),
            Input::Wake => {
                self.handle_player(now, Input::Wake, out);
                self.decide(now, out);
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        let next_decision = self.bot.as_ref().map(|_| self.next_decision);
        [self.player.deadline(), next_decision].into_iter().flatten().min()
    }
}
