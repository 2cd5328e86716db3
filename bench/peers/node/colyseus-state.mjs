// The state that Colyseus keeps the same on the server and on its clients.

import { schema, t } from "@colyseus/schema";

/** The last move of an avatar. */
export const Avatar = schema({ number: t.uint16(), x: t.float32(), y: t.float32(), at: t.uint32() }, "Avatar");

/** All avatars, by number; a client is told of those in its view. */
export const WorldState = schema({ avatars: t.map(Avatar).view() }, "WorldState");
