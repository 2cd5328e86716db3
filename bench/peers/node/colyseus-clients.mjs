// The clients of the workload on Colyseus, by its SDK.

import { Callbacks, Client } from "@colyseus/sdk";
import { measure } from "./clients.mjs";

async function connect(server, number, received) {
  const room = await new Client(`ws://${server}`).joinOrCreate("world", { number });
  const callbacks = Callbacks.get(room);
  callbacks.onAdd("avatars", (avatar) => {
    // The own avatar is not in the view; the state holds those of others only.
    callbacks.listen(avatar, "at", (at) => received.update(avatar.number, at));
  });
  room.onMessage("pong", (at) => received.pong(at));
  room.onLeave(() => {
    throw new Error("the server ended a connection");
  });
  return {
    move: (x, y, at) => room.send("move", [x, y, at]),
    ping: (at) => room.send("ping", at),
  };
}

await measure(connect);
