//! One replica of one zone: a machine with a role that changes.
//!
//! Unassigned → (follows) Backup → (wins a swap) Primary → (loses one) Unassigned. Every change of leadership is one
//! successful compare-and-swap in the directory, and each begins a new epoch.

use crate::backup::Backup;
use crate::carrier_update::CarrierUpdate;
use crate::config::ZoneConfig;
use crate::core::{Core, DirectoryAnswer, ReplicaCommand, ReplicaEvent, ReplicaOutbox, ReplicaTimer};
use crate::leadership::Leadership;
use crate::load_level::LoadLevel;
use crate::msg::{BetweenReplicas, FromPlayer, ToPlayer, ZoneMsg};
use crate::note::Note;
use crate::object_table::Object;
use crate::primary::{Primary, ZoneSender};
use crate::record::Index;
use crate::unassigned::Unassigned;
use crate::zone_state::ZoneState;
use machine::{Address, Input, Lane, LinkNumber, Machine, Span, Time, disk};
use space::{Epoch, ZoneId};

/// A replica of a zone.
pub struct Replica {
    core: Core,
    role: Role,
}

/// The role of a replica, with everything that only this role needs.
pub(crate) enum Role {
    /// It has just started, or lost its role.
    Unassigned(Unassigned),
    /// It follows a primary and acknowledges.
    Backup(Backup),
    /// It decides the zone's events.
    Primary(Box<Primary>),
    /// Its disk failed, or its state is not what the log says. It does nothing any more.
    Broken,
    /// It was told to leave, and only brings its disk up to date.
    Left,
}

/// A change of role that a role asks for.
pub(crate) enum Transition {
    /// The role stays as it is.
    Stay,
    /// A swap was won: become the primary.
    Lead(Leadership),
    /// Become the backup of this primary, in this epoch.
    Follow(Epoch, Address),
    /// Another replica leads: the role is lost.
    LoseRole,
    /// The replica cannot go on, and why.
    Break(String),
    /// The host ends the replica.
    Leave,
}

/// The one reason for giving up that is no mistake of the replica.
const DISK_FAILED: &str = "the disk failed";

/// The role of a replica at the moment, for people and checkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaStatus {
    /// It has no role at the moment.
    Unassigned,
    /// Backup of a primary in this epoch.
    Backup(Epoch),
    /// Primary in this epoch, alone or with a backup.
    Primary(Epoch, Alone),
    /// It does nothing any more.
    Broken,
}

/// Sizes of everything a replica holds only for a while: checkers watch that they stay bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicaLoad {
    /// Number of events that wait for locks.
    pub jobs: usize,
    /// Number of locks held or waited for.
    pub locks: usize,
    /// Bytes of records that were written and not announced.
    pub pending_bytes: usize,
    /// The most actions of one player that wait for an earlier one.
    pub ahead: usize,
    /// Number of records in memory.
    pub tail: u64,
    /// Number of them that the disk, the backup or an announcement still needs.
    pub needed: u64,
    /// Rises whenever old records could be forgotten.
    pub progress: Index,
    /// Number of entries that were served in full although the player was in over the same link.
    pub repeated_entries: u64,
    /// Time for which a backup waits for a silent primary.
    pub grace: Span,
}

/// How much a primary has to do, as its host reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimaryStatus {
    /// Number of players whose avatars the zone owns.
    pub players: usize,
    /// The load level.
    pub level: LoadLevel,
    /// How late the primary was lately.
    pub late: Span,
}

/// Whether a primary has no backup that acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    /// It has a backup that acknowledges.
    No,
    /// It relies on its own disk.
    Yes,
}

impl Replica {
    /// A replica that has just started: without a role, and with an empty state until its disk answers.
    pub fn new(config: ZoneConfig) -> Self {
        let mut core = Core::new(config);
        core.timers.set(ReplicaTimer::Ask, Time::ZERO);
        core.timers.set(ReplicaTimer::Clock, Time::ZERO);
        Self { core, role: Role::Unassigned(Unassigned::starting()) }
    }

