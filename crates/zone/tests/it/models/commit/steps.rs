//! What happens in a step.

use super::*;

impl Decider {
    /// `Jobs::wants`.
    fn wants(&self, event: Event, attempt: u8) -> bool {
        self.job.as_ref().is_some_and(|it| it.event == event && it.attempt == attempt)
    }

    fn has_posted(&self, part: Part, event: Event) -> bool {
        let now = self.log.now();
        now.done.iter().skip(now.delivered[part]).any(|it| *it == event)
    }

    /// `on_ask`: whether it says that an event never happens.
    fn disowns(&self, flaw: Option<Flaw>, part: Part, event: Event, attempt: u8) -> bool {
        if self.epoch < event.0 && flaw != Some(Flaw::OldAnswers) {
            return false;
        }
        let is_posted = self.has_posted(part, event) && flaw != Some(Flaw::JobsOnly);
        !is_posted && !self.wants(event, attempt)
    }

    /// `send_post`: what may leave.
    fn posts(&mut self, flaw: Option<Flaw>) -> Vec<Msg> {
        let log = if flaw == Some(Flaw::PostEarly) { self.log.now() } else { &self.log.safe };
        let mut posts = Vec::new();
        for (part, sent) in self.sent.iter_mut().enumerate() {
            let first = (*sent).max(log.delivered[part]);
            let items = log.done.iter().enumerate().skip(first);
            posts.extend(items.map(|(number, &event)| Msg {
                part,
                epoch: self.epoch,
                says: Says::Post(number + 1, event),
            }));
            *sent = log.done.len();
        }
        posts.retain(|it| it.part == 0 || flaw != Some(Flaw::OneIsForgotten));
        posts
    }
}

impl State {
    pub(super) fn step(&mut self, model: &Commit, action: Action) {
        match action {
            Action::Hear(msg) => {
                self.messages.remove(&msg);
                self.hear(model, msg);
            }
            Action::HearTwice(msg) => {
                self.left.repeats -= 1;
                self.hear(model, msg);
            }
            Action::HearOld(msg) => self.hear_old(model, msg),
            Action::Lose(msg) => {
                self.left.losses -= 1;
                self.messages.remove(&msg);
            }
            Action::Start => self.start(model),
            Action::SafeDecider => {
                self.decider.log.make_safe();
                self.messages.extend(self.decider.posts(model.flaw));
            }
            Action::Safe(part) => {
                self.members[part].log.make_safe();
                self.tell(model, part);
            }
            Action::GiveUp => {
                self.left.give_ups -= 1;
                self.try_again();
            }
            Action::Late if self.is_lost() => self.try_again(),
            Action::Late => (),
            Action::Ask(part) => {
                self.left.asks -= 1;
                self.ask(part);
            }
            Action::AskLate(part) => self.ask_late(model, part),
            Action::PostAgain(part) => self.post_again(model, part),
            Action::CrashDecider(keeps) => self.crash_decider(keeps),
            Action::Crash(part, keeps) => {
                self.left.part_crashes -= 1;
                let mut log = self.members[part].log.clone();
                log.cut(keeps);
                self.members[part] = Member { log, ..Member::default() };
            }
            Action::TakeBack(part) => self.release(model, part),
        }
    }

    pub(super) fn is_over(&self, model: &Commit) -> bool {
        let done = &self.decider.log.now().done;
        let is_done = |it: &Member| it.log.now().applied == *done && it.log.now().held.is_none();
        done.len() == model.bounds.wishes
            && self.members.iter().all(|it| is_done(it) && it.waiting.is_empty())
    }

    fn send(&mut self, part: Part, epoch: u8, says: Says) {
        self.messages.insert(Msg { part, epoch, says });
    }

