// A connection over WebSocket: for browsers and networks without WebTransport.

import { framesOf } from "./frame.ts";
import type { Ending, HostConnection, HostConnectionEvents } from "./host_connection.ts";
import type { Lane } from "./player/player.ts";

/** Added to our codes: WebSocket reserves smaller codes for itself. */
const CODE_BASE = 4000;

/** While more bytes than this wait to be sent, `latest` frames are dropped: newer ones follow. */
const WAITING_MAX = 8 * 1024;

export class WebSocketConnection implements HostConnection {
  readonly kind = "websocket";
  bytesIn = 0;
  bytesOut = 0;
  private readonly socket: WebSocket;
  private readonly events: HostConnectionEvents;
  private ended = false;

  constructor(url: string, events: HostConnectionEvents) {
    this.events = events;
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => events.opened();
    this.socket.onmessage = (message) => this.take(message.data);
    this.socket.onclose = (close) => {
      const code = CODE_BASE < close.code ? close.code - CODE_BASE : 0;
      this.end({ code, reason: close.reason });
    };
  }

  send(lane: Lane, frame: Uint8Array): void {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    if (lane === "latest" && WAITING_MAX < this.socket.bufferedAmount) return;
    this.bytesOut += frame.length;
    this.socket.send(frame as Uint8Array<ArrayBuffer>);
  }

  close(): void {
    this.socket.close();
    this.end({ code: 0, reason: "closed here" });
  }

  private take(data: unknown): void {
    if (!(data instanceof ArrayBuffer) || this.ended) return;
    this.bytesIn += data.byteLength;
    try {
      framesOf(new Uint8Array(data)).forEach((body) => this.events.received(body));
    } catch (error) {
      this.socket.close();
      this.end({ code: 0, reason: `the host sent nonsense: ${String(error)}` });
    }
  }

  private end(ending: Ending): void {
    if (this.ended) return;
    this.ended = true;
    this.events.ended(ending);
  }
}