    /// The state that the log adds up to.
    pub const fn state(&self) -> &ZoneState {
        &self.core.state
    }

    /// World time, as the replica estimates it.
    pub fn world_time(&self, now: Time) -> Time {
        self.core.world_time(now)
    }

    /// Number of the last record in its log.
    pub fn head(&self) -> Index {
        self.core.log.head()
    }

    /// Whether its whole log is on its disk.
    pub fn is_synced(&self) -> bool {
        self.core.is_synced()
    }

    /// The role of the replica at the moment.
    pub fn status(&self) -> ReplicaStatus {
        match &self.role {
            Role::Unassigned(_) => ReplicaStatus::Unassigned,
            Role::Backup(backup) => ReplicaStatus::Backup(backup.epoch),
            Role::Primary(primary) => {
                let alone = if primary.is_alone() { Alone::Yes } else { Alone::No };
                ReplicaStatus::Primary(primary.epoch(), alone)
            }
            // To its host a replica that left is as good as broken: neither does anything any more.
            Role::Broken | Role::Left => ReplicaStatus::Broken,
        }
    }

    /// A primary's ghosts, with the zones that own the objects; empty in any other role.
    pub fn ghosts(&self) -> Vec<(ZoneId, Object)> {
        match &self.role {
            Role::Primary(primary) => primary.ghosts(),
            _ => Vec::new(),
        }
    }

    /// How much it has to do, if it is a primary.
    pub fn primary_status(&self) -> Option<PrimaryStatus> {
        match &self.role {
            Role::Primary(primary) => Some(primary.status(&self.core)),
            _ => None,
        }
    }

    /// Sizes that checkers compare with their bounds.
    pub fn load(&self) -> ReplicaLoad {
        let (head, tail) = (self.core.log.head(), self.core.log.tail());
        let written = head - self.core.disk.written.min(head);
        match &self.role {
            Role::Primary(primary) => primary.load(&self.core),
            Role::Backup(backup) => {
                let grace = backup.grace(&self.core);
                ReplicaLoad { tail, needed: written, progress: head, grace, ..ReplicaLoad::default() }
            }
            // A replica without a role appends no records, and need not trim any: all of the tail counts as needed.
            Role::Unassigned(_) | Role::Broken | Role::Left => {
                ReplicaLoad { tail, needed: tail, progress: head, ..ReplicaLoad::default() }
            }
        }
    }

    fn on_command(&mut self, command: ReplicaCommand, out: &mut ReplicaOutbox) -> Transition {
        match command {
            ReplicaCommand::Disk(disk::DiskReply::Failed { .. }) => Transition::Break(DISK_FAILED.to_owned()),
            ReplicaCommand::Disk(disk::DiskReply::Recalled { recalled, .. }) => {
                match self.core.load_recalled(recalled, out) {
                    Ok(()) => match &mut self.role {
                        Role::Unassigned(unassigned) => unassigned.on_recalled(&mut self.core, out),
                        // Only a replica that starts asks the disk, but it may have been told to leave since.
                        _ => Transition::Stay,
                    },
                    Err(why) => Transition::Break(why),
                }
            }
            ReplicaCommand::Disk(disk::DiskReply::Persisted { ticket }) => {
                if !self.core.disk.done(ticket) {
                    return Transition::Stay;
                }
                match &mut self.role {
                    Role::Primary(primary) => primary.on_persisted(&mut self.core, out),
                    Role::Backup(backup) => backup.on_persisted(&mut self.core, out),
                    Role::Left => self.core.write_disk(out), // Records may have waited for the disk.
                    Role::Unassigned(_) | Role::Broken => (),
                }
                Transition::Stay
            }
            ReplicaCommand::Leave => self.on_leave(out),
            ReplicaCommand::Hold => {
                self.core.hold();
                Transition::Stay
            }
            ReplicaCommand::Directory(reply) => {
                let Some(answer) = self.core.on_directory_reply(reply) else { return Transition::Stay };
                self.on_answer(answer, out)
            }
        }
    }

