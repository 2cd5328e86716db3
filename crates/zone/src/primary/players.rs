//! Players: who is here, what they want, how they move.

use super::Primary;
use super::write::{Executed, Failed};
use crate::config::{AHEAD_MAX, MOVE_AHEAD_MAX};
use crate::core::{Core, Event, Out, Stage};
use crate::msg::{Closed, Down, Msg, Up};
use crate::plant::Plant;
use crate::record::{Cause, Change, Index, Outcome};
use game::config::NAME_MAX;
use game::{Call, PlayerId, Refused, Viewer};
use machine::{Address, Lane, Time};
use serde_bytes::ByteBuf;
use space::{Motion, ObjectId};
use std::collections::BTreeMap;

/// A connection that plays, or wants to.
#[derive(Debug)]
struct Client {
    player: PlayerId,
    avatar: ObjectId,
    class: u8,
    /// Until everything up to this record is told, the player is not told to be in.
    entering: Option<Entering>,
    /// Results up to this number have arrived.
    acked: u64,
    /// Actions that wait for an earlier one, or for room.
    ahead: BTreeMap<u64, ByteBuf>,
}

#[derive(Clone, Copy, Debug)]
struct Entering {
    after: Index,
    /// The last record the player has heard of.
    seen: Index,
}

/// Everybody who is here.
#[derive(Debug, Default)]
pub(super) struct Clients {
    by_address: BTreeMap<Address, Client>,
    by_player: BTreeMap<PlayerId, Address>,
    by_avatar: BTreeMap<ObjectId, Address>,
    /// Players whose connection is gone, and since when.
    missing: BTreeMap<PlayerId, Time>,
}

impl Clients {
    pub(super) fn of_player(&self, player: PlayerId) -> Option<Address> {
        self.by_player.get(&player).copied()
    }

    /// The connection of the player with this avatar, if they are in.
    pub(super) fn of_avatar(&self, avatar: ObjectId) -> Option<Address> {
        let address = self.by_avatar.get(&avatar).copied()?;
        self.by_address.get(&address).filter(|it| it.entering.is_none()).map(|_| address)
    }

    /// As whom this connection looks at an object.
    pub(super) fn viewer(&self, address: Address, object: ObjectId) -> Option<Viewer> {
        self.by_address.get(&address).map(|it| Viewer { owns: it.avatar == object, class: it.class })
    }

    /// Everybody who is in, with their avatars.
    pub(super) fn entered(&self) -> Vec<(Address, ObjectId)> {
        let inside = self.by_address.iter().filter(|(_, it)| it.entering.is_none());
        inside.map(|(&address, it)| (address, it.avatar)).collect()
    }

    /// The most actions of one player that wait.
    pub(super) fn ahead(&self) -> usize {
        self.by_address.values().map(|it| it.ahead.len()).max().unwrap_or(0)
    }

    pub(super) fn send_all_away(&self, epoch: space::Epoch, primary: Option<Address>, out: &mut Out) {
        let all = self.by_address.keys().copied();
        out.send_many(all, Lane::Sure, Msg::Down(epoch, Down::NotHere { primary }));
    }

    fn remove(&mut self, address: Address) -> Option<Client> {
        let client = self.by_address.remove(&address)?;
        if self.by_player.get(&client.player) == Some(&address) {
            self.by_player.remove(&client.player);
        }
        if self.by_avatar.get(&client.avatar) == Some(&address) {
            self.by_avatar.remove(&client.avatar);
        }
        Some(client)
    }
}

impl Primary {
    pub(crate) fn on_up(&mut self, core: &mut Core, from: Address, up: Up, out: &mut Out) {
        match up {
            Up::Enter { player, session, name, seen } => {
                self.on_enter(core, from, player, session, &name, seen, out)
            }
            Up::Act { number, acked, motion, action } => {
                self.on_act(core, from, number, acked, motion, action, out)
            }
            Up::Move(motion) => self.on_move(core, from, &motion, out),
            Up::Ack(acked) => {
                if let Some(client) = self.clients.by_address.get_mut(&from) {
                    client.acked = client.acked.max(acked);
                }
            }
            Up::Leave => self.on_leave(core, from, out),
        }
    }

    // Coming and going.

