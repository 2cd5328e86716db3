//! The experiment's server: at every check it asks the interest engine for due updates and sends them.

use super::message::A3Msg;
use super::{A3Command, A3Setting, UpdateSizes};
use interest::{Engine, EngineConfig, Policy, Slot, Update};
use machine::{Address, Input, Lane, LatestKey, Outbox, Time};
use space::{Epoch, Motion, ObjectId, Velocity, ZoneId};
use wire::{Message as _, Packer, Pose};

/// The server of one client, whose avatar is number 0 of a crowd.
pub struct A3Server {
    engine: Engine,
    policy: Box<dyn Policy>,
    sizes: UpdateSizes,
    check: machine::Span,
    next_check: Time,
    client: Option<Address>,
    avatars: Vec<ServerAvatar>,
    packer: Packer,
    /// Number of datagrams so far, used as lane key: so no datagram replaces another on the way.
    datagrams: u64,
}

/// An avatar on the server. Its pose is encoded once per change, and forwarded unchanged.
struct ServerAvatar {
    slot: Slot,
    motion: Motion,
    encoded: Vec<u8>,
}

impl A3Server {
    /// A server whose avatars start with these motions; the first is the client's.
    pub fn new(setting: &A3Setting, policy: Box<dyn Policy>, motions: &[Motion]) -> Self {
        let mut engine = Engine::new(EngineConfig { schedule: setting.schedule, ..EngineConfig::default() });
        let enter = |motion: &Motion| ServerAvatar {
            slot: engine.enter(motion.position, motion.heading),
            motion: *motion,
            encoded: Vec::new(),
        };
        let avatars: Vec<ServerAvatar> = motions.iter().map(enter).collect();
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

    pub fn handle(&mut self, now: Time, input: Input<A3Msg, A3Command>, out: &mut Outbox<A3Msg, ()>) {
        match input {
            Input::Command(A3Command::Move { avatar, motion }) => self.on_move(avatar as usize, motion),
            Input::Recv { msg: A3Msg::Own(pose), .. } => self.on_move(0, pose.motion),
            Input::LinkUp { peer, .. } => self.client = Some(peer),
            Input::LinkDown { .. } => self.client = None,
            Input::Wake if self.next_check <= now => self.on_check(now, out),
            // An early wake, or a message that only the client takes.
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

    fn on_check(&mut self, now: Time, out: &mut Outbox<A3Msg, ()>) {
        self.next_check = now + self.check;
        // Standing avatars are where they were at the last check.
        for avatar in self.avatars.iter().filter(|it| it.motion.velocity != Velocity::ZERO) {
            self.engine.place(avatar.slot, avatar.motion.position_at(now));
        }
        let Some(client) = self.client else { return };
        let Self { engine, policy, sizes, avatars, packer, datagrams, .. } = self;
        engine.tick(now, policy.as_ref(), |_, updates| match sizes {
            UpdateSizes::Paper => send_padded(client, avatars, updates, out),
            UpdateSizes::Wire => {
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
fn send_padded(client: Address, avatars: &[ServerAvatar], updates: &[Update], out: &mut Outbox<A3Msg, ()>) {
    for update in updates {
        let avatar = update.subject.0 as usize;
        // A newer pose of an avatar may replace an older one on the way.
        let key = LatestKey(avatar as u64);
        out.send(client, Lane::Latest(key), A3Msg::Padded(pose_of(avatar, avatars[avatar].motion)));
    }
}

/// All updates of this check in as few datagrams as they need.
fn pack(avatars: &[ServerAvatar], updates: &[Update], packer: &mut Packer) {
    packer.clear();
    updates.iter().for_each(|it| packer.push(&avatars[it.subject.0 as usize].encoded));
}

fn send_packed(client: Address, packer: &Packer, sent: &mut u64, out: &mut Outbox<A3Msg, ()>) {
    for datagram in packer.datagrams() {
        *sent += 1;
        out.send(client, Lane::Latest(LatestKey(*sent)), A3Msg::Packed(datagram.to_vec()));
    }
}
