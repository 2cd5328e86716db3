//! The bytes that the network adds to a datagram, so that experiments can count bytes with headers and without.
//!
//! Figures only: nothing here builds a header. Layers below IP are left out, since they differ from one
//! hop to the next.

use crate::DATAGRAM_MAX;

/// An IPv4 header without options (RFC 791).
const IPV4: usize = 20;

/// A UDP header: ports, length, checksum (RFC 768).
const UDP: usize = 8;

/// A QUIC short header (RFC 9000 §17.3): 1 of flags, 8 of connection id, which is what quinn gives out,
/// and 2 of packet number, enough while fewer than about 32 000 packets are in flight.
const QUIC_SHORT_HEADER: usize = 1 + 8 + 2;

/// The authentication tag of a QUIC packet (RFC 9001 §5.3); 16 bytes for every cipher it allows.
const AEAD_TAG: usize = 16;

/// A DATAGRAM frame's own header (RFC 9221 §4): 1 of type, 2 of length. A length below 64 would take
/// one byte, but a datagram of poses is seldom that short.
const DATAGRAM_FRAME: usize = 1 + 2;

/// Bytes on the wire beyond a datagram's own, sent alone in a QUIC packet over UDP and IPv4.
pub const QUIC_DATAGRAM_OVERHEAD: usize = IPV4 + UDP + QUIC_SHORT_HEADER + AEAD_TAG + DATAGRAM_FRAME;

const _: () = assert!(QUIC_DATAGRAM_OVERHEAD == 58);

/// The UDP payload that a path must carry for QUIC to work at all (RFC 9000 §14).
const QUIC_PACKET_MIN: usize = 1200;

/// The session's stream number, which WebTransport puts before each datagram (RFC 9297 §2.1).
const WEBTRANSPORT_SESSION_MAX: usize = 8;

// The longest datagram leaves at once on any path, before QUIC has found out what more the path can do.
const _: () = assert!(
    DATAGRAM_MAX + WEBTRANSPORT_SESSION_MAX + (QUIC_DATAGRAM_OVERHEAD - IPV4 - UDP) <= QUIC_PACKET_MIN
);
