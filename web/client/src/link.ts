// A connection to one host, whatever it is made of.

import type { Lane } from "./player/player.ts";

export type TransportKind = "webtransport" | "websocket";

/** Where a host is, and what opens it (docs/net.md). */
export interface HostEntry {
  host: number;
  zones: number[];
  address: string;
  websocket: string;
  /** SHA-256 of the host's certificate in hex. */
  certificate: string;
  token: string;
}

/** Why a connection ended. Codes are docs/net.md's; 0 is none of them. */
export interface Ending {
  code: number;
  reason: string;
}

export const ENDINGS = { refused: 1, superseded: 2, slow: 3, protocol: 4, leaving: 5, full: 6 } as const;

export interface LinkEvents {
  opened(): void;
  /** A frame's body. */
  received(body: Uint8Array): void;
  /** Once, whatever happened before. */
  ended(ending: Ending): void;
}

export interface Link {
  readonly kind: TransportKind;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Sends a whole frame. `latest` may be lost, and is while the network is busy. */
  send(lane: Lane, frame: Uint8Array): void;
  close(): void;
}
