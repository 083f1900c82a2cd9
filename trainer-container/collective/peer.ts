import { connect, type IpcNetConnectOpts, type Socket, type TcpNetConnectOpts } from "node:net";
import { encodeHeader, type FrameHeader, FrameReader, type FrameSink, type FrameType } from "./frame";

/** The writing side towards one peer. Payloads may change only once `pending` is 0 or the socket is destroyed. */
export class Outbound {
  pending = 0;
  bytesSent = 0;
  private corked = false;
  private ended = false;

  constructor(
    private readonly socket: Socket,
    private readonly onFlushed: () => void,
  ) {
    socket.on("close", () => {
      this.ended = true;
      this.pending = 0;
      this.onFlushed();
    });
  }

  /** Sends nothing if the peer is gone. The reading side detects that. */
  send(header: Partial<FrameHeader> & { readonly type: FrameType }, payload?: Buffer): void {
    if (this.ended) return;
    this.gather();
    const length = payload?.length ?? 0;
    const head = encodeHeader({ ...header, bytes: length });
    this.bytesSent += head.length + length;
    this.pending++;
    if (payload && length > 0) {
      this.socket.write(head);
      this.socket.write(payload, this.written);
    } else {
      this.socket.write(head, this.written);
    }
  }

  /** Passes the frames to the kernel now instead of at the end of the tick, for a caller that continues to compute. */
  flush(): void {
    if (!this.corked) return;
    this.corked = false;
    this.socket.uncork();
  }

  /** Ends the stream after the pending writes. Destroys it if the peer does not accept them. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.socket.end();
    const giveUp = setTimeout(() => this.socket.destroy(), 2_000).unref();
    this.socket.once("close", () => clearTimeout(giveUp));
  }

  destroy(): void {
    this.ended = true;
    this.socket.destroy();
  }

  private readonly written = () => {
    if (this.pending === 0) return;
    if (--this.pending === 0) this.onFlushed();
  };

  /** Collects the frames of one tick into one system call: a small sum is one packet. */
  private gather(): void {
    if (this.corked) return;
    this.corked = true;
    this.socket.cork();
    process.nextTick(() => this.flush());
  }
}

interface PeerEvents extends FrameSink {
  /** Called on any data or heartbeat. */
  heard(): void;
  /** Called when the stream from the peer has ended for any reason. */
  ended(cause: unknown): void;
  flushed(): void;
}

interface PeerAddress {
  readonly host: string;
  readonly port: number;
  /** Tried first: it connects if the peer is on the same host, and is refused at once otherwise. */
  readonly localPath?: string;
  readonly hello: string;
}

/** One other rank: the dialled connection (read) and the accepted connection (written). */
export class Peer {
  /** Set when the peer has accepted our connection and shown that it knows the generation. */
  welcomed = false;
  /** The peer has left, died or given up. Data that it sent before still counts. */
  departed = false;
  lastHeard: number;
  outbound: Outbound | undefined;
  private inbound: Socket;
  private readonly reader: FrameReader;
  private readonly extra = new Set<Socket>();
  private endedOnce = false;
  private paused = false;

  constructor(
    readonly rank: number,
    private readonly address: PeerAddress,
    private readonly events: PeerEvents,
    now: number,
  ) {
    this.lastHeard = now;
    this.reader = new FrameReader(events);
    this.inbound = address.localPath === undefined ? this.dialTcp() : this.dialLocally(address.localPath);
  }

  acceptData(socket: Socket): void {
    this.outbound?.destroy();
    this.outbound = new Outbound(socket, () => this.events.flushed());
    // Only the end of the stream arrives here, and it is noticed only while reading.
    socket.on("data", () => {});
    socket.resume();
  }

  acceptHeartbeat(socket: Socket): void {
    this.extra.add(socket);
    socket.on("close", () => this.extra.delete(socket));
    socket.on("data", () => this.events.heard());
    socket.resume();
    this.events.heard();
  }

  resume(): void {
    if (!this.paused || this.endedOnce) return;
    this.paused = false;
    if (this.step(() => this.reader.resume())) this.inbound.resume();
    else this.paused = true;
  }

  /** Drops unsent data. The peer needs nothing else, and its memory may change from now on, so it must not arrive. */
  dropUnsent(): void {
    if (this.outbound && this.outbound.pending > 0) this.outbound.destroy();
  }

  /** @param farewell ends the writing side in order if all was flushed; otherwise the connections are cut */
  close(farewell?: (outbound: Outbound) => void): void {
    this.endedOnce = true;
    this.inbound.destroy();
    for (const socket of this.extra) socket.destroy();
    if (!this.outbound) return;
    if (farewell && this.outbound.pending === 0) {
      farewell(this.outbound);
      this.outbound.end();
    } else {
      // A peer that waits for these bytes must not receive the buffers' later content.
      this.outbound.destroy();
    }
  }

  private dialTcp(): Socket {
    const { host, port } = this.address;
    return this.dial({ host, port, noDelay: true }, (failure) => this.end(failure));
  }

  private dialLocally(path: string): Socket {
    let connected = false;
    const socket = this.dial({ path }, (failure) => {
      if (connected || this.endedOnce) this.end(failure);
      else this.inbound = this.dialTcp();
    });
    socket.on("connect", () => {
      connected = true;
    });
    return socket;
  }

  private dial(to: IpcNetConnectOpts | TcpNetConnectOpts, onClose: (failure: unknown) => void): Socket {
    const onread = {
      buffer: () => this.reader.nextBuffer(),
      callback: (length: number, buffer: Uint8Array) => {
        this.events.heard();
        const open = this.step(() => this.reader.received(length, buffer));
        this.paused = !open;
        return open;
      },
    };
    const socket = connect({ ...to, onread });
    let failure: unknown;
    socket.on("connect", () => socket.write(this.address.hello));
    socket.on("error", (error) => {
      failure = error;
      socket.destroy();
    });
    socket.on("end", () => this.end(undefined));
    socket.on("close", () => onClose(failure));
    return socket;
  }

  private step(advance: () => boolean): boolean {
    try {
      return advance();
    } catch (error) {
      this.end(error);
      return false;
    }
  }

  private end(cause: unknown): void {
    if (this.endedOnce) return;
    this.endedOnce = true;
    this.inbound.destroy();
    this.events.ended(cause);
  }
}
