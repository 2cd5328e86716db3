//! A³, the experiment of Bezerra, Cecin and Geyer (2008): what graded interest management saves.
//!
//! A server machine and a client machine run on the simulator. Avatars walk by random waypoint, and the client's
//! received bytes are counted second by second, for every policy on the same walks. Past the paper, the client also
//! keeps what it learns, so that the price of the saving can be measured: how old its knowledge is, how wrong, and how
//! long it lacks avatars in view after turning round.
//!
//! Reading order: `setting` (the options), `server` and `client` (the machines), `run` (one run), `square` (which world
//! the tables fit), `column_correlation` (which of their columns share their walks), `quality` and `turn` (past the
//! paper), `results` (all runs together), `report` (tables and figures).

mod candidate;
mod client;
mod column_correlation;
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
mod turn;

pub use candidate::Candidate;
pub use column_correlation::ColumnCorrelation;
pub use quality::{BANDS, Band, BandQuality};
pub use results::{
    A3Parameters, A3Results, A3Row, MeasureError, QualityRow, Saving, Savings, measure, steps,
};
pub use setting::{
    A3Options, A3OptionsError, A3Setting, FITTED_PAUSE, FITTED_SPEED, FITTED_WORLD, LINK_DELAY, Reading,
    STATED_WORLD,
};
pub use square::SquareRow;
pub use turn::{TurnRow, WaitStatistics};

use client::A3Client;
use machine::{Input, Machine, Outbox, Time};
use message::A3Msg;
use server::A3Server;
use space::Motion;

/// The size of an update on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateSizes {
    /// 100 bytes in a packet of its own, as in the paper.
    Paper,
    /// Our own encoding, with several updates in a datagram.
    Wire,
}

impl UpdateSizes {
    /// Name of the sizes on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Wire => "wire",
        }
    }
}

/// A command of the workload to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum A3Command {
    /// An avatar changes its motion. Given to the client for its own avatar, to the server for all others.
    Move {
        /// Number of the avatar; 0 is the client's.
        avatar: u32,
        /// Motion of the avatar from now on.
        motion: Motion,
    },
}

/// Either machine of the experiment, so that one simulator runs both.
enum A3Node {
    Server(Box<A3Server>),
    Client(A3Client),
}

impl Machine for A3Node {
    type Msg = A3Msg;
    type Command = A3Command;
    type Event = ();

    fn handle(&mut self, now: Time, input: Input<A3Msg, A3Command>, out: &mut Outbox<A3Msg, ()>) {
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
