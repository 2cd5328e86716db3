//! A replica without a role: it has just started, or another one reigns.
//!
//! It reads what its disk holds, asks the directory who reigns, and says how far its own log goes. Whoever reigns
//! alone takes it on as the new backup. If nobody reigns because everything was stopped, the one of the two last
//! replicas with the longer log takes the throne.

use crate::backup;
use crate::core::{Answer, Ask, Core, Out, Purpose};
use crate::entry::Reign;
use crate::msg::Peer;
use crate::record::Index;
use crate::replica::Transition;
use crate::rule::Rule;
use machine::{Address, Lane};
use space::Epoch;
use std::collections::BTreeMap;

/// No role.
#[derive(Debug)]
pub(crate) struct Nobody {
    /// Whether the disk has said what it holds.
    recalled: bool,
    asked_disk: bool,
    /// How far the logs of others without a role go, and in which reign they said so.
    others: BTreeMap<Address, (Epoch, (Epoch, Index))>,
    copy: Option<backup::CopyIn>,
}

impl Nobody {
    pub(crate) const fn starting() -> Self {
        Self { recalled: false, asked_disk: false, others: BTreeMap::new(), copy: None }
    }

    pub(crate) fn resigned(core: &mut Core) -> Self {
        core.wake_after(Purpose::Ask, core.config.timing.ask);
        Self { recalled: true, asked_disk: true, others: BTreeMap::new(), copy: None }
    }

    pub(crate) fn on_recalled(&mut self, core: &mut Core, out: &mut Out) -> Transition {
        self.recalled = true;
        core.ask(Ask::Look, out);
        Transition::Stay
    }

    pub(crate) fn on_timer(&mut self, core: &mut Core, purpose: Purpose, out: &mut Out) -> Transition {
        if purpose != Purpose::Ask {
            return Transition::Stay;
        }
        let jitter = machine::Span::from_micros(core.rng.below(20_000));
        core.wake_after(Purpose::Ask, core.config.timing.ask + jitter);
        if !self.asked_disk {
            self.asked_disk = true;
            core.recall(out);
            return Transition::Stay;
        }
        if self.recalled {
            self.say_standing(core, out);
            core.ask(Ask::Look, out);
        }
        Transition::Stay
    }

    pub(crate) fn on_answer(&mut self, core: &mut Core, answer: Answer, out: &mut Out) -> Transition {
        match answer {
            Answer::Won(reign) => Transition::Reign(reign),
            Answer::Looked { .. } => self.judge(core, out),
            // Whatever happened, the next look will tell.
            Answer::Unknown(_) => Transition::Stay,
        }
    }

    pub(crate) fn on_peer(
        &mut self,
        core: &mut Core,
        from: Address,
        epoch: Epoch,
        peer: Peer,
        out: &mut Out,
    ) -> Transition {
        match peer {
            Peer::Standing { epoch: last, index } => {
                self.others.insert(from, (epoch, (last, index)));
                Transition::Stay
            }
            _ if !self.recalled || core.entry.is_none_or(|it| epoch < it.epoch || it.primary != from) => {
                Transition::Stay
            }
            Peer::Beacon { sent } => {
                core.send_peer(from, Core::key(1), epoch, Peer::Heard { sent }, out);
                Transition::Stay
            }
            Peer::Copy { index, offset, total, bytes } => {
                let copy = self.copy.get_or_insert_default();
                match copy.take(index, offset, total, &bytes) {
                    Some((snapshot, bytes)) => {
                        core.install(snapshot, bytes, out);
                        Transition::Follow(epoch, from)
                    }
                    None => Transition::Stay,
                }
            }
            Peer::Follow { epoch: last, index } if core.log.standing() == (last, index) => {
                Transition::Follow(epoch, from)
            }
            _ => Transition::Stay,
        }
    }

    fn say_standing(&self, core: &Core, out: &mut Out) {
        let (epoch, index) = core.log.standing();
        let reign = core.entry.map_or(Epoch(0), |it| it.epoch);
        for &peer in core.config.peers.iter().filter(|&&it| it != core.config.me) {
            core.send_peer(peer, Lane::Sure, reign, Peer::Standing { epoch, index }, out);
        }
    }

    /// Decides what to do about who reigns.
    fn judge(&mut self, core: &mut Core, out: &mut Out) -> Transition {
        let me = core.config.me;
        let Some(entry) = core.entry else {
            if core.config.founds && core.log.head() == 0 {
                core.ask(Ask::Swap(Reign::first(me)), out);
            }
            return Transition::Stay;
        };
        if !core.enforces(Rule::RestartLosesRole) && entry.primary == me && 0 < core.log.head() {
            return Transition::Reign(entry);
        }
        if !core.enforces(Rule::RestartedBackupRejoins) && entry.backup == Some(me) {
            return Transition::Follow(entry.epoch, entry.primary);
        }
        // A primary that has just won this swap without hearing so finds itself here, too: its log is what it
        // was when it asked, so it may as well begin anew.
        let partner = match entry {
            Reign { primary, backup: None, .. } if primary == me => return self.claim(core, entry, out),
            Reign { primary, backup: Some(partner), .. } if primary == me => partner,
            Reign { primary, backup: Some(backup), .. } if backup == me => primary,
            _ => return Transition::Stay,
        };
        let mine = core.log.standing();
        // What was said in another reign is out of date: they may have had a role since.
        let theirs = self.others.get(&partner).filter(|it| it.0 == entry.epoch).map(|it| it.1);
        let longer = match theirs {
            Some(theirs) if !core.enforces(Rule::LongerLogWins) => (mine, me) < (theirs, partner),
            Some(theirs) => (theirs, partner) < (mine, me),
            None => core.config.force,
        };
        if longer { self.claim(core, entry, out) } else { Transition::Stay }
    }

    fn claim(&self, core: &mut Core, entry: Reign, out: &mut Out) -> Transition {
        if core.log.head() == 0 && 1 < entry.epoch.0 {
            // The world's log is not here. Reigning over nothing would be losing it for good.
            return Transition::Stay;
        }
        if core.is_synced() {
            core.ask(Ask::Swap(entry.next(core.config.me, None)), out);
        } else {
            core.write_disk(out); // From the swap on our disk alone stands for the world.
        }
        Transition::Stay
    }
}
