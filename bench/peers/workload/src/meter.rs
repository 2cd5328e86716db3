//! Counts the UDP packets of this process, whichever library sends them.
//!
//! Libraries keep their sockets to themselves, and Linux counts no bytes per UDP socket. So this module takes the place of
//! the four functions of the C library by which Rust's `UdpSocket` sends and receives: a program's own functions come
//! before those of shared libraries. Each passes its arguments on and counts what was sent or received.
#![allow(unsafe_code)]

use libc::{
    MSG_PEEK, SYS_recvfrom, SYS_sendto, c_int, c_void, size_t, sockaddr, socklen_t, ssize_t, syscall,
};
use serde::{Deserialize, Serialize};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static PACKETS_UP: AtomicU64 = AtomicU64::new(0);
static BYTES_UP: AtomicU64 = AtomicU64::new(0);
static PACKETS_DOWN: AtomicU64 = AtomicU64::new(0);
static BYTES_DOWN: AtomicU64 = AtomicU64::new(0);

/// UDP packets of this process, and the bytes of their payload. Up is sent, down is received.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct UdpTotals {
    /// Packets sent.
    pub packets_up: u64,
    /// Packets received.
    pub packets_down: u64,
    /// Bytes sent.
    pub bytes_up: u64,
    /// Bytes received.
    pub bytes_down: u64,
}

impl UdpTotals {
    /// Totals since the process began.
    pub fn now() -> Self {
        Self {
            packets_up: PACKETS_UP.load(Relaxed),
            packets_down: PACKETS_DOWN.load(Relaxed),
            bytes_up: BYTES_UP.load(Relaxed),
            bytes_down: BYTES_DOWN.load(Relaxed),
        }
    }

    /// What was added since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            packets_up: self.packets_up - earlier.packets_up,
            packets_down: self.packets_down - earlier.packets_down,
            bytes_up: self.bytes_up - earlier.bytes_up,
            bytes_down: self.bytes_down - earlier.bytes_down,
        }
    }
}

fn count(packets: &AtomicU64, bytes: &AtomicU64, result: ssize_t) -> ssize_t {
    if let Ok(length) = u64::try_from(result) {
        packets.fetch_add(1, Relaxed);
        bytes.fetch_add(length, Relaxed);
    }
    result
}

// Safety of all four: the arguments are the caller's, and go to the system call of the same meaning unchanged.

#[unsafe(no_mangle)]
unsafe extern "C" fn sendto(
    socket: c_int,
    data: *const c_void,
    length: size_t,
    flags: c_int,
    to: *const sockaddr,
    to_length: socklen_t,
) -> ssize_t {
    let sent = unsafe { syscall(SYS_sendto, socket, data, length, flags, to, to_length) };
    count(&PACKETS_UP, &BYTES_UP, sent as ssize_t)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn send(socket: c_int, data: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    unsafe { sendto(socket, data, length, flags, null_mut(), 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvfrom(
    socket: c_int,
    data: *mut c_void,
    length: size_t,
    flags: c_int,
    from: *mut sockaddr,
    from_length: *mut socklen_t,
) -> ssize_t {
    let received = unsafe { syscall(SYS_recvfrom, socket, data, length, flags, from, from_length) };
    if flags & MSG_PEEK != 0 {
        return received as ssize_t; // The packet will be received again.
    }
    count(&PACKETS_DOWN, &BYTES_DOWN, received as ssize_t)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recv(socket: c_int, data: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    unsafe { recvfrom(socket, data, length, flags, null_mut(), null_mut()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn it_counts_what_rusts_sockets_send_and_receive() {
        let [a, b] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        a.connect(b.local_addr().unwrap()).unwrap();
        b.connect(a.local_addr().unwrap()).unwrap();
        let before = UdpTotals::now();
        a.send(&[1; 10]).unwrap();
        a.send_to(&[1; 20], b.local_addr().unwrap()).unwrap();
        b.peek(&mut [0; 64]).unwrap();
        b.recv(&mut [0; 64]).unwrap();
        b.recv_from(&mut [0; 64]).unwrap();
        let added = UdpTotals::now().since(before);
        assert_eq!((added.packets_up, added.bytes_up), (2, 30));
        assert_eq!((added.packets_down, added.bytes_down), (2, 30));
    }
}
