//! What a peer does when others move: it notes where they are, and greets or turns away whoever it does not know.

use crate::config::{Checkers, NAMES_MAX, UnknownSender};
use crate::info::Info;
use crate::list::Entry;
use crate::msg::{Flags, Msg};
use crate::peer::{Event, Out, Peer};
use crate::travel::stride;
use machine::Address;
use space::{Distance, Position};

impl Peer {
    pub(crate) fn on_move(
        &mut self,
        from: Address,
        (sequence, position, aoi): (u32, Position, Option<Distance>),
        before: Option<Position>,
        (flags, met): (Flags, &[u32]),
        out: &mut Out,
    ) {
        if !self.ready || from == self.me.address {
            return;
        }
        if self.list.get(from).is_none() {
            let aoi = aoi.unwrap_or(self.config.aoi);
            let group = if self.mates.contains(&from) { self.me.group } else { 0 };
            let info = Info { address: from, life: 0, sequence, position, aoi, group };
            // In the paper a newcomer's first word is how it connects; ours greet.
            if flags.has(Flags::LIST) && !self.config.handshake {
                self.list.insert(Entry::new(info, self.now));
            } else if !self.meet(info, out) {
                return;
            }
        }
        let now = self.now;
        let (most, swept) = (self.me.aoi, self.config.swept);
        let Some(it) = self.list.get_mut(from) else { return };
        if self.config.handshake && !it.proven {
            return; // Their greeting is on its way, or ours.
        }
        (it.heard, it.moved, it.pinged, it.joining) = (now, now, None, false);
        (it.wanted, it.sparse) = (flags.has(Flags::WANT), flags.has(Flags::SPARSE));
        it.stride = before.filter(|_| swept).map_or(Distance::ZERO, |it| stride(it, position, most));
        it.knows.learn(met);
        let moved = Info { sequence, position, aoi: aoi.unwrap_or(it.info.aoi), ..it.info };
        let old = before.unwrap_or(it.info.position);
        let first = !std::mem::replace(&mut it.met, true);
        if first {
            out.raise(Event::Heard(from));
        }
        if first && self.config.handshake {
            self.list.begin(&moved);
        } else {
            self.list.update(&moved);
        }
        if flags.has(Flags::LIST) && !self.config.handshake {
            let all = self.list.iter().filter(|it| it.0 != from).map(|it| it.1.info).collect();
            self.drop_to([from], Msg::Nodes(all), out);
        }
        let asks = self
            .list
            .get(from)
            .is_some_and(|it| NAMES_MAX < it.knows.names.len() || it.knows.within.is_some());
        let checks = flags.has(Flags::BOUNDARY) || self.config.checkers == Checkers::Everybody;
        // Whoever is in a crowd asks by itself whom it lacks.
        if checks && !(asks && self.config.crowd.is_some()) {
            self.introduce(from, old, out);
        }
    }

    /// Somebody unknown is heard; whether they are in the list now.
    fn meet(&mut self, info: Info, out: &mut Out) -> bool {
        match self.config.unknown_sender {
            UnknownSender::Drop if !self.is_mate(&info) => false,
            UnknownSender::Drop | UnknownSender::Insert => {
                self.list.insert(Entry::new(info, self.now));
                true
            }
            UnknownSender::InsertIfRelevant => {
                self.tombs.remove(&info.address); // They speak for themselves.
                if self.take(info, out) {
                    return true;
                }
                self.drop_to([info.address], Msg::Stranger, out);
                false
            }
        }
    }
}
