// Frames: the parts of a stream, a datagram or a WebSocket message (docs/net.md).

import { DecodeError, Reader, Writer } from "./bytes.ts";

/** The most bytes of a frame to a player: the largest message with its envelope. */
export const FRAME_MAX = 2 * 1024 * 1024 + 64;

/** The most bytes of a frame from a player: the largest message with its envelope. */
export const FRAME_UP_MAX = 4 * 1024 + 64;

/** A body: a zone's number and a message for it or from it. Zone 0 is the connection itself. */
export interface Body {
  zone: number;
  message: Uint8Array;
}

export function encodeFrame(zone: number, message: Uint8Array): Uint8Array {
  const body = new Writer().uint(zone).raw(message).done();
  if (FRAME_UP_MAX < body.length) throw new RangeError(`a frame of ${body.length} bytes is more than a host reads`);
  return new Writer().bytes(body).done();
}

export function decodeBody(body: Uint8Array): Body {
  const input = new Reader(body);
  const zone = input.u32();
  return { zone, message: input.take(input.left) };
}

/** The frames of a datagram or a WebSocket message: one or more whole frames. */
export function framesOf(packet: Uint8Array): Uint8Array[] {
  const input = new Reader(packet);
  const frames: Uint8Array[] = [];
  do frames.push(input.bytes());
  while (0 < input.left);
  return frames;
}

/** Cuts a stream, which arrives in arbitrary pieces, into frames. */
export class FrameStream {
  /** The pieces of an incomplete frame, and the number of bytes needed before the next attempt. */
  private waiting: Uint8Array[] = [];
  private have = 0;
  private needed = 1;

  /** Takes in a piece, and returns the frames that it completes. */
  push(piece: Uint8Array): Uint8Array[] {
    this.waiting.push(piece);
    this.have += piece.length;
    // A large frame arrives in many pieces: they are joined once, not at every piece.
    if (this.have < this.needed) return [];
    const bytes = joined(this.waiting, this.have);
    const frames: Uint8Array[] = [];
    let at = 0;
    let head = headOf(bytes, at);
    while (head !== null && head.end <= bytes.length) {
      frames.push(bytes.subarray(head.start, head.end));
      at = head.end;
      head = headOf(bytes, at);
    }
    const rest = bytes.slice(at);
    this.waiting = [rest];
    this.have = rest.length;
    this.needed = head === null ? rest.length + 1 : head.end - at;
    return frames;
  }
}

function joined(pieces: Uint8Array[], length: number): Uint8Array {
  if (pieces.length === 1 && pieces[0] !== undefined) return pieces[0];
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** The start and end of a frame's body; null if even its length is incomplete. */
function headOf(bytes: Uint8Array, at: number): { start: number; end: number } | null {
  let length = 0;
  for (let index = 0; at + index < bytes.length; index++) {
    const byte = bytes[at + index] ?? 0;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (FRAME_MAX < length || 3 < index) throw new DecodeError("a frame that is too long");
    if (byte < 0x80) return { start: at + index + 1, end: at + index + 1 + length };
  }
  return null;
}
