//! Players: who is here, what they want, how they move.

use super::Primary;
use super::passage::stray_reach;
use super::work::{Subject, Work};
use super::write::Failed;
use crate::config::{AHEAD_MAX, MOVE_AHEAD_MAX};
use crate::core::{Core, Event, Out, Stage};
use crate::mesh::Being;
use crate::msg::{Closed, Down, Msg, Up};
use crate::plant::Plant;
use crate::record::{Cause, Change, Index};
use game::config::NAME_MAX;
use game::{Call, PlayerId, Viewer};
use machine::{Address, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, Motion, ObjectId, Position, ZoneId};
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
    /// Actions that wait for an earlier one, or for room, and since when.
    ahead: BTreeMap<u64, (ByteBuf, Time)>,
}

#[derive(Clone, Copy, Debug)]
struct Entering {
    after: Index,
    seen: Seen,
}

/// What a player has heard of this zone before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The last record.
    index: Index,
    /// Whether that record is not in our log: the world has lost its last moments.
    lost: bool,
}

/// Whether a record that was told in an epoch is not in our log.
fn has_lost(core: &Core, epoch: Epoch, index: Index) -> bool {
    core.log.head() < index || core.log.get(index).is_some_and(|it| epoch < it.epoch)
}

/// Everybody who is here.
#[derive(Debug, Default)]
pub(super) struct Clients {
    by_address: BTreeMap<Address, Client>,
    by_player: BTreeMap<PlayerId, Address>,
    by_avatar: BTreeMap<ObjectId, Address>,
    /// Players whose connection is gone, and since when.
    missing: BTreeMap<PlayerId, Time>,
    /// Whether somebody waits to be let in.
    knocking: bool,
    /// Whether somebody's actions wait for room.
    starved: bool,
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

    /// The connection of the player with this avatar, whether they are in or not yet.
    pub(super) fn with_avatar(&self, avatar: ObjectId) -> Option<Address> {
        self.by_avatar.get(&avatar).copied()
    }

    /// Up to which number a player has the results.
    pub(super) fn acked(&self, player: PlayerId) -> u64 {
        let address = self.by_player.get(&player);
        address.and_then(|it| self.by_address.get(it)).map_or(0, |it| it.acked)
    }

    /// Every connection.
    pub(super) fn addresses(&self) -> impl Iterator<Item = Address> {
        self.by_address.keys().copied()
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
        seen: Option<(ZoneId, Epoch, Index)>,
        out: &mut Out,
    ) {
        let seen = seen.filter(|it| it.0 == self.zone);
        let seen = seen.map(|it| Seen { index: it.2, lost: has_lost(core, it.1, it.2) }).unwrap_or_default();
        if self.clients.by_address.get(&from).is_some_and(|it| it.player == player && it.entering.is_some()) {
            return; // Asked twice; the answer is on its way.
        }
        if self.jobs.is_busy(Subject::Player(player)) {
            return; // Something is being done for them; they ask again.
        }
        let row = core.state.players.get(&player);
        let known = row.map_or(0, |it| it.session);
        if session < known {
            return self.say(from, Down::Closed(Closed::Superseded), out);
        }
        let resumes = row.is_some_and(|it| it.present && it.session == session && it.avatar.is_some());
        if resumes {
            return self.let_enter(core, from, player, seen, out);
        }
        if core.config.players_max <= self.clients.by_address.len() {
            return self.say(from, Down::Closed(Closed::Full), out);
        }
        let name: String = name.chars().filter(|it| !it.is_control()).take(NAME_MAX).collect();
        if let Some(avatar) = row.and_then(|it| it.avatar) {
            let change = Change::Entered { player, session, name, avatar };
            self.write(core, Cause::Join(player), vec![change], out);
            return self.let_enter(core, from, player, seen, out);
        }
        if row.is_none() && !self.may_begin(core, player) {
            return self.say(from, Down::NotHere { primary: None }, out);
        }
        self.perform(core, Work::Join { player, from, session, name, seen }, out);
        self.seen_to(core, out);
        self.enter_waiting(core, out);
    }

    /// Whether a player who was never here may begin here: they come in at their entrance, once.
    fn may_begin(&self, core: &Core, player: PlayerId) -> bool {
        !core.config.is_meshed()
            || self.entrance_zone(core, player) == self.zone
                && !core.state.abroad.lives.contains_key(&Being::Player(player))
    }

    fn let_enter(&mut self, core: &mut Core, from: Address, player: PlayerId, seen: Seen, out: &mut Out) {
        self.attach(core, from, player, seen, out);
        self.seen_to(core, out);
        self.enter_waiting(core, out);
    }

    /// Binds a connection to a player.
    pub(super) fn attach(&mut self, core: &Core, from: Address, player: PlayerId, seen: Seen, out: &mut Out) {
        let Some(avatar) = core.state.players.get(&player).and_then(|it| it.avatar) else { return };
        if let Some(old) = self.clients.of_player(player).filter(|&it| it != from) {
            self.say(old, Down::Closed(Closed::Superseded), out);
            self.detach(old, out);
        }
        self.detach(from, out);
        let class = core.state.objects.get(avatar).map_or(0, |it| core.config.rules.class(&it.state));
        let entering = Some(Entering { after: self.written(core), seen });
        let client = Client { player, avatar, class, entering, acked: 0, ahead: BTreeMap::new() };
        self.clients.knocking = true;
        self.clients.by_address.insert(from, client);
        self.clients.by_player.insert(player, from);
        self.clients.by_avatar.insert(avatar, from);
        self.clients.missing.remove(&player);
    }

