//! The steps of the model.

use super::*;

impl TransferZoneState {
    /// True if events change the avatar here.
    pub(super) fn acts(&self, flaw: Option<TransferFlaw>) -> bool {
        self.avatar.is_some() && (!self.offered || flaw == Some(TransferFlaw::OfferUnfrozen))
    }
}

impl TransferState {
    pub(super) fn step(&mut self, model: &TransferModel, action: TransferAction) {
        match action {
            TransferAction::Receive(msg) => {
                self.messages.remove(&msg);
                self.receive(model, msg, false);
            }
            TransferAction::ReceiveTwice(msg) => {
                self.left.repeats -= 1;
                self.receive(model, msg, false);
            }
            TransferAction::Lose(msg) => {
                self.left.losses -= 1;
                self.messages.remove(&msg);
            }
            TransferAction::Decline(msg) => {
                if matches!(msg, TransferMsg::To(_, TransferToZone::Post(_, TransferItem::Offer(_)))) {
                    self.left.declines -= 1;
                    self.messages.remove(&msg);
                    self.receive(model, msg, true);
                }
            }
            TransferAction::Safe(zone) => {
                self.zones[zone].log.make_safe();
                self.send_settled(model, zone);
            }
            TransferAction::Offer(zone) => self.offer(model, zone),
            TransferAction::PostAgain(zone) => self.post_again(model, zone),
            TransferAction::Send(wish) => self.send(wish),
            TransferAction::Search => self.search(),
            TransferAction::Crash(zone, keeps) => self.crash(zone, keeps),
        }
    }

    pub(super) fn avatars(&self) -> impl Iterator<Item = &TransferAvatar> {
        self.zones.iter().filter_map(|it| it.log.now().avatar.as_ref())
    }

    pub(super) fn is_over(&self, model: &TransferModel) -> bool {
        let TransferBounds { trips, wishes, .. } = model.bounds;
        let at_home = |it: &TransferPrimary| {
            let row = it.log.now();
            !row.offered && row.avatar.as_ref().is_some_and(|it| it.incarnation == 1 + trips)
        };
        self.avatars().count() == 1
            && self.zones.iter().any(at_home)
            && self.player.heard.len() == usize::from(wishes)
    }

    // The zones.

    fn receive(&mut self, model: &TransferModel, msg: TransferMsg, locked: bool) {
        match msg {
            TransferMsg::To(zone, TransferToZone::Act(wish)) => self.on_act(model, zone, wish),
            TransferMsg::To(zone, TransferToZone::Post(number, item)) => {
                self.on_post(model, zone, number, item, locked)
            }
            TransferMsg::To(zone, TransferToZone::Posted(upto)) => {
                let log = &mut self.zones[zone].log;
                let upto = upto.min(log.now().posted.len());
                if log.now().delivered < upto {
                    log.write(|it| it.delivered = upto);
                }
            }
            TransferMsg::Result(outcome) => {
                self.player.heard.entry(outcome.wish).or_insert(outcome);
            }
            TransferMsg::Arrived(zone, incarnation) => {
                if self.player.incarnation < incarnation {
                    (self.player.owner, self.player.incarnation) = (zone, incarnation);
                }
            }
        }
    }

    /// An action is executed if it is the next; its result is sent, now or again, when that is safe.
    fn on_act(&mut self, model: &TransferModel, zone: TransferZone, wish: u8) {
        let TransferPrimary { epoch, log, results, .. } = &mut self.zones[zone];
        let Some(avatar) = &log.now().avatar else { return };
        let cursor = avatar.done.len() as u8;
        if wish == cursor + 1 && log.now().acts(model.flaw) {
            let outcome = TransferOutcome { wish, zone, epoch: *epoch };
            log.write(|it| it.avatar.iter_mut().for_each(|it| it.done.push(outcome)));
            results.insert(wish);
        } else if wish <= cursor {
            results.insert(wish);
        }
    }

    /// Mirrors `offer_strayed` and `offer` of the code.
    fn offer(&mut self, model: &TransferModel, zone: TransferZone) {
        let log = &mut self.zones[zone].log;
        let Some(mut avatar) = log.now().avatar.clone() else { return };
        if log.now().offered || model.bounds.trips < avatar.incarnation {
            return;
        }
        if model.flaw == Some(TransferFlaw::CursorStays) {
            avatar.done.clear();
        }
        log.write(|it| {
            it.offered = true;
            it.posted.push(TransferItem::Offer(avatar));
            it.avatar.take_if(|_| model.flaw == Some(TransferFlaw::ForgetEarly));
        });
        if model.flaw == Some(TransferFlaw::OfferEarly) {
            self.send_post(zone, true);
        }
    }

    /// `on_post`: in order, and once.
    fn on_post(
        &mut self,
        model: &TransferModel,
        zone: TransferZone,
        number: usize,
        item: TransferItem,
        locked: bool,
    ) {
        let primary = &mut self.zones[zone];
        let taken = primary.log.now().taken;
        let is_next = number == taken + 1 || model.flaw == Some(TransferFlaw::TakeTwice);
        primary.owed = true;
        if is_next {
            primary.log.write(|it| it.taken = number.max(taken));
            let Some(row) = primary.log.tail.last_mut() else { return };
            primary.arrived |= row.take_item(item, locked);
        }
        if model.flaw == Some(TransferFlaw::TellEarly) {
            self.send_post(zone, true);
            self.send_receipt(zone);
        }
    }

