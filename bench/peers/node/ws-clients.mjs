// The clients of the workload on ws.

import WebSocket from "ws";
import { measure } from "./clients.mjs";
import { MOVE_BYTES, PING_BYTES, UPDATE_BYTES } from "./workload.mjs";

function connect(server, number, received) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${server}/${number}`, { perMessageDeflate: false });
    socket.on("open", () => resolve({ move: (x, y, at) => move(socket, x, y, at), ping: (at) => ping(socket, at) }));
    socket.on("error", reject);
    socket.on("close", () => {
      throw new Error("the server ended a connection");
    });
    socket.on("message", (data) => receive(data, received));
  });
}

function receive(data, received) {
  if (data.length === PING_BYTES) received.pong(data.readUInt32LE(0));
  else {
    for (let at = 0; at + UPDATE_BYTES <= data.length; at += UPDATE_BYTES) {
      received.update(data.readUInt16LE(at), data.readUInt32LE(at + 10));
    }
  }
}

function move(socket, x, y, at) {
  const frame = Buffer.allocUnsafe(MOVE_BYTES);
  frame.writeFloatLE(x, 0);
  frame.writeFloatLE(y, 4);
  frame.writeUInt32LE(at, 8);
  socket.send(frame);
}

function ping(socket, at) {
  const frame = Buffer.allocUnsafe(PING_BYTES);
  frame.writeUInt32LE(at, 0);
  socket.send(frame);
}

await measure(connect);