    #[expect(clippy::too_many_arguments, reason = "the fields of one message")]
    fn on_enter(
        &mut self,
        core: &mut Core,
        from: Address,
        player: PlayerId,
        session: u64,
        name: &str,
        seen: Index,
        out: &mut Out,
    ) {
        if self.clients.by_address.get(&from).is_some_and(|it| it.player == player && it.entering.is_some()) {
            return; // Asked twice; the answer is on its way.
        }
        let row = core.state.players.get(&player);
        let known = row.map_or(0, |it| it.session);
        if session < known {
            return self.say(from, Down::Closed(Closed::Superseded), out);
        }
        let resumes = row.is_some_and(|it| it.present && it.session == session && it.avatar.is_some());
        if !resumes {
            if core.config.players_max <= self.clients.by_address.len() {
                return self.say(from, Down::Closed(Closed::Full), out);
            }
            if !self.join(core, player, session, name, out) {
                return self.say(from, Down::Closed(Closed::Refused), out);
            }
        }
        self.attach(core, from, player, seen, out);
        self.seen_to(core, out);
        self.enter_waiting(core, out);
    }

    /// Gives a player an avatar, or back the one that waited. Whether it worked.
    fn join(&mut self, core: &mut Core, player: PlayerId, session: u64, name: &str, out: &mut Out) -> bool {
        let name: String = name.chars().filter(|it| !it.is_control()).take(NAME_MAX).collect();
        let waiting = core.state.players.get(&player).and_then(|it| it.avatar);
        if let Some(avatar) = waiting {
            let change = Change::Entered { player, session, name, avatar };
            self.write(core, Cause::Join(player), vec![change], out);
            return true;
        }
        match self.execute(core, Call::Join { player, name: &name }) {
            Ok(executed) => {
                let Some(avatar) = executed.ran.avatar.filter(|it| executed.product.writes.contains_key(it))
                else {
                    out.raise(Event::Fault("Game::on_join must return an avatar that it spawned".to_owned()));
                    return false;
                };
                // The avatar is put first, so that the player's row can name it.
                self.write_join(
                    core,
                    player,
                    Change::Entered { player, session, name, avatar },
                    executed,
                    out,
                );
                true
            }
            Err(failed) => {
                self.tell_fault(failed.why, out);
                false
            }
        }
    }

    fn write_join(
        &mut self,
        core: &mut Core,
        player: PlayerId,
        entered: Change,
        executed: Executed,
        out: &mut Out,
    ) {
        self.write_product(core, Cause::Join(player), vec![entered], executed, out);
    }

    /// Binds a connection to a player.
    fn attach(&mut self, core: &Core, from: Address, player: PlayerId, seen: Index, out: &mut Out) {
        let Some(avatar) = core.state.players.get(&player).and_then(|it| it.avatar) else { return };
        if let Some(old) = self.clients.of_player(player).filter(|&it| it != from) {
            self.say(old, Down::Closed(Closed::Superseded), out);
            self.detach(old, out);
        }
        self.detach(from, out);
        let class = core.state.objects.get(avatar).map_or(0, |it| core.config.rules.class(&it.state));
        let entering = Some(Entering { after: self.written(core), seen });
        let client = Client { player, avatar, class, entering, acked: 0, ahead: BTreeMap::new() };
        self.clients.by_address.insert(from, client);
        self.clients.by_player.insert(player, from);
        self.clients.by_avatar.insert(avatar, from);
        self.clients.missing.remove(&player);
    }

    fn detach(&mut self, address: Address, out: &mut Out) -> Option<PlayerId> {
        let client = self.clients.remove(address)?;
        self.views.forget_viewer(address);
        out.raise(Event::Stage(Stage::Deaf(address)));
        Some(client.player)
    }

    fn written(&self, core: &Core) -> Index {
        core.log.head()
    }

    /// Tells those who wait for it that they are in.
    pub(super) fn enter_waiting(&mut self, core: &mut Core, out: &mut Out) {
        let announced = self.announced;
        let ready = |it: &Client| it.entering.filter(|it| it.after <= announced);
        let ready: Vec<_> = self
            .clients
            .by_address
            .iter()
            .filter_map(|(&address, it)| ready(it).map(|entering| (address, entering)))
            .collect();
        for (address, entering) in ready {
            self.let_in(core, address, entering.seen, out);
        }
    }

