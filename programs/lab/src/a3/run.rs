//! One run: one policy, one crowd, one walk.

use super::quality::Quality;
use super::{Candidate, Client, Command, LINK_DELAY, Node, Server, Setting};
use crate::Walk;
use interest::PolicyError;
use machine::{Address, Rng, Span, Time};
use sim::{Profile, Sim};
use space::Motion;

/// What one run measured.
#[derive(Clone, Debug)]
pub struct Measured {
    pub payload: Load,
    pub with_headers: Load,
    pub quality: Quality,
}

/// Bytes per second, as the paper counts them.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// All bytes over the whole duration.
    pub average: f64,
    /// The largest single second.
    pub maximum: f64,
}

/// What the client knows is compared with the truth once in each of these, at a moment drawn by chance: the server speaks
/// at whole intervals, and samples in step with it would find everything fresher than it is.
const SAMPLE: Span = Span::from_secs(1);
/// Names the source of those moments; avatars have the names from 0 on.
const MOMENTS: u64 = u64::MAX;

/// Runs one policy on the walk that `avatars` and `run` stand for; the same for every policy.
pub fn run(
    setting: &Setting,
    candidate: &Candidate,
    avatars: u32,
    run: u32,
) -> Result<Measured, PolicyError> {
    let mut stage = Stage::new(setting, candidate, avatars, run)?;
    let mut quality = Quality::new(setting)?;
    let mut moments = chance(setting, avatars, run).fork_named(MOMENTS);
    while stage.now() < Time::ZERO + setting.duration {
        let next = stage.now() + SAMPLE;
        stage.plan(next);
        stage.run_until(stage.now() + Span::from_micros(moments.below(SAMPLE.as_micros())));
        quality.sample(stage.now(), stage.client(), stage.server());
        stage.run_until(next);
    }
    let traffic = stage.client().traffic();
    let load = |per_second: &[u64]| Load::new(per_second, setting.duration);
    let with_headers: Vec<u64> = traffic.with_headers().collect();
    Ok(Measured { payload: load(&traffic.payload), with_headers: load(&with_headers), quality })
}

impl Load {
    fn new(per_second: &[u64], duration: Span) -> Self {
        let whole_seconds = (duration.as_millis() / 1_000).max(1) as usize;
        let maximum = per_second.iter().take(whole_seconds).max().copied().unwrap_or(0);
        let total: u64 = per_second.iter().sum();
        Self { average: total as f64 / duration.as_secs_f64(), maximum: maximum as f64 }
    }
}

/// Where everything that chance decides in a run comes from, the same for every policy.
pub fn chance(setting: &Setting, avatars: u32, run: u32) -> Rng {
    Rng::seeded(setting.seed).fork_named(avatars.into()).fork_named(run.into())
}

/// Server and client on the simulator, and the walks that move everybody.
pub struct Stage {
    sim: Sim<Node>,
    server: Address,
    client: Address,
    walks: Vec<Walk>,
}

impl Stage {
    pub fn new(
        setting: &Setting,
        candidate: &Candidate,
        avatars: u32,
        run: u32,
    ) -> Result<Self, PolicyError> {
        let chance = chance(setting, avatars, run);
        let walk = |avatar: u32| Walk::new(setting.terrain, chance.fork_named(avatar.into()));
        let walks: Vec<Walk> = (0..avatars).map(walk).collect();
        let motions: Vec<Motion> = walks.iter().map(Walk::motion).collect();

        let mut sim = Sim::new(setting.seed);
        let policy = candidate.policy(setting)?;
        let server = sim.add(Node::Server(Box::new(Server::new(setting, policy, &motions))));
        let client = sim.add(Node::Client(Client::new(motions.len(), motions[0])));
        sim.connect(server, client, Profile::new(LINK_DELAY));
        Ok(Self { sim, server, client, walks })
    }

    /// Lets `span` pass.
    pub fn advance(&mut self, span: Span) {
        let until = self.sim.now() + span;
        self.plan(until);
        self.run_until(until);
    }

    /// Decides where everybody walks until then.
    pub fn plan(&mut self, until: Time) {
        for (avatar, walk) in self.walks.iter_mut().enumerate() {
            let address = if avatar == 0 { self.client } else { self.server };
            while walk.until() <= until {
                let (at, avatar) = (walk.until(), avatar as u32);
                let motion = walk.advance();
                self.sim.command(at, address, Command::Move { avatar, motion });
            }
        }
    }

    /// Lets time pass until then; walks must have been planned as far.
    pub fn run_until(&mut self, until: Time) {
        self.sim.run_until(until);
    }

    /// The client's avatar turns round, now, without changing its way.
    pub fn turn_round(&mut self) {
        let now = self.sim.now();
        let motion = self.walks[0].turn_round(now);
        self.sim.command(now, self.client, Command::Move { avatar: 0, motion });
        self.sim.run_until(now);
    }

    pub fn now(&self) -> Time {
        self.sim.now()
    }

    pub fn client(&self) -> &Client {
        match self.sim.machine(self.client) {
            Node::Client(client) => client,
            Node::Server(_) => unreachable!("the client's address leads to the client"),
        }
    }

    pub fn server(&self) -> &Server {
        match self.sim.machine(self.server) {
            Node::Server(server) => server,
            Node::Client(_) => unreachable!("the server's address leads to the server"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_mean_and_the_largest_second() {
        // The fourth second is beyond the run: what was on its way counts for the mean of what was sent.
        let load = Load::new(&[100, 700, 100, 60], Span::from_secs(3));
        assert_eq!((load.average, load.maximum), (320.0, 700.0));
        assert_eq!(Load::new(&[], Span::from_secs(3)).maximum, 0.0);
    }
}
