//! The floor: as many packets of the same size as a world exchanges, by plain `sendto` and `recvfrom`. No session, no
//! encryption, no world: nothing that uses UDP can cost less.

use crate::{Failure, print};
use clap::{Args, ValueEnum};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// What the floor's processes take.
#[derive(Args)]
pub struct FloorArgs {
    /// Which end this is
    #[arg(long, value_enum)]
    end: End,
    /// Where the server is; a client's
    #[arg(long)]
    server: Option<SocketAddr>,
    /// How many clients there are
    #[arg(long, default_value_t = 1)]
    clients: u32,
    /// Packets per client and second to the server
    #[arg(long, default_value_t = 10.0)]
    up: f64,
    /// Packets to a client for each one from it
    #[arg(long, default_value_t = 1.0)]
    answers: f64,
    /// Bytes of a packet to the server
    #[arg(long, default_value_t = 60)]
    up_bytes: usize,
    /// Bytes of a packet to a client
    #[arg(long, default_value_t = 500)]
    down_bytes: usize,
    /// For how long
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum End {
    Server,
    Clients,
}

/// Runs one end.
pub fn run(args: &FloorArgs) -> Result<(), Failure> {
    match args.end {
        End::Server => serve(args),
        End::Clients => clients(args),
    }
}

/// Answers every packet, until the packets stop. The first four bytes say whose it is.
fn serve(args: &FloorArgs) -> Result<(), Failure> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    print(&format!("{}\n", socket.local_addr()?))?;
    let mut owed = vec![0.0_f64; args.clients as usize];
    let (mut buffer, answer) = ([0; 2_048], vec![7; args.down_bytes]);
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    while let Ok((length, from)) = socket.recv_from(&mut buffer) {
        let Some(client) = buffer[..length].first_chunk().map(|it| u32::from_le_bytes(*it)) else { continue };
        let Some(owed) = owed.get_mut(client as usize) else { break };
        *owed += args.answers;
        while 1.0 <= *owed {
            *owed -= 1.0;
            // The other end may be gone already.
            let _ = socket.send_to(&answer, from);
        }
    }
    Ok(())
}

/// Sends at a steady pace, each client in turn, and reads whatever comes.
fn clients(args: &FloorArgs) -> Result<(), Failure> {
    let server = args.server.ok_or_else(|| Failure::Asked("--server is missing".to_owned()))?;
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let reader = socket.try_clone()?;
    std::thread::spawn(move || {
        let mut buffer = [0; 2_048];
        while reader.recv_from(&mut buffer).is_ok() {}
    });
    let (rate, began) = (args.up * f64::from(args.clients), Instant::now());
    let mut packet = vec![7; args.up_bytes.max(4)];
    let mut sent = 0_u64;
    while began.elapsed().as_secs_f64() < args.seconds {
        while (sent as f64) < rate * began.elapsed().as_secs_f64() {
            let client = (sent % u64::from(args.clients)) as u32;
            packet[..4].copy_from_slice(&client.to_le_bytes());
            socket.send_to(&packet, server)?;
            sent += 1;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    packet[..4].copy_from_slice(&u32::MAX.to_le_bytes()); // Nobody's: that is all.
    socket.send_to(&packet, server)?;
    Ok(())
}
