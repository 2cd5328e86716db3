// A connection over WebTransport: one stream for the lane `sure`, datagrams for the lane `latest`.

import { FrameStream, framesOf } from "./frame.ts";
import type { Ending, HostEntry, HostConnection, HostConnectionEvents } from "./host_connection.ts";
import type { Lane } from "./player/player.ts";

export function hasWebTransport(): boolean {
  return typeof WebTransport === "function";
}

export class WebTransportConnection implements HostConnection {
  readonly kind = "webtransport";
  bytesIn = 0;
  bytesOut = 0;
  private readonly transport: WebTransport;
  private readonly events: HostConnectionEvents;
  private sure: WritableStreamDefaultWriter<Uint8Array> | null = null;
  private datagrams: WritableStreamDefaultWriter<Uint8Array> | null = null;
  /** The newest `latest` frame, while an older one is still being written. */
  private latest: Uint8Array | null = null;
  private sending = false;
  private ended = false;

  constructor(entry: HostEntry, events: HostConnectionEvents) {
    this.events = events;
    this.transport = new WebTransport(`https://${entry.address}/play`, {
      serverCertificateHashes: [{ algorithm: "sha-256", value: unhex(entry.certificate) }],
    });
    this.transport.closed.then(
      (info) => this.end({ code: info.closeCode ?? 0, reason: info.reason ?? "" }),
      (error: unknown) => this.end(endingOf(error)),
    );
    this.open().catch((error: unknown) => this.fail(error));
  }

  send(lane: Lane, frame: Uint8Array): void {
    if (lane === "sure") {
      this.bytesOut += frame.length;
      this.sure?.write(frame).catch((error: unknown) => this.fail(error));
      return;
    }
    this.latest = frame;
    if (!this.sending) void this.sendLatest();
  }

  close(): void {
    this.end({ code: 0, reason: "closed here" });
    // `close` throws on a transport that never opened, which needs no closing.
    try {
      this.transport.close();
    } catch {}
  }

  private async open(): Promise<void> {
    await this.transport.ready;
    const stream = await this.transport.createBidirectionalStream();
    if (this.ended) return;
    this.sure = stream.writable.getWriter();
    this.datagrams = datagramWriter(this.transport);
    this.events.opened();
    const pieces = new FrameStream();
    this.readAll(stream.readable, (piece) => pieces.push(piece), "stream");
    this.readAll(this.transport.datagrams.readable, framesOf, "datagram");
  }

  private readAll(readable: ReadableStream, cut: (bytes: Uint8Array) => Uint8Array[], of: "stream" | "datagram"): void {
    const reader = readable.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    const loop = async (): Promise<void> => {
      for (;;) {
        const { value, done } = await reader.read();
        if (done || this.ended) return;
        this.bytesIn += value.length;
        cut(value).forEach((body) => this.events.received(body));
      }
    };
    // The end of the stream ends the connection. `closed` gives the reason, if it settles in time.
    const finish = (error?: unknown): void => void setTimeout(() => this.fail(error ?? `its ${of}s ended`), 100);
    loop().then(() => finish(), finish);
  }

  private async sendLatest(): Promise<void> {
    this.sending = true;
    try {
      while (this.latest !== null && this.datagrams !== null) {
        await this.datagrams.ready;
        const frame: Uint8Array = this.latest;
        this.latest = null;
        this.bytesOut += frame.length;
        await this.datagrams.write(frame);
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.sending = false;
    }
  }

  private fail(error: unknown): void {
    if (this.ended) return;
    this.end(endingOf(error));
    try {
      this.transport.close();
    } catch {}
  }

  private end(ending: Ending): void {
    if (this.ended) return;
    this.ended = true;
    this.events.ended(ending);
  }
}

/** Browsers are changing this from a property to a function, so both are tried. */
function datagramWriter({ datagrams }: WebTransport): WritableStreamDefaultWriter<Uint8Array> {
  const { createWritable } = datagrams as { createWritable?: () => WritableStream<Uint8Array> };
  const writable = createWritable === undefined ? datagrams.writable : createWritable.call(datagrams);
  return writable.getWriter() as WritableStreamDefaultWriter<Uint8Array>;
}

/** Firefox and Chromium store a host's code in different places. */
function endingOf(error: unknown): Ending {
  const code = (error as { streamErrorCode?: unknown } | null)?.streamErrorCode;
  return { code: typeof code === "number" ? code : 0, reason: String(error) };
}

function unhex(hex: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(hex.length / 2);
  for (let index = 0; index < bytes.length; index++) bytes[index] = parseInt(hex.slice(2 * index, 2 * index + 2), 16);
  return bytes;
}