    fn let_in(&mut self, core: &mut Core, address: Address, seen: Index, out: &mut Out) {
        let Some(client) = self.clients.by_address.get_mut(&address) else { return };
        client.entering = None;
        let (player, avatar) = (client.player, client.avatar);
        let row = core.state.players.get(&player).and_then(|it| it.avatar.map(|avatar| (it.cursor, avatar)));
        let Some((cursor, avatar)) = row.filter(|it| it.1 == avatar) else {
            // The avatar is gone before its player was in: they ask again.
            self.say(address, Down::NotHere { primary: Some(core.config.me) }, out);
            self.detach(address, out);
            return;
        };
        let motion = core.state.objects.get(avatar).map_or_else(Motion::default, |it| it.motion);
        let (time, backup) = (core.world_now(), self.mode.backup());
        self.say(address, Down::Entered { avatar, motion, cursor, time, backup }, out);
        let objects = self.sight(core, address, avatar);
        self.say(address, Down::Sight { index: self.announced, objects }, out);
        out.raise(Event::Stage(Stage::Listens(address, avatar)));
        if 0 < seen {
            self.tell_missed(core, address, seen, out);
        }
    }

    fn on_leave(&mut self, core: &mut Core, from: Address, out: &mut Out) {
        if let Some(player) = self.detach(from, out) {
            self.leave(core, player, out);
            self.seen_to(core, out);
        }
    }

    /// The game removed the avatar of somebody who plays: they come in again, with a new one.
    pub(super) fn send_away(&mut self, core: &Core, avatar: ObjectId, out: &mut Out) {
        if let Some(address) = self.clients.by_avatar.get(&avatar).copied() {
            self.say(address, Down::NotHere { primary: Some(core.config.me) }, out);
            self.detach(address, out);
        }
    }

    pub(super) fn client_lost(&mut self, core: &Core, address: Address, out: &mut Out) {
        if let Some(player) = self.detach(address, out) {
            self.clients.missing.insert(player, core.now);
        }
    }

    /// Ends the sessions of those who have been away for too long, also of those who never came back after a
    /// failover.
    pub(super) fn let_leave(&mut self, core: &mut Core, out: &mut Out) {
        let now = core.now;
        for (&player, row) in &core.state.players {
            if row.present && !self.clients.by_player.contains_key(&player) {
                self.clients.missing.entry(player).or_insert(now);
            }
        }
        let patience = core.config.timing.leave;
        let gone: Vec<_> = self
            .clients
            .missing
            .iter()
            .filter(|(_, since)| patience < now.since(**since))
            .map(|it| *it.0)
            .collect();
        for player in gone {
            if self.is_choked() {
                return;
            }
            self.clients.missing.remove(&player);
            self.leave(core, player, out);
            self.seen_to(core, out);
        }
    }

    fn leave(&mut self, core: &mut Core, player: PlayerId, out: &mut Out) {
        let Some(row) = core.state.players.get(&player).filter(|it| it.present) else { return };
        let (cause, left) = (Cause::Leave(player), Change::Left { player });
        let Some(avatar) = row.avatar else { return self.write(core, cause, vec![left], out) };
        match self.execute(core, Call::Leave { avatar }) {
            Ok(executed) => self.write_product(core, cause, vec![left], executed, out),
            Err(failed) => {
                self.tell_fault(failed.why, out);
                self.write(core, cause, vec![left], out);
            }
        }
    }

    // Actions.

    #[expect(clippy::too_many_arguments, reason = "the fields of one message")]
    fn on_act(
        &mut self,
        core: &mut Core,
        from: Address,
        number: u64,
        acked: u64,
        motion: Motion,
        action: ByteBuf,
        out: &mut Out,
    ) {
        self.on_move(core, from, &motion, out);
        let Some(client) = self.clients.by_address.get_mut(&from) else { return };
        client.acked = client.acked.max(acked);
        let player = client.player;
        let cursor = core.state.players.get(&player).map_or(0, |it| it.cursor);
        let plants = core.config.plants;
        let runs = number == cursor + 1 || plants.has(Plant::NoCursor);
        if runs && !self.is_choked() {
            self.act(core, from, player, number, &action, out);
            self.act_waiting(core, from, out);
            self.seen_to(core, out);
        } else if number <= cursor {
            self.answer_again(core, from, player, number, out);
        } else {
            // At the limit the newest is dropped; its player sends it again after the next result.
            let Some(client) = self.clients.by_address.get_mut(&from) else { return };
            if client.ahead.len() < AHEAD_MAX {
                client.ahead.insert(number, action);
            }
        }
    }