    /// Sends the other replicas what a replica without a role sends: to them it is as if it had died and come back, so
    /// they take over at once instead of waiting for its silence.
    fn on_leave(&mut self, out: &mut ReplicaOutbox) -> Transition {
        if let Some(role_epoch) = self.epoch() {
            let (epoch, index) = self.core.log.end();
            for &replica in self.core.config.replicas.iter().filter(|&&it| it != self.core.config.me) {
                self.core.send_replica(
                    replica,
                    Lane::Sure,
                    role_epoch,
                    BetweenReplicas::LogEnd { epoch, index },
                    out,
                );
            }
        }
        self.core.write_disk(out);
        Transition::Leave
    }

    fn on_answer(&mut self, answer: DirectoryAnswer, out: &mut ReplicaOutbox) -> Transition {
        match &mut self.role {
            Role::Unassigned(unassigned) => unassigned.on_answer(&mut self.core, answer, out),
            Role::Backup(backup) => backup.on_answer(&mut self.core, answer, out),
            Role::Primary(primary) => primary.on_answer(&mut self.core, answer, out),
            Role::Broken | Role::Left => Transition::Stay,
        }
    }

    fn on_message(&mut self, from: Address, msg: ZoneMsg, out: &mut ReplicaOutbox) -> Transition {
        match msg {
            // A player cannot pretend to be a replica.
            ZoneMsg::BetweenReplicas(epoch, msg) if self.core.config.replicas.contains(&from) => {
                self.on_replica_message(from, epoch, msg, out)
            }
            ZoneMsg::FromPlayer(msg) => {
                self.on_player_message(from, msg, out);
                Transition::Stay
            }
            ZoneMsg::BetweenZones(zone, epoch, time, msg) => {
                // A backup ignores it: the sender asks all replicas of a zone until the primary answers.
                if let Role::Primary(primary) = &mut self.role {
                    let from = ZoneSender { address: from, zone, epoch, time };
                    primary.on_mesh(&mut self.core, &from, msg, out);
                }
                Transition::Stay
            }
            // Forged, or meant for a player.
            ZoneMsg::BetweenReplicas(..) | ZoneMsg::ToPlayer(..) => Transition::Stay,
        }
    }

    fn on_replica_message(
        &mut self,
        from: Address,
        epoch: Epoch,
        msg: BetweenReplicas,
        out: &mut ReplicaOutbox,
    ) -> Transition {
        match &mut self.role {
            Role::Unassigned(unassigned) => {
                unassigned.on_replica_message(&mut self.core, from, epoch, msg, out)
            }
            Role::Backup(backup) => backup.on_replica_message(&mut self.core, from, epoch, msg, out),
            Role::Primary(primary) => primary.on_replica_message(&mut self.core, from, epoch, msg, out),
            Role::Broken | Role::Left => Transition::Stay,
        }
    }

    fn on_player_message(&mut self, from: Address, msg: FromPlayer, out: &mut ReplicaOutbox) {
        if let Role::Primary(primary) = &mut self.role {
            return primary.on_player_message(&mut self.core, from, msg, out);
        }
        // Only to messages that wait for an answer: a move or an acknowledgement may be on its way from before.
        if matches!(msg, FromPlayer::Enter { .. } | FromPlayer::Act { .. }) {
            let epoch = self.core.leadership.map_or(Epoch(0), |it| it.epoch);
            let primary = self.core.leadership.map(|it| it.primary);
            let zone = self.core.config.zone;
            out.send(from, Lane::Sure, ZoneMsg::ToPlayer(zone, epoch, ToPlayer::NotHere { primary }));
        }
    }

