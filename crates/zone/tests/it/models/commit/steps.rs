//! The steps of the model.

use super::*;

impl CommitCoordinator {
    /// Mirrors `Jobs::wants` of the code.
    fn wants(&self, event: CommitEvent, attempt: u8) -> bool {
        self.job.as_ref().is_some_and(|it| it.event == event && it.attempt == attempt)
    }

    fn has_posted(&self, part: ParticipantId, event: CommitEvent) -> bool {
        let now = self.log.now();
        now.done.iter().skip(now.delivered[part]).any(|it| *it == event)
    }

    /// `on_ask`: true if the answer is that the event never happens.
    fn disowns(
        &self,
        flaw: Option<CommitFlaw>,
        part: ParticipantId,
        event: CommitEvent,
        attempt: u8,
    ) -> bool {
        if self.epoch < event.0 && flaw != Some(CommitFlaw::OldAnswers) {
            return false;
        }
        let is_posted = self.has_posted(part, event) && flaw != Some(CommitFlaw::JobsOnly);
        !is_posted && !self.wants(event, attempt)
    }

    /// `PostDelivery::send`: the items that may leave.
    fn posts(&mut self, flaw: Option<CommitFlaw>) -> Vec<CommitEnvelope> {
        let log = if flaw == Some(CommitFlaw::PostEarly) { self.log.now() } else { &self.log.safe };
        let mut posts = Vec::new();
        for (part, sent) in self.sent.iter_mut().enumerate() {
            let first = (*sent).max(log.delivered[part]);
            let items = log.done.iter().enumerate().skip(first);
            posts.extend(items.map(|(number, &event)| CommitEnvelope {
                part,
                epoch: self.epoch,
                says: CommitMsg::Post(number + 1, event),
            }));
            *sent = log.done.len();
        }
        posts.retain(|it| it.part == 0 || flaw != Some(CommitFlaw::SkipParticipant));
        posts
    }
}

impl CommitState {
    pub(super) fn step(&mut self, model: &CommitModel, action: CommitAction) {
        match action {
            CommitAction::Receive(msg) => {
                self.messages.remove(&msg);
                self.receive(model, msg);
            }
            CommitAction::ReceiveTwice(msg) => {
                self.left.repeats -= 1;
                self.receive(model, msg);
            }
            CommitAction::ReceiveByDeposed(msg) => self.receive_by_deposed(model, msg),
            CommitAction::Lose(msg) => {
                self.left.losses -= 1;
                self.messages.remove(&msg);
            }
            CommitAction::Start => self.start(model),
            CommitAction::SafeCoordinator => {
                self.coordinator.log.make_safe();
                self.messages.extend(self.coordinator.posts(model.flaw));
            }
            CommitAction::Safe(part) => {
                self.participants[part].log.make_safe();
                self.send_settled(model, part);
            }
            CommitAction::GiveUp => {
                self.left.give_ups -= 1;
                self.try_again();
            }
            CommitAction::Late if self.is_lost() => self.try_again(),
            CommitAction::Late => (),
            CommitAction::Ask(part) => {
                self.left.asks -= 1;
                self.ask(part);
            }
            CommitAction::AskLate(part) => self.ask_late(model, part),
            CommitAction::PostAgain(part) => self.post_again(model, part),
            CommitAction::CrashCoordinator(keeps) => self.crash_coordinator(keeps),
            CommitAction::Crash(part, keeps) => {
                self.left.part_crashes -= 1;
                let mut log = self.participants[part].log.clone();
                log.cut(keeps);
                self.participants[part] = CommitParticipant { log, ..CommitParticipant::default() };
            }
            CommitAction::TakeBack(part) => self.release(model, part),
        }
    }

    pub(super) fn is_over(&self, model: &CommitModel) -> bool {
        let done = &self.coordinator.log.now().done;
        let is_done = |it: &CommitParticipant| it.log.now().applied == *done && it.log.now().held.is_none();
        done.len() == model.bounds.wishes
            && self.participants.iter().all(|it| is_done(it) && it.waiting.is_empty())
    }

    fn send(&mut self, part: ParticipantId, epoch: u8, says: CommitMsg) {
        self.messages.insert(CommitEnvelope { part, epoch, says });
    }

