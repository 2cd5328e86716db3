// Messages about the connection itself, between client and host (docs/net.md).

import { DecodeError, Reader, Writer } from "./bytes.ts";

export const PROTOCOL_VERSION = 2;

export type Control =
  | { kind: "Hello"; version: number; token: string }
  | { kind: "Welcome"; host: number; zones: number[] }
  | { kind: "Ping"; number: bigint }
  | { kind: "Pong"; number: bigint }
  | { kind: "Lagging"; lost: number };

export function encodeControl(control: Control): Uint8Array {
  const out = new Writer();
  switch (control.kind) {
    case "Hello":
      return out.u8(0).uint(control.version).text(control.token).done();
    case "Welcome":
      out.u8(1).uint(control.host).uint(control.zones.length);
      control.zones.forEach((zone) => out.uint(zone));
      return out.done();
    case "Ping":
      return out.u8(2).u64(control.number).done();
    case "Pong":
      return out.u8(3).u64(control.number).done();
    case "Lagging":
      return out.u8(4).uint(control.lost).done();
  }
}

export function decodeControl(bytes: Uint8Array): Control {
  const input = new Reader(bytes);
  const control = readControl(input);
  input.end();
  return control;
}

function readControl(input: Reader): Control {
  switch (input.u32()) {
    case 0:
      return { kind: "Hello", version: input.u32(), token: input.text() };
    case 1:
      return { kind: "Welcome", host: input.u32(), zones: input.list(() => input.u32()) };
    case 2:
      return { kind: "Ping", number: input.u64() };
    case 3:
      return { kind: "Pong", number: input.u64() };
    case 4:
      return { kind: "Lagging", lost: input.count() };
    default:
      throw new DecodeError("an unknown word about the connection");
  }
}
