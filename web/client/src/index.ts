// A client for any game of Ecumene: log in with `Lobby`, play with `World`. The rest is what these are made of.

export { DecodeError, Reader, Writer } from "./bytes.ts";
export { type Control, decodeControl, encodeControl } from "./control.ts";
export { Events } from "./events.ts";
export { FrameStream, decodeBody, encodeFrame, framesOf } from "./frame.ts";
export type { HostEntry, Link, TransportKind } from "./link.ts";
export { Lobby, LobbyError, type Pass, type SessionAnswer, type WorldInfo, type ZoneInfo } from "./lobby.ts";
export { type Motion, type Vector, angleOf, headingOf, positionAt } from "./motion.ts";
export { type Key, type ObjectId, idOf, keyOf } from "./object.ts";
export { Player, type Happening } from "./player/player.ts";
export { decodePose, decodePoses } from "./poses.ts";
export type { Pending } from "./predict.ts";
export { type Down, type Outcome, type Up, decodeDown, encodeUp } from "./protocol.ts";
export { Session, type SessionEnd } from "./session.ts";
export { Track } from "./track.ts";
export { type Thing, View } from "./view.ts";
export { type Answer, type GameModule, type Status, World, type WorldEvents, type WorldState } from "./world.ts";