    fn on_link_up(&mut self, peer: Address, link: LinkNumber, out: &mut ReplicaOutbox) {
        self.core.links.insert(peer, link);
        match &mut self.role {
            Role::Primary(primary) => primary.on_link_up(&mut self.core, peer, out),
            Role::Unassigned(_) if self.core.config.replicas.contains(&peer) => {
                // Another replica can be reached: exchange the ends of the logs now, not at the next interval.
                self.core.wake_within(ReplicaTimer::Ask, Span::ZERO);
            }
            _ => (),
        }
    }

    fn on_link_down(&mut self, peer: Address, link: LinkNumber, out: &mut ReplicaOutbox) {
        if self.core.links.get(&peer) != Some(&link) {
            return; // A newer link has replaced it already.
        }
        self.core.links.remove(&peer);
        if let Role::Primary(primary) = &mut self.role {
            primary.on_link_down(&mut self.core, peer, out);
        }
    }

    fn on_wake(&mut self, out: &mut ReplicaOutbox) -> Transition {
        self.core.measure_lateness();
        while let Some(timer) = self.core.timers.take_due(self.core.now) {
            if timer == ReplicaTimer::Clock {
                self.core.ask_clock(out);
                continue;
            }
            let transition = match &mut self.role {
                Role::Unassigned(unassigned) => unassigned.on_timer(&mut self.core, timer, out),
                Role::Backup(backup) => backup.on_timer(&mut self.core, timer, out),
                Role::Primary(primary) => primary.on_timer(&mut self.core, timer, out),
                Role::Broken | Role::Left => Transition::Stay,
            };
            if !matches!(transition, Transition::Stay) {
                return transition; // The other timers that are due belong to the role that ends.
            }
        }
        Transition::Stay
    }

    fn change_role(&mut self, transition: Transition, out: &mut ReplicaOutbox) {
        match transition {
            Transition::Stay => (),
            Transition::Lead(leadership) => {
                self.leave_role(out);
                self.role = Role::Primary(Box::new(Primary::begin(&mut self.core, leadership, out)));
            }
            Transition::Follow(epoch, primary) => {
                self.leave_role(out);
                self.core.note(out, || Note::Follows { epoch });
                self.role = Role::Backup(Backup::begin(&mut self.core, epoch, primary, out));
            }
            Transition::LoseRole => {
                self.leave_role(out);
                self.role = Role::Unassigned(Unassigned::after_losing_role(&mut self.core));
            }
            Transition::Break(why) => {
                self.leave_role(out);
                // A disk may fail; that the state differs from the log is a violation.
                if why != DISK_FAILED {
                    self.core.note(out, || Note::Differs(why.clone()));
                }
                out.raise(ReplicaEvent::Broken(why));
                self.role = Role::Broken;
            }
            Transition::Leave => {
                self.leave_role(out);
                self.role = Role::Left;
            }
        }
    }

    /// The epoch of its role; `None` without a role.
    fn epoch(&self) -> Option<Epoch> {
        match &self.role {
            Role::Primary(it) => Some(it.epoch()),
            Role::Backup(it) => Some(it.epoch),
            Role::Unassigned(_) | Role::Broken | Role::Left => None,
        }
    }

    /// Everything that belonged to the role ends with it.
    fn leave_role(&mut self, out: &mut ReplicaOutbox) {
        if let Role::Primary(primary) = &mut self.role {
            primary.end(&self.core, out);
            out.raise(ReplicaEvent::Carrier(CarrierUpdate::Clear));
        }
        if let Some(epoch) = self.epoch() {
            self.core.note(out, || Note::RoleLost { epoch });
        }
        for &timer in <ReplicaTimer as machine::TimerName>::ALL {
            // World time is followed in every role.
            if timer != ReplicaTimer::Clock {
                self.core.timers.stop(timer);
            }
        }
    }
}

impl Machine for Replica {
    type Msg = ZoneMsg;
    type Command = ReplicaCommand;
    type Event = ReplicaEvent;

    fn handle(&mut self, now: Time, input: Input<ZoneMsg, ReplicaCommand>, out: &mut ReplicaOutbox) {
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
            Input::Recv { .. } => Transition::Stay, // From a link that was replaced.
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
