//! What happens in a step.

use super::*;

impl Row {
    /// Whether things happen to the avatar here.
    pub(super) fn acts(&self, flaw: Option<Flaw>) -> bool {
        self.avatar.is_some() && (!self.offered || flaw == Some(Flaw::OfferUnfrozen))
    }
}

impl State {
    pub(super) fn step(&mut self, model: &Transfer, action: Action) {
        match action {
            Action::Hear(msg) => {
                self.messages.remove(&msg);
                self.hear(model, msg, false);
            }
            Action::HearTwice(msg) => {
                self.left.repeats -= 1;
                self.hear(model, msg, false);
            }
            Action::Lose(msg) => {
                self.left.losses -= 1;
                self.messages.remove(&msg);
            }
            Action::Decline(msg) => {
                if matches!(msg, Msg::To(_, Says::Post(_, Item::Offer(_)))) {
                    self.left.declines -= 1;
                    self.messages.remove(&msg);
                    self.hear(model, msg, true);
                }
            }
            Action::Safe(zone) => {
                self.zones[zone].log.make_safe();
                self.tell(model, zone);
            }
            Action::Offer(zone) => self.offer(model, zone),
            Action::PostAgain(zone) => self.post_again(model, zone),
            Action::Send(wish) => self.send(wish),
            Action::Search => self.search(),
            Action::Crash(zone, keeps) => self.crash(zone, keeps),
        }
    }

    pub(super) fn avatars(&self) -> impl Iterator<Item = &Avatar> {
        self.zones.iter().filter_map(|it| it.log.now().avatar.as_ref())
    }

    pub(super) fn is_over(&self, model: &Transfer) -> bool {
        let Bounds { trips, wishes, .. } = model.bounds;
        let at_home = |it: &Primary| {
            let row = it.log.now();
            !row.offered && row.avatar.as_ref().is_some_and(|it| it.incarnation == 1 + trips)
        };
        self.avatars().count() == 1
            && self.zones.iter().any(at_home)
            && self.player.heard.len() == usize::from(wishes)
    }

    // The zones.

    fn hear(&mut self, model: &Transfer, msg: Msg, locked: bool) {
        match msg {
            Msg::To(zone, Says::Act(wish)) => self.on_act(model, zone, wish),
            Msg::To(zone, Says::Post(number, item)) => self.on_post(model, zone, number, item, locked),
            Msg::To(zone, Says::Posted(upto)) => {
                let log = &mut self.zones[zone].log;
                let upto = upto.min(log.now().posted.len());
                if log.now().delivered < upto {
                    log.write(|it| it.delivered = upto);
                }
            }
            Msg::Result(outcome) => {
                self.player.heard.entry(outcome.wish).or_insert(outcome);
            }
            Msg::Arrived(zone, incarnation) => {
                if self.player.incarnation < incarnation {
                    (self.player.home, self.player.incarnation) = (zone, incarnation);
                }
            }
        }
    }

    /// An action is executed if it is the next; its result is told, now or again, when that is safe.
    fn on_act(&mut self, model: &Transfer, zone: Zone, wish: u8) {
        let Primary { epoch, log, results, .. } = &mut self.zones[zone];
        let Some(avatar) = &log.now().avatar else { return };
        let cursor = avatar.done.len() as u8;
        if wish == cursor + 1 && log.now().acts(model.flaw) {
            let outcome = Outcome { wish, zone, epoch: *epoch };
            log.write(|it| it.avatar.iter_mut().for_each(|it| it.done.push(outcome)));
            results.insert(wish);
        } else if wish <= cursor {
            results.insert(wish);
        }
    }

    /// `offer_strayed` and `offer`.
    fn offer(&mut self, model: &Transfer, zone: Zone) {
        let log = &mut self.zones[zone].log;
        let Some(mut avatar) = log.now().avatar.clone() else { return };
        if log.now().offered || model.bounds.trips < avatar.incarnation {
            return;
        }
        if model.flaw == Some(Flaw::CursorStays) {
            avatar.done.clear();
        }
        log.write(|it| {
            it.offered = true;
            it.posted.push(Item::Offer(avatar));
            it.avatar.take_if(|_| model.flaw == Some(Flaw::ForgetEarly));
        });
        if model.flaw == Some(Flaw::OfferEarly) {
            self.send_post(zone, true);
        }
    }

    /// `on_post`: in order, and once.
    fn on_post(&mut self, model: &Transfer, zone: Zone, number: usize, item: Item, locked: bool) {
        let primary = &mut self.zones[zone];
        let taken = primary.log.now().taken;
        let is_next = number == taken + 1 || model.flaw == Some(Flaw::TakeTwice);
        primary.owed = true;
        if is_next {
            primary.log.write(|it| it.taken = number.max(taken));
            let Some(row) = primary.log.tail.last_mut() else { return };
            primary.arrived |= row.deal_with(item, locked);
        }
        if model.flaw == Some(Flaw::TellEarly) {
            self.send_post(zone, true);
            self.send_receipt(zone);
        }
    }

