// A client for any game on Ecumene: log in with `Lobby`, play with `World`. The other exports are their parts.

export { DecodeError, Reader, Writer } from "./bytes.ts";
export { type Control, decodeControl, encodeControl } from "./control.ts";
export { Events } from "./events.ts";
export { FrameStream, decodeBody, encodeFrame, framesOf } from "./frame.ts";
export type { HostConnection, HostEntry, TransportKind } from "./host_connection.ts";
export { Lobby, LobbyError, type Pass, QueuedError, type QueuePlace, type SessionAnswer, type WaitOptions, type WorldInfo, type ZoneInfo } from "./lobby.ts";
export { type Motion, type Vector, angleOf, headingOf, positionAt } from "./motion.ts";
export { type Key, type ObjectId, idOf, keyOf } from "./object.ts";
export { Player, type PlayerEvent } from "./player/player.ts";
export { decodePose, decodePoses } from "./poses.ts";
export type { Pending } from "./predict.ts";
export { type FromPlayer, type LoadLevel, type Outcome, type ToPlayer, decodeToPlayer, encodeFromPlayer } from "./protocol.ts";
export { Session, type SessionEnd } from "./session.ts";
export { Track } from "./track.ts";
export { type ViewObject, View } from "./view.ts";
export { type ActionResult, type GameModule, type Status, World, type WorldEvents, type WorldState } from "./world.ts";