    fn hear(&mut self, model: &Commit, Msg { part, epoch, says }: Msg) {
        match says {
            Says::Granted(event, attempt) => return self.on_granted(model, part, event, attempt),
            Says::Ask(event, attempt) => {
                if self.decider.disowns(model.flaw, part, event, attempt) {
                    self.send(part, self.decider.epoch, Says::Release(event, attempt));
                }
                return;
            }
            Says::Posted(upto) => {
                let upto = upto.min(self.decider.log.now().done.len());
                if self.decider.log.now().delivered[part] < upto {
                    self.decider.log.write(|it| it.delivered[part] = upto);
                }
                return;
            }
            Says::Lock(..) | Says::Release(..) | Says::Post(..) => (),
        }
        // It is believed only in the highest epoch heard of.
        if epoch < self.members[part].heard {
            return;
        }
        self.members[part].heard = epoch;
        match says {
            Says::Lock(event, attempt) => self.on_lock(model, part, event, attempt),
            Says::Release(event, attempt) => self.on_release(model, part, event, attempt),
            Says::Post(number, event) => self.on_post(model, part, number, event),
            Says::Granted(..) | Says::Ask(..) | Says::Posted(..) => (),
        }
    }

    /// A reign that is over answers questions as if it were not.
    fn hear_old(&mut self, model: &Commit, msg: Msg) {
        let (Some(old), Says::Ask(event, attempt)) = (&self.old, msg.says) else { return };
        let (epoch, disowns) = (old.epoch, old.disowns(model.flaw, msg.part, event, attempt));
        self.messages.remove(&msg);
        if disowns {
            self.send(msg.part, epoch, Says::Release(event, attempt));
        }
    }

    // The zone that decides.

    fn start(&mut self, model: &Commit) {
        let decider = &mut self.decider;
        if decider.job.is_some() || model.bounds.wishes <= decider.log.now().done.len() {
            return;
        }
        decider.last += 1;
        let event = Event(decider.epoch, decider.last);
        decider.job = Some(Job { event, attempt: 0, granted: BTreeSet::new() });
        self.try_again();
    }

    /// `fail` and `attempt`.
    fn try_again(&mut self) {
        let epoch = self.decider.epoch;
        let Some(job) = &mut self.decider.job else { return };
        let (event, attempt) = (job.event, job.attempt);
        job.attempt += 1;
        job.granted.clear();
        for part in 0..self.members.len() {
            if 0 < attempt {
                self.send(part, epoch, Says::Release(event, attempt));
            }
            self.send(part, epoch, Says::Lock(event, attempt + 1));
        }
    }

    /// Whether somebody who was asked will never answer.
    fn is_lost(&self) -> bool {
        let Some(job) = &self.decider.job else { return false };
        let wanted = (job.event, job.attempt);
        let of_it = |says: Says| match says {
            Says::Lock(it, _) | Says::Release(it, _) | Says::Granted(it, _) => it == job.event,
            Says::Ask(..) | Says::Post(..) | Says::Posted(_) => false,
        };
        self.members.iter().enumerate().any(|(part, it)| {
            let under_way = self.messages.iter().any(|it| it.part == part && of_it(it.says));
            let knows = it.waiting.contains(&wanted) || it.answer == Some(wanted);
            !job.granted.contains(&part) && !under_way && !knows
        })
    }

    /// `on_granted`, and `run`: the record is the decision.
    fn on_granted(&mut self, model: &Commit, part: Part, event: Event, attempt: u8) {
        if !self.decider.wants(event, attempt) {
            return self.release_there(model, part, event, attempt);
        }
        let Some(job) = &mut self.decider.job else { return };
        job.granted.insert(part);
        if job.granted.len() < model.bounds.parts {
            return;
        }
        self.decider.job = None;
        self.decider.log.write(|it| it.done.push(event));
        if model.flaw == Some(Flaw::PostEarly) {
            self.messages.extend(self.decider.posts(model.flaw));
        }
    }

    /// `release_there`.
    fn release_there(&mut self, model: &Commit, part: Part, event: Event, attempt: u8) {
        let is_posted = self.decider.has_posted(part, event) && model.flaw != Some(Flaw::GrantUnwanted);
        if !is_posted {
            self.send(part, self.decider.epoch, Says::Release(event, attempt));
        }
    }

