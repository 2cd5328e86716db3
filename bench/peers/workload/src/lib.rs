//! The workload that all systems in Rust share: the world, the walkers, interest, and the clients' measurements.
//!
//! `node/workload.mjs` is the same for the systems on Node. Nothing here knows a system: the workload says what must be
//! sent and what has arrived, never how.

mod clients;
mod interest;
mod measurements;
mod meter;
mod options;
mod record;
mod server;
mod stamp;
mod walker;
mod world;

pub use clients::{Client, Outgoing, Received};
pub use measurements::ClientsReport;
pub use options::{ClientsOptions, ServerOptions, run};
pub use record::{MOVE_BYTES, Move, PING_BYTES, Ping, UPDATE_BYTES, Update};
pub use server::{every_tick, server_socket, tell_address};
pub use stamp::Stamp;
pub use world::World;

/// Ecumene's allocator, so that no system in Rust has a better one than another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Moves of each client per second.
pub const MOVES_PER_SECOND: u32 = 10;

/// Mean number of others that each client should see.
pub const VISIBLE: f64 = 22.0;

/// View distance of each client, in metres.
pub const VIEW: f32 = 60.0;

/// Speed of an avatar, in metres per second.
pub const SPEED: f32 = 5.9;

/// Half the side of the square world, in metres, in which each client sees [`VISIBLE`] others; as in `ecumene bench server`.
/// A client at an edge sees fewer: the mean part of a square of side L that is within R of a point in it is
/// πR²/L² - 8R³/3L³ + R⁴/2L⁴, for R < L.
pub fn half(clients: u16) -> f32 {
    let visible = |half: u32| {
        let part = f64::from(VIEW) / (2.0 * f64::from(half));
        let near = std::f64::consts::PI * part.powi(2) - 8.0 / 3.0 * part.powi(3) + part.powi(4) / 2.0;
        f64::from(clients.saturating_sub(1)) * near
    };
    (VIEW as u32 / 2..).find(|&it| visible(it) <= VISIBLE).unwrap_or(u32::MAX) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_is_as_large_as_that_of_ecumene_bench_server() {
        assert_eq!([100, 400, 1_000].map(half), [99.0, 213.0, 346.0]);
    }
}
