//! One replica of one zone: a machine with a role that changes.
//!
//! Nobody → (follows) Backup → (wins a swap) Primary → (loses one) Nobody. Every change of who reigns is one
//! successful compare-and-swap in the directory, and each begins a new epoch.

use crate::backup::Backup;
use crate::carrier_update::CarrierUpdate;
use crate::config::Config;
use crate::core::{Answer, Command, Core, Event, Out, Purpose};
use crate::entry::Reign;
use crate::msg::{Down, Msg, Peer, Up};
use crate::nobody::Nobody;
use crate::note::Note;
use crate::primary::{Primary, Sender};
use crate::record::Index;
use crate::state::State;
use crate::table::Object;
use machine::{Address, Input, Lane, LinkNumber, Machine, Time, disk};
use space::{Epoch, ZoneId};

/// A replica of a zone.
pub struct Replica {
    core: Core,
    role: Role,
}

/// What a replica is.
pub(crate) enum Role {
    /// Nobody that counts: it has just started, or lost its role.
    Nobody(Nobody),
    /// It follows a primary and acknowledges.
    Backup(Backup),
    /// It decides.
    Primary(Box<Primary>),
    /// Its disk failed, or its state is not what the log says. It does nothing any more.
    Broken,
    /// It was told to leave, and only brings its disk up to date.
    Left,
}

/// What a role wants to become.
pub(crate) enum Transition {
    /// As it is.
    Stay,
    /// It won: reign.
    Reign(Reign),
    /// Follow this primary, in this epoch.
    Follow(Epoch, Address),
    /// It lost its role.
    Resign,
    /// It cannot go on.
    Break(String),
    /// It was told to leave.
    Leave,
}

/// Why a replica gives up that is none of its own fault.
const DISK_FAILED: &str = "the disk failed";

/// What a replica is at the moment, for people and checkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No role.
    Nobody,
    /// Backup in this epoch.
    Backup(Epoch),
    /// Primary in this epoch, alone or not.
    Primary(Epoch, Alone),
    /// It does nothing any more.
    Broken,
}

/// How much a replica holds that it will not need for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Events that wait for locks.
    pub jobs: usize,
    /// Locks held or wanted.
    pub locks: usize,
    /// Bytes of records that were written and not told.
    pub pending_bytes: usize,
    /// The most actions of one player that wait for an earlier one.
    pub ahead: usize,
    /// Records in memory.
    pub tail: u64,
    /// How many of them somebody still needs: the disk, the backup, or whoever has to be told.
    pub needed: u64,
    /// Rises whenever old records could be forgotten.
    pub progress: Index,
}

/// Whether a primary has nobody to acknowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    /// It has a backup.
    No,
    /// It relies on its disk.
    Yes,
}

impl Replica {
    /// A replica that has just started and knows nothing.
    pub fn new(config: Config) -> Self {
        let mut core = Core::new(config);
        core.timers.set(Purpose::Ask, Time::ZERO);
        core.timers.set(Purpose::Clock, Time::ZERO);
        Self { core, role: Role::Nobody(Nobody::starting()) }
    }

    /// What it holds.
    pub const fn state(&self) -> &State {
        &self.core.state
    }

    /// World time, as the replica estimates it.
    pub fn world_time(&self, now: Time) -> Time {
        self.core.world_time(now)
    }

    /// The last record of its log.
    pub fn head(&self) -> Index {
        self.core.log.head()
    }

    /// Whether everything it has is on its disk.
    pub fn is_settled(&self) -> bool {
        self.core.is_synced()
    }

    /// What it is.
    pub fn standing(&self) -> Standing {
        match &self.role {
            Role::Nobody(_) => Standing::Nobody,
            Role::Backup(backup) => Standing::Backup(backup.epoch),
            Role::Primary(primary) => {
                let alone = if primary.is_alone() { Alone::Yes } else { Alone::No };
                Standing::Primary(primary.epoch(), alone)
            }
            Role::Broken | Role::Left => Standing::Broken,
        }
    }

    /// What a primary knows of its neighbours' objects, and whose they are.
    pub fn ghosts(&self) -> Vec<(ZoneId, Object)> {
        match &self.role {
            Role::Primary(primary) => primary.ghosts(),
            _ => Vec::new(),
        }
    }

