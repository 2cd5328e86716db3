//! One run: one policy, one crowd, one walk.

use super::quality::Quality;
use super::{A3Client, A3Command, A3Node, A3Server, A3Setting, Candidate, LINK_DELAY};
use crate::WaypointWalk;
use interest::PolicyError;
use machine::{Address, Rng, Span, Time};
use sim::{Profile, Sim};
use space::Motion;

/// The measurements of one run.
#[derive(Clone, Debug)]
pub struct A3Measurement {
    pub payload: TrafficLoad,
    pub with_headers: TrafficLoad,
    pub quality: Quality,
}

/// Bytes per second, as the paper counts them.
#[derive(Clone, Copy, Debug)]
pub struct TrafficLoad {
    /// Mean over the whole duration.
    pub average: f64,
    /// Bytes in the largest single second.
    pub maximum: f64,
}

/// Time in which the client's knowledge is compared with the truth once, at a random moment: the server sends at whole
/// intervals, and samples in step with it would find everything fresher than it is.
const SAMPLE: Span = Span::from_secs(1);
/// Name of the random source for those moments; avatars have the names from 0 on.
const MOMENTS: u64 = u64::MAX;

/// Runs one policy on the walks that `avatars` and `run` stand for; they are the same for every policy.
pub fn run(
    setting: &A3Setting,
    candidate: &Candidate,
    avatars: u32,
    run: u32,
) -> Result<A3Measurement, PolicyError> {
    let mut simulation = A3Simulation::new(setting, candidate, avatars, run)?;
    let mut quality = Quality::new(setting)?;
    let mut moments = chance(setting, avatars, run).fork_named(MOMENTS);
    while simulation.now() < Time::ZERO + setting.duration {
        let next = simulation.now() + SAMPLE;
        simulation.plan(next);
        simulation.run_until(simulation.now() + Span::from_micros(moments.below(SAMPLE.as_micros())));
        quality.sample(simulation.now(), simulation.client(), simulation.server());
        simulation.run_until(next);
    }
    let traffic = simulation.client().traffic();
    let load = |per_second: &[u64]| TrafficLoad::new(per_second, setting.duration);
    let with_headers: Vec<u64> = traffic.with_headers().collect();
    Ok(A3Measurement { payload: load(&traffic.payload), with_headers: load(&with_headers), quality })
}

impl TrafficLoad {
    fn new(per_second: &[u64], duration: Span) -> Self {
        let whole_seconds = (duration.as_millis() / 1_000).max(1) as usize;
        // Bytes may arrive after the end of the run: such a second is not a whole one, and counts for the mean only.
        let maximum = per_second.iter().take(whole_seconds).max().copied().unwrap_or(0);
        let total: u64 = per_second.iter().sum();
        Self { average: total as f64 / duration.as_secs_f64(), maximum: maximum as f64 }
    }
}

/// The random source of a run, the same for every policy.
pub fn chance(setting: &A3Setting, avatars: u32, run: u32) -> Rng {
    Rng::seeded(setting.seed).fork_named(avatars.into()).fork_named(run.into())
}

/// Server and client on the simulator, and the walks of all avatars.
pub struct A3Simulation {
    sim: Sim<A3Node>,
    server: Address,
    client: Address,
    walks: Vec<WaypointWalk>,
}

impl A3Simulation {
    pub fn new(
        setting: &A3Setting,
        candidate: &Candidate,
        avatars: u32,
        run: u32,
    ) -> Result<Self, PolicyError> {
        let chance = chance(setting, avatars, run);
        // Every avatar has a random source of its own, so that all policies see the same walks.
        let walk = |avatar: u32| WaypointWalk::new(setting.terrain, chance.fork_named(avatar.into()));
        let walks: Vec<WaypointWalk> = (0..avatars).map(walk).collect();
        let motions: Vec<Motion> = walks.iter().map(WaypointWalk::motion).collect();

        let mut sim = Sim::new(setting.seed);
        let policy = candidate.policy(setting)?;
        let server = sim.add(A3Node::Server(Box::new(A3Server::new(setting, policy, &motions))));
        let client = sim.add(A3Node::Client(A3Client::new(motions.len(), motions[0])));
        sim.connect(server, client, Profile::new(LINK_DELAY));
        Ok(Self { sim, server, client, walks })
    }

    /// Plans and simulates the next `span`.
    pub fn advance(&mut self, span: Span) {
        let until = self.sim.now() + span;
        self.plan(until);
        self.run_until(until);
    }

    /// Schedules the motions of all avatars until then.
    pub fn plan(&mut self, until: Time) {
        for (avatar, walk) in self.walks.iter_mut().enumerate() {
            // The client moves its own avatar first; the server learns of that over the link.
            let address = if avatar == 0 { self.client } else { self.server };
            while walk.until() <= until {
                let (at, avatar) = (walk.until(), avatar as u32);
                let motion = walk.advance();
                self.sim.command(at, address, A3Command::Move { avatar, motion });
            }
        }
    }

    /// Simulates until then; walks must have been planned as far.
    pub fn run_until(&mut self, until: Time) {
        self.sim.run_until(until);
    }

    /// Turns the client's avatar round now, without changing its way.
    pub fn turn_round(&mut self) {
        let now = self.sim.now();
        let motion = self.walks[0].turn_round(now);
        self.sim.command(now, self.client, A3Command::Move { avatar: 0, motion });
        self.sim.run_until(now);
    }

    pub fn now(&self) -> Time {
        self.sim.now()
    }

    pub fn client(&self) -> &A3Client {
        match self.sim.machine(self.client) {
            A3Node::Client(client) => client,
            A3Node::Server(_) => unreachable!("the client's address leads to the client"),
        }
    }

    pub fn server(&self) -> &A3Server {
        match self.sim.machine(self.server) {
            A3Node::Server(server) => server,
            A3Node::Client(_) => unreachable!("the server's address leads to the server"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_mean_and_the_largest_second() {
        // The fourth second is beyond the run: what was on its way counts for the mean of what was sent.
        let load = TrafficLoad::new(&[100, 700, 100, 60], Span::from_secs(3));
        assert_eq!((load.average, load.maximum), (320.0, 700.0));
        assert_eq!(TrafficLoad::new(&[], Span::from_secs(3)).maximum, 0.0);
    }
}
