//! What replicas want from their disks and from the directory.

use super::{DIRECTORY, Todo, World};
use crate::service::{Question, ticket};
use history::{directory_swapped, disk_keeps};
use machine::directory::Done;
use machine::{Address, disk};
use node::NodeCommand;

impl World {
    pub(super) fn on_disk(&mut self, replica: Address, request: disk::Request) {
        self.requests += 1;
        let number = self.requests;
        let now = self.sim.now();
        let slot = &mut self.slots[replica.0 as usize];
        let at = slot.disk.done_at(now, &mut self.rng);
        slot.requests.insert(number, request);
        let life = slot.life;
        self.plan(at, Todo::DiskDone { replica, life, request: number });
    }

    pub(super) fn disk_done(&mut self, replica: Address, life: u32, number: u64) {
        let place = replica.0 as usize;
        if self.slots[place].disk.failing && !self.is_safe_without(replica) {
            self.slots[place].disk.failing = false; // Nobody else has what this one has.
        }
        let slot = &mut self.slots[place];
        let Some(request) = slot.requests.remove(&number).filter(|_| slot.life == life) else { return };
        let keeps = disk_keeps(&request);
        let done = slot.disk.serve(request, &mut self.rng);
        if let (Some(what), disk::Done::Persisted { .. }) = (keeps, &done) {
            self.tell(replica, what);
        }
        let command = NodeCommand::Host(zone::Command::Disk(done));
        self.sim.command(self.sim.now(), replica, command);
    }

    pub(super) fn on_directory(&mut self, replica: Address, request: machine::directory::Request) {
        let now = self.sim.now();
        let slot = &self.slots[replica.0 as usize];
        let life = slot.life;
        let course = self.service.course(now, !slot.isolated, &mut self.rng);
        let ticket = ticket(&request);
        if let Some(at) = course.arrives {
            self.plan(at, Todo::Arrives(Question { host: replica, life, request, answers: course.answers }));
        }
        self.plan(course.gives_up, Todo::GivesUp { replica, life, ticket });
    }

    pub(super) fn arrives(&mut self, question: Question) {
        let now = self.sim.now();
        let done = self.service.serve(now, question.request.clone());
        for what in directory_swapped(&question.request, &done) {
            self.tell(DIRECTORY, what);
        }
        if let Some(at) = question.answers {
            let at = at.max(now);
            self.plan(at, Todo::Answer { replica: question.host, life: question.life, done });
        }
    }

    /// A replica hears an answer, or that there is none. It knows its questions and ignores what comes twice.
    pub(super) fn answer(&mut self, replica: Address, life: u32, done: Done) {
        let slot = &self.slots[replica.0 as usize];
        if slot.life == life && self.sim.is_up(replica) {
            let command = NodeCommand::Host(zone::Command::Directory(done));
            self.sim.command(self.sim.now(), replica, command);
        }
    }
}
