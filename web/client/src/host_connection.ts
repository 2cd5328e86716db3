// The interface of a connection to one host, for all transports.

import type { Lane } from "./player/player.ts";

export type TransportKind = "webtransport" | "websocket";

/** A host's addresses, and the token that admits this session to it (docs/net.md). */
export interface HostEntry {
  host: number;
  zones: number[];
  address: string;
  websocket: string;
  /** SHA-256 of the host's certificate in hex. */
  certificate: string;
  token: string;
}

/** The reason why a connection ended. docs/net.md lists the codes; 0 means that the host sent none. */
export interface Ending {
  code: number;
  reason: string;
}

export const ENDINGS = { refused: 1, superseded: 2, slow: 3, protocol: 4, leaving: 5, full: 6 } as const;

export interface HostConnectionEvents {
  opened(): void;
  /** The body of a frame arrived. */
  received(body: Uint8Array): void;
  /** Called exactly once per connection, also if it never opened. */
  ended(ending: Ending): void;
}

export interface HostConnection {
  readonly kind: TransportKind;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Sends a whole frame. A frame on the lane `latest` may be lost; while the network is busy, it is dropped. */
  send(lane: Lane, frame: Uint8Array): void;
  close(): void;
}