    /// How much it holds: bounds that checkers watch.
    pub fn load(&self) -> Load {
        let (head, tail) = (self.core.log.head(), self.core.log.tail());
        let written = head - self.core.disk.written.min(head);
        match &self.role {
            Role::Primary(primary) => primary.load(&self.core),
            Role::Backup(_) => Load { tail, needed: written, progress: head, ..Load::default() },
            // Whoever has no role takes nothing on.
            Role::Nobody(_) | Role::Broken | Role::Left => {
                Load { tail, needed: tail, progress: head, ..Load::default() }
            }
        }
    }

    fn on_command(&mut self, command: Command, out: &mut Out) -> Transition {
        match command {
            Command::Disk(disk::Done::Failed { .. }) => Transition::Break(DISK_FAILED.to_owned()),
            Command::Disk(disk::Done::Recalled { recalled, .. }) => match self.core.recalled(recalled, out) {
                Ok(()) => match &mut self.role {
                    Role::Nobody(nobody) => nobody.on_recalled(&mut self.core, out),
                    _ => Transition::Stay,
                },
                Err(why) => Transition::Break(why),
            },
            Command::Disk(disk::Done::Persisted { ticket }) => {
                if !self.core.disk_done(ticket) {
                    return Transition::Stay;
                }
                match &mut self.role {
                    Role::Primary(primary) => primary.on_persisted(&mut self.core, out),
                    Role::Backup(backup) => backup.on_persisted(&mut self.core, out),
                    Role::Left => self.core.write_disk(out),
                    Role::Nobody(_) | Role::Broken => (),
                }
                Transition::Stay
            }
            Command::Leave => self.on_leave(out),
            Command::Directory(done) => {
                let Some(answer) = self.core.answered(done) else { return Transition::Stay };
                self.on_answer(answer, out)
            }
        }
    }

    /// Tells the others not to wait for its silence. To them it is as if it had died and come back without a role.
    fn on_leave(&mut self, out: &mut Out) -> Transition {
        if let Some(reign) = self.epoch() {
            let (epoch, index) = self.core.log.standing();
            for &peer in self.core.config.peers.iter().filter(|&&it| it != self.core.config.me) {
                self.core.send_peer(peer, Lane::Sure, reign, Peer::Standing { epoch, index }, out);
            }
        }
        self.core.write_disk(out);
        Transition::Leave
    }

    fn on_answer(&mut self, answer: Answer, out: &mut Out) -> Transition {
        match &mut self.role {
            Role::Nobody(nobody) => nobody.on_answer(&mut self.core, answer, out),
            Role::Backup(backup) => backup.on_answer(&mut self.core, answer, out),
            Role::Primary(primary) => primary.on_answer(&mut self.core, answer, out),
            Role::Broken | Role::Left => Transition::Stay,
        }
    }

    fn on_message(&mut self, from: Address, msg: Msg, out: &mut Out) -> Transition {
        match msg {
            // A player cannot pretend to be a replica.
            Msg::Peer(epoch, peer) if self.core.config.peers.contains(&from) => {
                self.on_peer(from, epoch, peer, out)
            }
            Msg::Up(up) => {
                self.on_up(from, up, out);
                Transition::Stay
            }
            Msg::Mesh(zone, epoch, time, mesh) => {
                if let Role::Primary(primary) = &mut self.role {
                    let from = Sender { address: from, zone, epoch, time };
                    primary.on_mesh(&mut self.core, &from, mesh, out);
                }
                Transition::Stay
            }
            Msg::Peer(..) | Msg::Down(..) => Transition::Stay,
        }
    }

    fn on_peer(&mut self, from: Address, epoch: Epoch, peer: Peer, out: &mut Out) -> Transition {
        match &mut self.role {
            Role::Nobody(nobody) => nobody.on_peer(&mut self.core, from, epoch, peer, out),
            Role::Backup(backup) => backup.on_peer(&mut self.core, from, epoch, peer, out),
            Role::Primary(primary) => primary.on_peer(&mut self.core, from, epoch, peer, out),
            Role::Broken | Role::Left => Transition::Stay,
        }
    }

    fn on_up(&mut self, from: Address, up: Up, out: &mut Out) {
        if let Role::Primary(primary) = &mut self.role {
            return primary.on_up(&mut self.core, from, up, out);
        }
        if matches!(up, Up::Enter { .. } | Up::Act { .. }) {
            let epoch = self.core.entry.map_or(Epoch(0), |it| it.epoch);
            let primary = self.core.entry.map(|it| it.primary);
            let zone = self.core.config.zone;
            out.send(from, Lane::Sure, Msg::Down(zone, epoch, Down::NotHere { primary }));
        }
    }