    /// Tells what is safe: the post, receipts, results and arrivals.
    fn tell(&mut self, model: &Transfer, zone: Zone) {
        self.send_post(zone, model.flaw == Some(Flaw::TellEarly));
        if self.zones[zone].owed {
            self.send_receipt(zone);
        }
        let primary = &mut self.zones[zone];
        let (results, arrived) = (std::mem::take(&mut primary.results), std::mem::take(&mut primary.arrived));
        let Some(avatar) = &primary.log.safe.avatar else { return };
        let known = avatar.done.iter().filter(|it| results.contains(&it.wish));
        self.messages.extend(known.map(|&it| Msg::Result(it)));
        self.messages.extend(arrived.then_some(Msg::Arrived(zone, avatar.incarnation)));
    }

    fn send_post(&mut self, zone: Zone, early: bool) {
        let Primary { log, sent, .. } = &mut self.zones[zone];
        let row = if early { log.now() } else { &log.safe };
        let items = row.posted.iter().enumerate().skip((*sent).max(row.delivered));
        let other = 1 - zone;
        self.messages.extend(items.map(|(it, item)| Msg::To(other, Says::Post(it + 1, item.clone()))));
        *sent = row.posted.len().max(*sent);
    }

    fn send_receipt(&mut self, zone: Zone) {
        let primary = &mut self.zones[zone];
        primary.owed = false;
        self.messages.insert(Msg::To(1 - zone, Says::Posted(primary.log.now().taken)));
    }

    /// `look_after_post`.
    fn post_again(&mut self, model: &Transfer, zone: Zone) {
        let other = 1 - zone;
        let under_way = |it: &Msg| {
            matches!(it, Msg::To(to, Says::Post(..)) if *to == other)
                || matches!(it, Msg::To(to, Says::Posted(_)) if *to == zone)
        };
        let waits = self.zones[other].owed || self.messages.iter().any(under_way);
        let primary = &mut self.zones[zone];
        let delivered = primary.log.now().delivered;
        if !waits && delivered < primary.log.safe.posted.len() {
            primary.sent = delivered;
            self.send_post(zone, model.flaw == Some(Flaw::TellEarly));
        }
    }

    /// The backup goes on, with its log and nothing else.
    fn crash(&mut self, zone: Zone, keeps: usize) {
        self.left.crashes -= 1;
        let Primary { epoch, log, .. } = &self.zones[zone];
        let mut next = Primary { epoch: epoch + 1, log: log.clone(), ..Primary::default() };
        next.log.cut(keeps);
        self.zones[zone] = next;
    }

    // The player.

    fn send(&mut self, wish: u8) {
        let known = |it: &Msg| match it {
            Msg::To(_, Says::Act(it)) => *it == wish,
            Msg::Result(it) => it.wish == wish,
            Msg::To(..) | Msg::Arrived(..) => false,
        };
        let home = self.player.home;
        let row = self.zones[home].log.now();
        // Sent before its turn it would only be sent again; so it would if nobody there could do anything.
        let cursor = row.avatar.as_ref().map(|it| it.done.len() as u8);
        let in_vain = cursor.is_none_or(|it| it + 1 < wish || it < wish && row.offered);
        let waits = self.zones[home].results.contains(&wish) || self.messages.iter().any(known);
        if !self.player.heard.contains_key(&wish) && !waits && !in_vain {
            self.messages.insert(Msg::To(home, Says::Act(wish)));
        }
    }

    /// Anybody can find out where somebody is, once that is safe.
    fn search(&mut self) {
        let there = |zone: Zone| self.zones[zone].log.safe.avatar.as_ref().map(|it| (it.incarnation, zone));
        if let Some((incarnation, zone)) = [0, 1].into_iter().filter_map(there).max()
            && self.player.incarnation < incarnation
        {
            (self.player.home, self.player.incarnation) = (zone, incarnation);
        }
    }
}

impl Row {
    /// `take_offer` and `take_answer`; whether somebody arrived.
    fn deal_with(&mut self, item: Item, locked: bool) -> bool {
        match item {
            Item::Offer(avatar) => {
                self.posted.push(Item::Answer(!locked));
                if !locked {
                    self.avatar = Some(Avatar { incarnation: avatar.incarnation + 1, ..avatar });
                }
                !locked
            }
            Item::Answer(is_taken) => {
                if std::mem::take(&mut self.offered) && is_taken {
                    self.avatar = None;
                }
                false
            }
        }
    }
}