    /// `look_after_post`.
    fn post_again(&mut self, model: &Commit, part: Part) {
        let ours = |it: &&Msg| it.part == part && matches!(it.says, Says::Post(..) | Says::Posted(..));
        let owed = self.members[part].owed;
        let decider = &mut self.decider;
        let delivered = decider.log.now().delivered[part];
        if owed || self.messages.iter().any(|it| ours(&it)) || decider.log.safe.done.len() <= delivered {
            return;
        }
        decider.sent[part] = delivered;
        self.messages.extend(self.decider.posts(model.flaw));
    }

    /// The backup goes on in a new epoch; who reigned before may not know.
    fn crash_decider(&mut self, keeps: usize) {
        self.left.crashes -= 1;
        let mut log = self.decider.log.clone();
        log.cut(keeps);
        let parts = self.members.len();
        let next = Decider { epoch: self.decider.epoch + 1, log, job: None, last: 0, sent: vec![0; parts] };
        self.old = Some(std::mem::replace(&mut self.decider, next));
    }

    // The zones that take part.

    /// `on_lock`.
    fn on_lock(&mut self, model: &Commit, part: Part, event: Event, attempt: u8) {
        let member = &self.members[part];
        if member.waiting.iter().any(|it| it.0 == event) {
            return;
        }
        match member.log.now().held {
            Some((held, it)) if held == event && it < attempt => self.release(model, part),
            Some((held, _)) if held == event => return,
            _ => (),
        }
        self.members[part].waiting.push((event, attempt));
        self.grant_next(model, part);
    }

    fn grant_next(&mut self, model: &Commit, part: Part) {
        let member = &mut self.members[part];
        if member.log.now().held.is_some() || member.waiting.is_empty() {
            return;
        }
        let next = member.waiting.remove(0);
        member.log.write(|it| it.held = Some(next));
        member.answer = Some(next);
        if model.flaw == Some(Flaw::GrantEarly) {
            self.tell(model, part);
        }
    }

    /// `send_granted`, and what is owed to the post.
    fn tell(&mut self, model: &Commit, part: Part) {
        let member = &mut self.members[part];
        let upto = member.log.safe.applied.len();
        let (answer, held) = (member.answer.take(), member.log.now().held);
        let owed = model.flaw != Some(Flaw::GrantEarly) || member.log.tail.is_empty();
        let owed = owed && std::mem::take(&mut member.owed);
        if let Some((event, attempt)) = answer.filter(|it| held == Some(*it)) {
            self.send(part, 0, Says::Granted(event, attempt));
        }
        if owed {
            self.send(part, 0, Says::Posted(upto));
        }
    }

    /// `on_release`.
    fn on_release(&mut self, model: &Commit, part: Part, event: Event, attempt: u8) {
        let member = &mut self.members[part];
        member.waiting.retain(|it| it.0 != event || attempt < it.1);
        if member.log.now().held.is_some_and(|it| it.0 == event && it.1 <= attempt) {
            self.release(model, part);
        }
    }

    fn release(&mut self, model: &Commit, part: Part) {
        if self.members[part].log.now().held.is_some() {
            self.members[part].answer = None;
            self.members[part].log.write(|it| it.held = None);
            self.grant_next(model, part);
        }
    }

    /// `on_post`: in order, and once.
    fn on_post(&mut self, model: &Commit, part: Part, number: usize, event: Event) {
        let member = &mut self.members[part];
        let taken = member.log.now().applied.len();
        if number == taken + 1 {
            member.log.write(|it| {
                it.applied.push(event);
                it.held.take_if(|it| it.0 == event);
            });
        }
        member.owed = true;
        self.grant_next(model, part);
    }

    fn ask(&mut self, part: Part) {
        if let Some((event, attempt)) = self.members[part].log.now().held {
            self.send(part, 0, Says::Ask(event, attempt));
        }
    }

    /// `look_after_grants`, when the answer will be that it never happens.
    fn ask_late(&mut self, model: &Commit, part: Part) {
        let Some((event, attempt)) = self.members[part].log.now().held else { return };
        let disowned = self.decider.disowns(None, part, event, attempt);
        let says = [Says::Ask(event, attempt), Says::Release(event, attempt)];
        let under_way = self.messages.iter().any(|it| it.part == part && says.contains(&it.says));
        if disowned && !under_way && model.flaw != Some(Flaw::NobodyAsks) {
            self.ask(part);
        }
    }
}
