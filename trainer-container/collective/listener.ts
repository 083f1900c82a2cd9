import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";

/**
 * A connection's first line, as JSON. The dialling side reads the frames of a `data` connection (only there does Node
 * read into given memory). On `pulse` it sends single bytes: its process is alive.
 */
export interface Hello {
  readonly kind: "data" | "pulse";
  readonly gangId: string;
  readonly generation: number;
  readonly from: number;
  readonly to: number;
  /** Drawn by the member that sealed the generation. Only readers of the store know it. */
  readonly token: string;
  /** V. All members must agree, otherwise the sums would differ. */
  readonly microBatches: number;
}

const maxHelloLength = 2_048;

export function encodeHello(hello: Hello): string {
  return `${JSON.stringify(hello)}\n`;
}

/** Parses a hello; `undefined` if the line is none. */
export function parseHello(line: string): Hello | undefined {
  try {
    const value: Partial<Record<keyof Hello, unknown>> = JSON.parse(line);
    const whole = [value.generation, value.from, value.to, value.microBatches].every(Number.isSafeInteger);
    const texts = [value.gangId, value.token].every((text) => typeof text === "string");
    const isKnownKind = value.kind === "data" || value.kind === "pulse";
    return whole && texts && isKnownKind ? (value as unknown as Hello) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the reason why rank `to` of a generation refuses a hello; `undefined` if it accepts. */
function whyRefused(
  hello: Hello,
  own: Pick<Hello, "gangId" | "generation" | "token" | "microBatches"> & {
    readonly rank: number;
    readonly worldSize: number;
  },
): string | undefined {
  if (hello.gangId !== own.gangId) return `it names gang ${hello.gangId}, but this is ${own.gangId}`;
  if (hello.generation !== own.generation) return `it is of generation ${hello.generation}, this of ${own.generation}`;
  if (!sameSecret(hello.token, own.token)) return "its token is not this generation's";
  if (hello.to !== own.rank) return `it looks for rank ${hello.to}, but this is rank ${own.rank}`;
  if (hello.from < 0 || hello.from >= own.worldSize || hello.from === own.rank) return `there is no rank ${hello.from}`;
  if (hello.microBatches !== own.microBatches) {
    return `it sums ${hello.microBatches} micro-batches, but this run has ${own.microBatches}`;
  }
  return undefined;
}

function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/**
 * The address of workers on one host: an abstract Unix socket, a quarter less CPU time than TCP. Its name is derived
 * from the random incarnation, which only readers of the gang's store know.
 * @param port the worker's TCP port; after a port translation no socket is found
 * @returns `undefined` if the platform has no abstract sockets
 */
export function localSocketPath(
  { incarnation, port }: { readonly incarnation: string; readonly port: number },
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform !== "linux") return undefined;
  const name = createHash("sha256").update(`${incarnation}:${port}`).digest("hex").slice(0, 32);
  return `\0ringmaster-${name}`;
}

interface OpenGeneration {
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
 * One port and socket per process. A caller who read the sealed list first waits, and `onAhead` wakes the rendezvous.
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