    fn receive(&mut self, model: &CommitModel, CommitEnvelope { part, epoch, says }: CommitEnvelope) {
        match says {
            CommitMsg::Granted(event, attempt) => return self.on_granted(model, part, event, attempt),
            CommitMsg::Ask(event, attempt) => {
                if self.coordinator.disowns(model.flaw, part, event, attempt) {
                    self.send(part, self.coordinator.epoch, CommitMsg::Release(event, attempt));
                }
                return;
            }
            CommitMsg::Posted(upto) => {
                let upto = upto.min(self.coordinator.log.now().done.len());
                if self.coordinator.log.now().delivered[part] < upto {
                    self.coordinator.log.write(|it| it.delivered[part] = upto);
                }
                return;
            }
            CommitMsg::Lock(..) | CommitMsg::Release(..) | CommitMsg::Post(..) => (),
        }
        // A participant believes only the highest epoch that it has seen.
        if epoch < self.participants[part].heard {
            return;
        }
        self.participants[part].heard = epoch;
        match says {
            CommitMsg::Lock(event, attempt) => self.on_lock(model, part, event, attempt),
            CommitMsg::Release(event, attempt) => self.on_release(model, part, event, attempt),
            CommitMsg::Post(number, event) => self.on_post(model, part, number, event),
            CommitMsg::Granted(..) | CommitMsg::Ask(..) | CommitMsg::Posted(..) => (),
        }
    }

    /// A deposed primary answers questions as if it were not deposed.
    fn receive_by_deposed(&mut self, model: &CommitModel, msg: CommitEnvelope) {
        let (Some(deposed), CommitMsg::Ask(event, attempt)) = (&self.deposed, msg.says) else { return };
        let (epoch, disowns) = (deposed.epoch, deposed.disowns(model.flaw, msg.part, event, attempt));
        self.messages.remove(&msg);
        if disowns {
            self.send(msg.part, epoch, CommitMsg::Release(event, attempt));
        }
    }

    // The coordinator.

    fn start(&mut self, model: &CommitModel) {
        let coordinator = &mut self.coordinator;
        if coordinator.job.is_some() || model.bounds.wishes <= coordinator.log.now().done.len() {
            return;
        }
        coordinator.last += 1;
        let event = CommitEvent(coordinator.epoch, coordinator.last);
        coordinator.job = Some(CommitJob { event, attempt: 0, granted: BTreeSet::new() });
        self.try_again();
    }

    /// Mirrors `fail` and `attempt` of the code.
    fn try_again(&mut self) {
        let epoch = self.coordinator.epoch;
        let Some(job) = &mut self.coordinator.job else { return };
        let (event, attempt) = (job.event, job.attempt);
        job.attempt += 1;
        job.granted.clear();
        for part in 0..self.participants.len() {
            if 0 < attempt {
                self.send(part, epoch, CommitMsg::Release(event, attempt));
            }
            self.send(part, epoch, CommitMsg::Lock(event, attempt + 1));
        }
    }

    /// True if a participant that was asked will never answer.
    fn is_lost(&self) -> bool {
        let Some(job) = &self.coordinator.job else { return false };
        let wanted = (job.event, job.attempt);
        let of_it = |says: CommitMsg| match says {
            CommitMsg::Lock(it, _) | CommitMsg::Release(it, _) | CommitMsg::Granted(it, _) => it == job.event,
            CommitMsg::Ask(..) | CommitMsg::Post(..) | CommitMsg::Posted(_) => false,
        };
        self.participants.iter().enumerate().any(|(part, it)| {
            let under_way = self.messages.iter().any(|it| it.part == part && of_it(it.says));
            let knows = it.waiting.contains(&wanted) || it.answer == Some(wanted);
            !job.granted.contains(&part) && !under_way && !knows
        })
    }

    /// `on_granted`, and `run`: the record is the decision.
    fn on_granted(&mut self, model: &CommitModel, part: ParticipantId, event: CommitEvent, attempt: u8) {
        if !self.coordinator.wants(event, attempt) {
            return self.release_there(model, part, event, attempt);
        }
        let Some(job) = &mut self.coordinator.job else { return };
        job.granted.insert(part);
        if job.granted.len() < model.bounds.parts {
            return;
        }
        self.coordinator.job = None;
        self.coordinator.log.write(|it| it.done.push(event));
        if model.flaw == Some(CommitFlaw::PostEarly) {
            self.messages.extend(self.coordinator.posts(model.flaw));
        }
    }

    /// Mirrors `release_there` of the code.
    fn release_there(&mut self, model: &CommitModel, part: ParticipantId, event: CommitEvent, attempt: u8) {
        let is_posted =
            self.coordinator.has_posted(part, event) && model.flaw != Some(CommitFlaw::GrantUnwanted);
        if !is_posted {
            self.send(part, self.coordinator.epoch, CommitMsg::Release(event, attempt));
        }
    }

