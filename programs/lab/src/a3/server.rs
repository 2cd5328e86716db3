//! The experiment's server: every check interval it asks the interest engine what is due and sends it.

use super::message::Msg;
use super::{Command, Setting, Sizes};
use interest::{Config, Engine, Policy, Slot, Update};
use machine::{Address, Input, Lane, LatestKey, Outbox, Time};
use space::{Epoch, Motion, ObjectId, Velocity, ZoneId};
use wire::{Message as _, Packer, Pose};

/// Serves one client, whose avatar is number 0 of a crowd.
pub struct Server {
    engine: Engine,
    policy: Box<dyn Policy>,
    sizes: Sizes,
    check: machine::Span,
    next_check: Time,
    client: Option<Address>,
    avatars: Vec<Avatar>,
    packer: Packer,
    /// Counts datagrams: each is news of its own, and none may replace another on the way.
    datagrams: u64,
}

/// An avatar as the server has it. Its pose is encoded when it changes, and forwarded unchanged.
struct Avatar {
    slot: Slot,
    motion: Motion,
    encoded: Vec<u8>,
}

impl Server {
    /// A server whose avatars start with these motions; the first is the client's.
    pub fn new(setting: &Setting, policy: Box<dyn Policy>, motions: &[Motion]) -> Self {
        let mut engine = Engine::new(Config { schedule: setting.schedule, ..Config::default() });
        let enter = |motion: &Motion| Avatar {
            slot: engine.enter(motion.position, motion.heading),
            motion: *motion,
            encoded: Vec::new(),
        };
        let avatars: Vec<Avatar> = motions.iter().map(enter).collect();
        engine.observe(avatars[0].slot);
        let mut server = Self {
            engine,
            policy,
            sizes: setting.sizes,
            check: setting.check,
            next_check: Time::ZERO,
            client: None,
            avatars,
            packer: Packer::new(),
            datagrams: 0,
        };
        for (avatar, motion) in motions.iter().enumerate() {
            server.on_move(avatar, *motion);
        }
        server
    }

    /// The true motion of every avatar, the client's first.
    pub fn motions(&self) -> impl Iterator<Item = &Motion> {
        self.avatars.iter().map(|it| &it.motion)
    }

    pub fn handle(&mut self, now: Time, input: Input<Msg, Command>, out: &mut Outbox<Msg, ()>) {
        match input {
            Input::Command(Command::Move { avatar, motion }) => self.on_move(avatar as usize, motion),
            Input::Recv { msg: Msg::Own(pose), .. } => self.on_move(0, pose.motion),
            Input::LinkUp { peer, .. } => self.client = Some(peer),
            Input::LinkDown { .. } => self.client = None,
            Input::Wake if self.next_check <= now => self.on_check(now, out),
            Input::Wake | Input::Recv { .. } => (),
        }
    }

    pub fn deadline(&self) -> Option<Time> {
        Some(self.next_check)
    }

    fn on_move(&mut self, avatar: usize, motion: Motion) {
        let it = &mut self.avatars[avatar];
        it.motion = motion;
        self.engine.face(it.slot, motion.heading);
        self.engine.place(it.slot, motion.position);
        it.encoded.clear();
        pose_of(avatar, motion).encode(&mut it.encoded);
    }

    fn on_check(&mut self, now: Time, out: &mut Outbox<Msg, ()>) {
        self.next_check = now + self.check;
        for avatar in self.avatars.iter().filter(|it| it.motion.velocity != Velocity::ZERO) {
            self.engine.place(avatar.slot, avatar.motion.position_at(now));
        }
        let Some(client) = self.client else { return };
        let Self { engine, policy, sizes, avatars, packer, datagrams, .. } = self;
        engine.tick(now, policy.as_ref(), |_, updates| match sizes {
            Sizes::Paper => send_padded(client, avatars, updates, out),
            Sizes::Wire => {
                pack(avatars, updates, packer);
                send_packed(client, packer, datagrams, out);
            }
        });
    }
}

fn pose_of(avatar: usize, motion: Motion) -> Pose {
    let object = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: avatar as u32 };
    Pose { object, motion, tag: None }
}

/// One message per update, as in the paper.
fn send_padded(client: Address, avatars: &[Avatar], updates: &[Update], out: &mut Outbox<Msg, ()>) {
    for update in updates {
        let avatar = update.subject.0 as usize;
        let key = LatestKey(avatar as u64);
        out.send(client, Lane::Latest(key), Msg::Padded(pose_of(avatar, avatars[avatar].motion)));
    }
}

/// All updates of this check in as few datagrams as they need.
fn pack(avatars: &[Avatar], updates: &[Update], packer: &mut Packer) {
    packer.clear();
    updates.iter().for_each(|it| packer.push(&avatars[it.subject.0 as usize].encoded));
}

fn send_packed(client: Address, packer: &Packer, sent: &mut u64, out: &mut Outbox<Msg, ()>) {
    for datagram in packer.datagrams() {
        *sent += 1;
        out.send(client, Lane::Latest(LatestKey(*sent)), Msg::Packed(datagram.to_vec()));
    }
}