    /// Executes what waited for the action before it.
    fn act_waiting(&mut self, core: &mut Core, from: Address, out: &mut Out) {
        while !self.is_choked() {
            let Some(client) = self.clients.by_address.get_mut(&from) else { return };
            let player = client.player;
            let cursor = core.state.players.get(&player).map_or(0, |it| it.cursor);
            client.ahead.retain(|&number, _| cursor < number);
            let Some(action) = client.ahead.remove(&(cursor + 1)) else { return };
            self.act(core, from, player, cursor + 1, &action, out);
        }
    }

    /// There is room again: go on with those who had to wait for it.
    pub(super) fn resume_choked(&mut self, core: &mut Core, out: &mut Out) {
        if self.is_choked() {
            return;
        }
        let waiting: Vec<_> = self
            .clients
            .by_address
            .iter()
            .filter(|(_, it)| !it.ahead.is_empty())
            .map(|(&address, _)| address)
            .collect();
        let before = core.log.head();
        for address in waiting {
            self.act_waiting(core, address, out);
        }
        if before < core.log.head() {
            if self.needs_disk(core) {
                core.write_disk(out);
            }
            self.pass_on(core, out);
        }
    }

    fn act(
        &mut self,
        core: &mut Core,
        from: Address,
        player: PlayerId,
        number: u64,
        action: &[u8],
        out: &mut Out,
    ) {
        let acked = self.clients.by_address.get(&from).map_or(0, |it| it.acked);
        let avatar = core.state.players.get(&player).and_then(|it| it.avatar);
        let executed = match avatar {
            Some(actor) => self.execute(core, Call::Act { actor, action }),
            None => Err(Failed { why: Refused::Fault("there is no avatar to act".to_owned()), note: None }),
        };
        let forgets = core.config.plants.has(Plant::ForgetResults);
        let acked = if forgets { number } else { acked };
        let cause = Cause::Act(player, number);
        match executed {
            Ok(executed) => {
                let acted = Change::Acted { player, number, outcome: Outcome::Done, acked };
                self.write_product(core, cause, vec![acted], executed, out);
            }
            Err(failed) => {
                let outcome = match &failed.why {
                    Refused::ByGame(bytes) => Outcome::Refused(ByteBuf::from(bytes.clone())),
                    Refused::Fault(text) => Outcome::Fault(text.clone()),
                };
                self.tell_fault(failed.why, out);
                let acted = Change::Acted { player, number, outcome, acked };
                self.write_noted(core, cause, vec![acted], failed.note.map(|it| *it), out);
            }
        }
    }

    /// An action that was dealt with before: its result, if it is safe to tell and still kept.
    fn answer_again(&mut self, core: &Core, from: Address, player: PlayerId, number: u64, out: &mut Out) {
        if core.config.plants.has(Plant::ForgetResults) {
            return;
        }
        let told_later = self.pending.iter().any(|it| it.record.cause == Cause::Act(player, number));
        let outcome = core.state.players.get(&player).and_then(|it| it.result(number)).cloned();
        if let Some(outcome) = outcome.filter(|_| !told_later) {
            self.say(from, Down::Result { number, outcome, index: 0 }, out);
        }
    }

    // Moves.

    fn on_move(&mut self, core: &mut Core, from: Address, motion: &Motion, out: &mut Out) {
        let Some(client) = self.clients.by_address.get(&from).filter(|it| it.entering.is_none()) else {
            return;
        };
        let avatar = client.avatar;
        let now = core.world_now();
        let Some(object) = core.state.objects.get(avatar) else { return };
        let before = object.motion;
        // An event has set the motion since: what the player sent before they knew does not count.
        if motion.generation == before.generation && motion.is_newer_than(&before) {
            let allowed = before.start <= motion.start
                && motion.start.time() <= now + MOVE_AHEAD_MAX
                && core.config.region.contains(motion.position)
                && core.config.rules.allows(&object.state, &before, motion).is_ok();
            if !allowed {
                return self.say(from, Down::Corrected(before), out);
            }
            core.state.objects.set_motion(avatar, *motion);
            self.moved.insert(avatar);
            self.stage_motion(avatar, motion, out);
        }
        let (generation, sequence) = (motion.generation, motion.sequence);
        let moved = Down::Moved { generation, sequence, time: now };
        out.send(from, Core::key(8), Msg::Down(self.epoch, moved));
    }
}