    /// Sends what waits for a record: the post, receipts, results and arrivals. Safe and settled are one here: no disk is modelled.
    fn send_settled(&mut self, model: &TransferModel, zone: TransferZone) {
        self.send_post(zone, model.flaw == Some(TransferFlaw::TellEarly));
        if self.zones[zone].owed {
            self.send_receipt(zone);
        }
        let primary = &mut self.zones[zone];
        let (results, arrived) = (std::mem::take(&mut primary.results), std::mem::take(&mut primary.arrived));
        let Some(avatar) = &primary.log.safe.avatar else { return };
        let known = avatar.done.iter().filter(|it| results.contains(&it.wish));
        self.messages.extend(known.map(|&it| TransferMsg::Result(it)));
        self.messages.extend(arrived.then_some(TransferMsg::Arrived(zone, avatar.incarnation)));
    }

    fn send_post(&mut self, zone: TransferZone, early: bool) {
        let TransferPrimary { log, sent, .. } = &mut self.zones[zone];
        let row = if early { log.now() } else { &log.safe };
        let items = row.posted.iter().enumerate().skip((*sent).max(row.delivered));
        let other = 1 - zone;
        self.messages.extend(
            items.map(|(it, item)| TransferMsg::To(other, TransferToZone::Post(it + 1, item.clone()))),
        );
        *sent = row.posted.len().max(*sent);
    }

    fn send_receipt(&mut self, zone: TransferZone) {
        let primary = &mut self.zones[zone];
        primary.owed = false;
        self.messages.insert(TransferMsg::To(1 - zone, TransferToZone::Posted(primary.log.now().taken)));
    }

    /// Mirrors `maintain_post` of the code.
    fn post_again(&mut self, model: &TransferModel, zone: TransferZone) {
        let other = 1 - zone;
        let under_way = |it: &TransferMsg| {
            matches!(it, TransferMsg::To(to, TransferToZone::Post(..)) if *to == other)
                || matches!(it, TransferMsg::To(to, TransferToZone::Posted(_)) if *to == zone)
        };
        let waits = self.zones[other].owed || self.messages.iter().any(under_way);
        let primary = &mut self.zones[zone];
        let delivered = primary.log.now().delivered;
        if !waits && delivered < primary.log.safe.posted.len() {
            primary.sent = delivered;
            self.send_post(zone, model.flaw == Some(TransferFlaw::TellEarly));
        }
    }

    /// The backup goes on, with its log and nothing else.
    fn crash(&mut self, zone: TransferZone, keeps: usize) {
        self.left.crashes -= 1;
        let TransferPrimary { epoch, log, .. } = &self.zones[zone];
        let mut next = TransferPrimary { epoch: epoch + 1, log: log.clone(), ..TransferPrimary::default() };
        next.log.cut(keeps);
        self.zones[zone] = next;
    }

    // The player.

    fn send(&mut self, wish: u8) {
        let known = |it: &TransferMsg| match it {
            TransferMsg::To(_, TransferToZone::Act(it)) => *it == wish,
            TransferMsg::Result(it) => it.wish == wish,
            TransferMsg::To(..) | TransferMsg::Arrived(..) => false,
        };
        let owner = self.player.owner;
        let row = self.zones[owner].log.now();
        // Sent before its turn it would only be sent again; so it would if no zone there could execute it.
        let cursor = row.avatar.as_ref().map(|it| it.done.len() as u8);
        let in_vain = cursor.is_none_or(|it| it + 1 < wish || it < wish && row.offered);
        let waits = self.zones[owner].results.contains(&wish) || self.messages.iter().any(known);
        if !self.player.heard.contains_key(&wish) && !waits && !in_vain {
            self.messages.insert(TransferMsg::To(owner, TransferToZone::Act(wish)));
        }
    }

    /// A player can find out the zone of its avatar, once that is safe.
    fn search(&mut self) {
        let there =
            |zone: TransferZone| self.zones[zone].log.safe.avatar.as_ref().map(|it| (it.incarnation, zone));
        if let Some((incarnation, zone)) = [0, 1].into_iter().filter_map(there).max()
            && self.player.incarnation < incarnation
        {
            (self.player.owner, self.player.incarnation) = (zone, incarnation);
        }
    }
}

impl TransferZoneState {
    /// `take_offer` and `take_answer`; true if the avatar arrived.
    fn take_item(&mut self, item: TransferItem, locked: bool) -> bool {
        match item {
            TransferItem::Offer(avatar) => {
                self.posted.push(TransferItem::Answer(!locked));
                if !locked {
                    self.avatar = Some(TransferAvatar { incarnation: avatar.incarnation + 1, ..avatar });
                }
                !locked
            }
            TransferItem::Answer(is_taken) => {
                if std::mem::take(&mut self.offered) && is_taken {
                    self.avatar = None;
                }
                false
            }
        }
    }
}