    fn on_link_up(&mut self, peer: Address, link: LinkNumber, out: &mut Out) {
        self.core.links.insert(peer, link);
        match &mut self.role {
            Role::Primary(primary) => primary.on_link_up(&mut self.core, peer, out),
            Role::Nobody(_) if self.core.config.peers.contains(&peer) => {
                self.core.wake_within(Purpose::Ask, machine::Span::ZERO);
            }
            _ => (),
        }
    }

    fn on_link_down(&mut self, peer: Address, link: LinkNumber, out: &mut Out) {
        if self.core.links.get(&peer) != Some(&link) {
            return;
        }
        self.core.links.remove(&peer);
        if let Role::Primary(primary) = &mut self.role {
            primary.on_link_down(&mut self.core, peer, out);
        }
    }

    fn on_wake(&mut self, out: &mut Out) -> Transition {
        while let Some(purpose) = self.core.timers.take_due(self.core.now) {
            if purpose == Purpose::Clock {
                self.core.ask_clock(out);
                continue;
            }
            let transition = match &mut self.role {
                Role::Nobody(nobody) => nobody.on_timer(&mut self.core, purpose, out),
                Role::Backup(backup) => backup.on_timer(&mut self.core, purpose, out),
                Role::Primary(primary) => primary.on_timer(&mut self.core, purpose, out),
                Role::Broken | Role::Left => Transition::Stay,
            };
            if !matches!(transition, Transition::Stay) {
                return transition;
            }
        }
        Transition::Stay
    }

    fn change_role(&mut self, transition: Transition, out: &mut Out) {
        match transition {
            Transition::Stay => (),
            Transition::Reign(reign) => {
                self.leave_role(out);
                self.role = Role::Primary(Box::new(Primary::begin(&mut self.core, reign, out)));
            }
            Transition::Follow(epoch, primary) => {
                self.leave_role(out);
                self.core.note(out, || Note::Follows { epoch });
                self.role = Role::Backup(Backup::begin(&mut self.core, epoch, primary, out));
            }
            Transition::Resign => {
                self.leave_role(out);
                self.role = Role::Nobody(Nobody::resigned(&mut self.core));
            }
            Transition::Break(why) => {
                self.leave_role(out);
                if why != DISK_FAILED {
                    self.core.note(out, || Note::Differs(why.clone()));
                }
                out.raise(Event::Broken(why));
                self.role = Role::Broken;
            }
            Transition::Leave => {
                self.leave_role(out);
                self.role = Role::Left;
            }
        }
    }

    /// The epoch in which it has a role.
    fn epoch(&self) -> Option<Epoch> {
        match &self.role {
            Role::Primary(it) => Some(it.epoch()),
            Role::Backup(it) => Some(it.epoch),
            Role::Nobody(_) | Role::Broken | Role::Left => None,
        }
    }

    /// Everything that belonged to the role ends with it.
    fn leave_role(&mut self, out: &mut Out) {
        if let Role::Primary(primary) = &mut self.role {
            primary.end(&self.core, out);
            out.raise(Event::Carrier(CarrierUpdate::Clear));
        }
        if let Some(epoch) = self.epoch() {
            self.core.note(out, || Note::Resigned { epoch });
        }
        for &purpose in <Purpose as machine::TimerName>::ALL {
            if purpose != Purpose::Clock {
                self.core.timers.stop(purpose);
            }
        }
    }
}

impl Machine for Replica {
    type Msg = Msg;
    type Command = Command;
    type Event = Event;

    fn handle(&mut self, now: Time, input: Input<Msg, Command>, out: &mut Out) {
        assert!(self.core.now <= now, "the driver turned time back");
        self.core.now = now;
        let transition = match input {
            Input::Command(command) => self.on_command(command, out),
            Input::LinkUp { peer, link } => {
                self.on_link_up(peer, link, out);
                Transition::Stay
            }
            Input::LinkDown { peer, link } => {
                self.on_link_down(peer, link, out);
                Transition::Stay
            }
            Input::Recv { from, link, msg } if self.core.links.get(&from) == Some(&link) => {
                self.on_message(from, msg, out)
            }
            Input::Recv { .. } => Transition::Stay,
            Input::Wake => self.on_wake(out),
        };
        self.change_role(transition, out);
    }

    fn deadline(&self) -> Option<Time> {
        match self.role {
            Role::Broken | Role::Left => None,
            _ => self.core.timers.deadline(),
        }
    }
}
