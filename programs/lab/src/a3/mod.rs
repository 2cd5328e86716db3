//! A³, the experiment of Bezerra, Cecin and Geyer (2008): what graded interest management saves.
//!
//! A server machine and a client machine run on the simulator. Avatars walk by random waypoint, the
//! client's received bytes are counted second by second, for every policy on the same walks. Past the
//! paper, the client also keeps what it learns, so that the price of the saving can be measured: how
//! old its knowledge is, how wrong, and how long it stays blind after turning round.
//!
//! Reading order: `setting` (what may be chosen), `server` and `client` (the machines), `run` (one run),
//! `square` (which world the tables fit), `together` (which of their columns share their walks), `quality` and `turn`
//! (past the paper), `results` (all runs together), `report` (tables and figures).

mod candidate;
mod client;
mod message;
pub mod paper;
mod quality;
pub mod report;
mod results;
mod run;
mod server;
mod setting;
mod sighting;
mod square;
mod together;
mod turn;

pub use candidate::Candidate;
pub use quality::{BANDS, Band, BandQuality};
pub use results::{MeasureError, QualityRow, Ran, Results, Row, Saved, Savings, measure, steps};
pub use setting::{
    FITTED_PAUSE, FITTED_SPEED, FITTED_WORLD, LINK_DELAY, Options, OptionsError, Reading, STATED_WORLD,
    Setting,
};
pub use square::SquareRow;
pub use together::Together;
pub use turn::{TurnRow, Waits};

use client::Client;
use machine::{Input, Machine, Outbox, Time};
use message::Msg;
use server::Server;
use space::Motion;

/// What an update weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// 100 bytes in a packet of its own, as in the paper.
    Paper,
    /// Our real encoding, packed.
    Wire,
}

impl Sizes {
    /// Its name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Wire => "wire",
        }
    }
}

/// What the workload tells the machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// An avatar changes its motion. Said to the client for its own, to the server for all others.
    Move {
        /// Which one.
        avatar: u32,
        /// How it moves from now on.
        motion: Motion,
    },
}

/// Either machine of the experiment, so that one simulator runs both.
enum Node {
    Server(Box<Server>),
    Client(Client),
}

impl Machine for Node {
    type Msg = Msg;
    type Command = Command;
    type Event = ();

    fn handle(&mut self, now: Time, input: Input<Msg, Command>, out: &mut Outbox<Msg, ()>) {
        match self {
            Self::Server(server) => server.handle(now, input, out),
            Self::Client(client) => client.handle(now, input, out),
        }
    }

    fn deadline(&self) -> Option<Time> {
        match self {
            Self::Server(server) => server.deadline(),
            Self::Client(_) => None,
        }
    }
}
