import type { Socket } from "node:net";
import { encodeHeader, type FrameHeader, type FrameType } from "./frame";

/**
 * The writing side towards one peer. Payloads are not copied: the caller may change them again only once `pending` is 0
 * or the socket is destroyed.
 */
export class Outbound {
  /** Writes that the kernel has not taken yet. */
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