    pub(super) fn detach(&mut self, address: Address, out: &mut Out) -> Option<PlayerId> {
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
        if !self.clients.knocking {
            return;
        }
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
        self.clients.knocking = self.clients.by_address.values().any(|it| it.entering.is_some());
    }

    fn let_in(&mut self, core: &mut Core, address: Address, seen: Seen, out: &mut Out) {
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
        let known = core.state.objects.get(avatar);
        let (incarnation, motion) = known.map_or_else(Default::default, |it| (it.incarnation, it.motion));
        let (time, backup) = (core.world_now(), self.mode.backup());
        let lost = seen.lost;
        self.say(address, Down::Entered { avatar, incarnation, lost, motion, cursor, time, backup }, out);
        let objects = self.sight(core, address, avatar);
        self.say(address, Down::Sight { index: self.announced, objects }, out);
        out.raise(Event::Stage(Stage::Listens(address, avatar)));
        if 0 < seen.index && !seen.lost {
            self.tell_missed(core, address, seen.index, out);
        }
    }

    fn on_leave(&mut self, core: &mut Core, from: Address, out: &mut Out) {
        let Some(player) = self.detach(from, out) else { return };
        if self.jobs.is_busy(Subject::Player(player)) {
            self.clients.missing.insert(player, Time::ZERO); // As soon as what they did is done.
            return;
        }
        self.leave(core, player, out);
        self.seen_to(core, out);
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
            let is_here = core.state.players.contains_key(&player);
            if is_here && self.jobs.is_busy(Subject::Player(player)) {
                continue;
            }
            self.clients.missing.remove(&player);
            self.leave(core, player, out);
            self.seen_to(core, out);
        }
    }

    fn leave(&mut self, core: &mut Core, player: PlayerId, out: &mut Out) {
        if core.state.players.get(&player).is_some_and(|it| it.present) {
            self.perform(core, Work::Leave(player), out);
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
        let is_free = !self.is_choked() && !self.jobs.is_busy(Subject::Player(player));
        if runs && is_free {
            self.act(core, player, number, action, core.now, out);
            self.act_waiting(core, from, out);
            self.seen_to(core, out);
        } else if number <= cursor {
            self.answer_again(core, from, player, number, out);
        } else {
            self.clients.starved |= self.is_choked();
            // At the limit the newest is dropped; its player sends it again after the next result.
            let Some(client) = self.clients.by_address.get_mut(&from) else { return };
            if client.ahead.len() < AHEAD_MAX {
                client.ahead.entry(number).or_insert((action, core.now));
            }
        }
    }

    /// Executes what waited for the action before it.
    pub(super) fn act_waiting(&mut self, core: &mut Core, from: Address, out: &mut Out) {
        while !self.is_choked() {
            let Some(client) = self.clients.by_address.get_mut(&from) else { return };
            let player = client.player;
            if self.jobs.is_busy(Subject::Player(player)) {
                return;
            }
            let cursor = core.state.players.get(&player).map_or(0, |it| it.cursor);
            client.ahead.retain(|&number, _| cursor < number);
            let Some((action, since)) = client.ahead.remove(&(cursor + 1)) else { return };
            self.act(core, player, cursor + 1, action, since, out);
        }
        self.clients.starved = true;
    }

    /// There is room again: go on with those who had to wait for it.
    pub(super) fn resume_choked(&mut self, core: &mut Core, out: &mut Out) {
        if self.is_choked() || !std::mem::take(&mut self.clients.starved) {
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
        player: PlayerId,
        number: u64,
        action: ByteBuf,
        since: Time,
        out: &mut Out,
    ) {
        // A planted mistake may ask for what was done before.
        if core.config.plants.has(Plant::NoCursor) {
            return self.act_blindly(core, player, number, &action, out);
        }
        self.perform_since(core, Work::Act { player, number, action }, since, out);
    }

    /// A planted mistake: an action is done whatever its number.
    fn act_blindly(&mut self, core: &mut Core, player: PlayerId, number: u64, action: &[u8], out: &mut Out) {
        let Some(actor) = core.state.players.get(&player).and_then(|it| it.avatar) else { return };
        let call = Call::Act { actor, action };
        let (now, rules) = (core.world_now(), core.config.rules.clone());
        let result = match rules.scope(&core.state.objects, now, call) {
            Ok(scope) => self.execute(core, call, scope),
            Err(why) => Err(Failed::refused(why)),
        };
        let work = Work::Act { player, number, action: ByteBuf::new() };
        self.finish(core, &work, result, out);
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

    /// Whether somebody of ours may be at a place: in the world, and not far beyond our border.
    fn may_be_at(&self, core: &Core, place: Position) -> bool {
        if !core.config.is_meshed() {
            return core.config.region().contains(place);
        }
        core.config.map.bounds().contains(place) && core.config.region().meets_disc(place, stray_reach())
    }

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
                && self.may_be_at(core, motion.position)
                && core.config.rules.allows(&object.state, &before, motion).is_ok();
            if !allowed {
                return self.say(from, Down::Corrected(before), out);
            }
            self.set_motion(core, avatar, *motion);
            self.moved.insert(avatar);
            self.stage_motion(avatar, motion, out);
        }
        let (generation, sequence) = (motion.generation, motion.sequence);
        let moved = Down::Moved { generation, sequence, time: now };
        out.send(from, Core::key(8), Msg::Down(self.zone, self.epoch, moved));
    }
}
