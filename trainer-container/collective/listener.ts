import { createServer, type Server, type Socket } from "node:net";
import { type Hello, maxHelloLength, parseHello, whyRefused } from "./hello";
import { localSocketPath } from "./local-socket";

/** A generation that accepts connections. */
export interface OpenGeneration {
  readonly gangId: string;
  readonly generation: number;
  readonly token: string;
  readonly rank: number;
  readonly worldSize: number;
  readonly microBatches: number;
  accept(hello: Hello, socket: Socket): void;
}

export interface ListenerOptions {
  /** Interface to listen on; `0.0.0.0` for all. */
  readonly host: string;
  /** Maximum time for a caller to send its hello, or to wait for a generation that is not open here yet. */
  readonly patienceMs: number;
  /** This process's incarnation. If given, workers on the same host may connect without TCP. */
  readonly incarnation?: string;
  readonly onRefused?: (reason: string) => void;
}

interface Waiting {
  readonly hello: Hello;
  readonly socket: Socket;
  readonly giveUp: NodeJS.Timeout;
}

/**
 * One port and one local socket per process, for all its generations. A caller may have read a sealed list before this
 * process. Its connection then waits, and `onAhead` makes the rendezvous read the store at once.
 */
export class Listener {
  private open: OpenGeneration | undefined;
  private readonly waiting = new Set<Waiting>();
  private readonly sockets = new Set<Socket>();
  private local: Server | undefined;
  /** Called with a generation that a caller knows and this process does not. */
  onAhead: ((generation: number) => void) | undefined;

  private constructor(
    private readonly server: Server,
    private readonly options: ListenerOptions,
  ) {
    server.on("connection", (socket) => this.greet(socket));
  }

  /** Listens on an ephemeral port: two workers may share a host. */
  static async start(options: ListenerOptions): Promise<Listener> {
    const server = createServer({ noDelay: true });
    const listener = new Listener(server, options);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, options.host, () => {
        server.removeListener("error", reject);
        resolve();
      });
    });
    await listener.listenLocally();
    return listener;
  }

  get port(): number {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("the listener is closed");
    return address.port;
  }

  /** Replaces the generation that accepts connections. @returns a function that undoes it */
  openFor(generation: OpenGeneration): () => void {
    this.open = generation;
    for (const caller of [...this.waiting]) {
      this.waiting.delete(caller);
      clearTimeout(caller.giveUp);
      this.route(caller.hello, caller.socket);
    }
    return () => {
      if (this.open === generation) this.open = undefined;
    };
  }

  close(): void {
    this.server.close();
    this.local?.close();
    for (const caller of this.waiting) clearTimeout(caller.giveUp);
    for (const socket of this.sockets) socket.destroy();
  }

  /** Opens the local socket. It is optional: without it, all workers use TCP. */
  private listenLocally(): Promise<void> {
    const { incarnation } = this.options;
    const path = incarnation === undefined ? undefined : localSocketPath({ incarnation, port: this.port });
    if (path === undefined) return Promise.resolve();
    const local = createServer((socket) => this.greet(socket));
    return new Promise((resolve) => {
      local.on("error", () => resolve());
      local.listen(path, () => {
        this.local = local;
        resolve();
      });
    });
  }

  private greet(socket: Socket): void {
    this.sockets.add(socket);
    socket.on("close", () => this.sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const giveUp = setTimeout(() => this.refuse(socket, "it sent no hello"), this.options.patienceMs).unref();
    let text = "";
    const onData = (bytes: Buffer) => {
      text += bytes.toString("latin1");
      const lineEnd = text.indexOf("\n");
      if (lineEnd < 0 && text.length <= maxHelloLength) return;
      clearTimeout(giveUp);
      socket.removeListener("data", onData);
      socket.pause();
      const hello = lineEnd < 0 ? undefined : parseHello(text.slice(0, lineEnd));
      if (hello) this.route(hello, socket);
      else this.refuse(socket, "its first line is no hello");
    };
    socket.on("data", onData);
    socket.once("close", () => clearTimeout(giveUp));
  }

  private route(hello: Hello, socket: Socket): void {
    if (socket.destroyed) return;
    if (!this.open || hello.generation > this.open.generation) {
      const giveUp = setTimeout(() => {
        this.waiting.delete(caller);
        this.refuse(socket, `generation ${hello.generation} did not open here`);
      }, this.options.patienceMs).unref();
      const caller: Waiting = { hello, socket, giveUp };
      this.waiting.add(caller);
      this.onAhead?.(hello.generation);
      return;
    }
    const reason = whyRefused(hello, this.open);
    if (reason === undefined) {
      // From here on the generation owns the socket, and ends it after its last write.
      this.sockets.delete(socket);
      this.open.accept(hello, socket);
    } else {
      this.refuse(socket, reason);
    }
  }

  private refuse(socket: Socket, reason: string): void {
    if (socket.destroyed) return;
    this.options.onRefused?.(reason);
    socket.destroy();
  }
}