    /// Mirrors `maintain_post` of the code.
    fn post_again(&mut self, model: &CommitModel, part: ParticipantId) {
        let ours = |it: &&CommitEnvelope| {
            it.part == part && matches!(it.says, CommitMsg::Post(..) | CommitMsg::Posted(..))
        };
        let owed = self.participants[part].owed;
        let coordinator = &mut self.coordinator;
        let delivered = coordinator.log.now().delivered[part];
        if owed || self.messages.iter().any(|it| ours(&it)) || coordinator.log.safe.done.len() <= delivered {
            return;
        }
        coordinator.sent[part] = delivered;
        self.messages.extend(self.coordinator.posts(model.flaw));
    }

    /// The backup goes on in a new epoch; the old primary may not know.
    fn crash_coordinator(&mut self, keeps: usize) {
        self.left.crashes -= 1;
        let mut log = self.coordinator.log.clone();
        log.cut(keeps);
        let parts = self.participants.len();
        let next = CommitCoordinator {
            epoch: self.coordinator.epoch + 1,
            log,
            job: None,
            last: 0,
            sent: vec![0; parts],
        };
        self.deposed = Some(std::mem::replace(&mut self.coordinator, next));
    }

    // The participants.

    /// Mirrors `on_lock` of the code.
    fn on_lock(&mut self, model: &CommitModel, part: ParticipantId, event: CommitEvent, attempt: u8) {
        let participant = &self.participants[part];
        if participant.waiting.iter().any(|it| it.0 == event) {
            return;
        }
        match participant.log.now().held {
            Some((held, it)) if held == event && it < attempt => self.release(model, part),
            Some((held, _)) if held == event => return,
            _ => (),
        }
        self.participants[part].waiting.push((event, attempt));
        self.grant_next(model, part);
    }

    fn grant_next(&mut self, model: &CommitModel, part: ParticipantId) {
        let participant = &mut self.participants[part];
        if participant.log.now().held.is_some() || participant.waiting.is_empty() {
            return;
        }
        let next = participant.waiting.remove(0);
        participant.log.write(|it| it.held = Some(next));
        participant.answer = Some(next);
        if model.flaw == Some(CommitFlaw::GrantEarly) {
            self.send_settled(model, part);
        }
    }

    /// `send_settled`, and the receipt that is owed to the post.
    fn send_settled(&mut self, model: &CommitModel, part: ParticipantId) {
        let participant = &mut self.participants[part];
        let upto = participant.log.safe.applied.len();
        let (answer, held) = (participant.answer.take(), participant.log.now().held);
        let owed = model.flaw != Some(CommitFlaw::GrantEarly) || participant.log.tail.is_empty();
        let owed = owed && std::mem::take(&mut participant.owed);
        if let Some((event, attempt)) = answer.filter(|it| held == Some(*it)) {
            self.send(part, 0, CommitMsg::Granted(event, attempt));
        }
        if owed {
            self.send(part, 0, CommitMsg::Posted(upto));
        }
    }

    /// Mirrors `on_release` of the code.
    fn on_release(&mut self, model: &CommitModel, part: ParticipantId, event: CommitEvent, attempt: u8) {
        let participant = &mut self.participants[part];
        participant.waiting.retain(|it| it.0 != event || attempt < it.1);
        if participant.log.now().held.is_some_and(|it| it.0 == event && it.1 <= attempt) {
            self.release(model, part);
        }
    }

    fn release(&mut self, model: &CommitModel, part: ParticipantId) {
        if self.participants[part].log.now().held.is_some() {
            self.participants[part].answer = None;
            self.participants[part].log.write(|it| it.held = None);
            self.grant_next(model, part);
        }
    }

    /// `on_post`: in order, and once.
    fn on_post(&mut self, model: &CommitModel, part: ParticipantId, number: usize, event: CommitEvent) {
        let participant = &mut self.participants[part];
        let taken = participant.log.now().applied.len();
        if number == taken + 1 {
            participant.log.write(|it| {
                it.applied.push(event);
                it.held.take_if(|it| it.0 == event);
            });
        }
        participant.owed = true;
        self.grant_next(model, part);
    }

    fn ask(&mut self, part: ParticipantId) {
        if let Some((event, attempt)) = self.participants[part].log.now().held {
            self.send(part, 0, CommitMsg::Ask(event, attempt));
        }
    }

    /// `maintain_grants`, when the answer will be that the event never happens.
    fn ask_late(&mut self, model: &CommitModel, part: ParticipantId) {
        let Some((event, attempt)) = self.participants[part].log.now().held else { return };
        let disowned = self.coordinator.disowns(None, part, event, attempt);
        let says = [CommitMsg::Ask(event, attempt), CommitMsg::Release(event, attempt)];
        let under_way = self.messages.iter().any(|it| it.part == part && says.contains(&it.says));
        if disowned && !under_way && model.flaw != Some(CommitFlaw::NoQuestions) {
            self.ask(part);
        }
    }
}
