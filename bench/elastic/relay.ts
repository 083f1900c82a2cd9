import {
  createServer as createHttpServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect, createServer, type Socket, type Server as TcpServer } from "node:net";
import { serviceName } from "../../local/front";
import { testIam } from "../../test/support/iam";
import { sign } from "../../test/support/sign";
import { parseHello } from "../../trainer-container/collective/listener";

const digest = "x-amz-content-sha256";

export type Blocked = (from: number, to: number) => boolean;

interface Registration {
  readonly sk: { readonly S: string };
  readonly port?: { N: string };
  readonly workerIndex?: { readonly N: string };
  readonly token?: { readonly S: string };
  readonly members?: { readonly L: readonly { readonly M: { readonly workerIndex: { readonly N: string } } }[] };
}

/**
 * Controls the network between workers without root: a relay in front of the store writes its own port into a worker's
 * registration, so that others dial the relay. It can drop a pair's connections, or keep them and hold back one side's data.
 */
export class Relay {
  private readonly lines = new Set<Line>();
  private readonly listeners = new Map<number, TcpServer>();
  /** Worker indexes by rank for each sealed list, by its token. */
  private readonly lists = new Map<string, readonly number[]>();
  private blocked: Blocked = () => false;
  private away: "dynamodb" | "s3" | undefined;
  private store: Server | undefined;
  /** Number of data connections so far. */
  carried = 0;

  private constructor(private readonly target: URL) {}

  static async start(endpoint: string): Promise<Relay> {
    const relay = new Relay(new URL(endpoint));
    relay.store = createHttpServer((incoming, answer) => void relay.pass(incoming, answer));
    await new Promise<void>((resolve) => relay.store!.listen(0, "127.0.0.1", resolve));
    return relay;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.store!.address() as AddressInfo).port}`;
  }

  /** Makes requests to that service end in a closed connection from now on. */
  takeAway(service: "dynamodb" | "s3" | undefined): void {
    this.away = service;
  }

  drop(one: number, other: number): void {
    for (const line of [...this.lines]) if (line.joins(one, other)) line.destroy();
  }

  block(blocked: Blocked): void {
    this.blocked = blocked;
    for (const line of [...this.lines]) line.flow();
  }

  async close(): Promise<void> {
    for (const line of [...this.lines]) line.destroy();
    for (const listener of this.listeners.values()) listener.close();
    this.store!.closeAllConnections();
    await new Promise((resolve) => this.store!.close(resolve));
  }

  private async pass(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method, url, headers } = incoming;
    if (this.away !== undefined && this.away === serviceName(incoming)) {
      incoming.socket.destroy();
      return;
    }
    const service = serviceName(incoming) ?? "";
    const body = service === "s3" ? undefined : await this.bodyFor(incoming);
    // The store's address differs from the signed one, and the body may differ.
    const dropped = new Set(["host", "authorization", "connection", ...(body ? ["content-length", digest] : [])]);
    const kept = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || dropped.has(name) ? [] : [[name, String(value)] as const],
    );
    const path = new URL(url ?? "/", this.target).href;
    const signed = await sign({ method, url: path, headers: Object.fromEntries(kept), body, service }, testIam.owner);
    const outgoing = request(path, { method, headers: signed });
    outgoing.on("error", () => answer.destroy());
    outgoing.on("response", (response) => {
      answer.writeHead(response.statusCode!, response.headers);
      response.on("error", () => answer.destroy());
      response.pipe(answer);
    });
    if (body) outgoing.end(body);
    else incoming.pipe(outgoing);
  }

  private async bodyFor(incoming: IncomingMessage): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (incoming.headers["x-amz-target"] !== "DynamoDB_20120810.PutItem") return body;
    const put = JSON.parse(body.toString()) as { Item: Registration };
    await this.rewrite(put.Item);
    return Buffer.from(JSON.stringify(put));
  }

  private async rewrite(item: Registration): Promise<void> {
    if (item.sk.S === "HEAD") {
      this.lists.set(
        item.token!.S,
        item.members!.L.map(({ M }) => Number(M.workerIndex.N)),
      );
    } else if (item.port && item.port.N !== "0") {
      const port = Number(item.port.N);
      item.port.N = String(await this.listenerTo(port));
    }
  }

  private async listenerTo(port: number): Promise<number> {
    let listener = this.listeners.get(port);
    if (!listener) {
      listener = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
        const line: Line = new Line(
          socket,
          port,
          this.lists,
          (from, to) => this.blocked(from, to),
          () => this.lines.delete(line),
          () => {
            this.carried += 1;
          },
        );
        this.lines.add(line);
      });
      this.listeners.set(port, listener);
      await new Promise<void>((resolve) => listener!.listen(0, "127.0.0.1", resolve));
    }
    return (listener.address() as AddressInfo).port;
  }
}

class Line {
  private readonly listener: Socket;
  private readonly out: Direction;
  private readonly back: Direction;
  private pair: { readonly dialler: number; readonly listener: number } | undefined;
  private greeting = "";

  constructor(
    private readonly dialler: Socket,
    port: number,
    private readonly lists: ReadonlyMap<string, readonly number[]>,
    private readonly blocked: Blocked,
    private readonly onEnd: () => void,
    private readonly onData: () => void,
  ) {
    this.listener = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
    this.out = new Direction(
      dialler,
      this.listener,
      () => this.holds("out"),
      (bytes) => this.greet(bytes),
    );
    this.back = new Direction(this.listener, dialler, () => this.holds("back"));
    for (const [socket, direction] of [
      [dialler, this.out],
      [this.listener, this.back],
    ] as const) {
      socket.on("error", () => undefined);
      socket.on("close", () => direction.add("close"));
    }
    dialler.on("close", () => this.listener.destroyed && onEnd());
    this.listener.on("close", () => dialler.destroyed && onEnd());
  }

  joins(one: number, other: number): boolean {
    const { dialler, listener } = this.pair ?? {};
    return (dialler === one && listener === other) || (dialler === other && listener === one);
  }

  flow(): void {
    this.out.flow();
    this.back.flow();
  }

  destroy(): void {
    this.dialler.resetAndDestroy();
    this.listener.resetAndDestroy();
    this.onEnd();
  }

  private holds(direction: "out" | "back"): boolean {
    if (!this.pair) return false;
    const { dialler, listener } = this.pair;
    return direction === "out" ? this.blocked(dialler, listener) : this.blocked(listener, dialler);
  }

  private greet(bytes: Buffer): void {
    if (this.pair) return;
    this.greeting += bytes.toString("latin1");
    const end = this.greeting.indexOf("\n");
    const hello = end < 0 ? undefined : parseHello(this.greeting.slice(0, end));
    const list = hello && this.lists.get(hello.token);
    if (hello?.kind === "data") this.onData();
    if (hello && list) this.pair = { dialler: list[hello.from]!, listener: list[hello.to]! };
  }
}

/** Data of one side in order: bytes, then an end or a break of the connection, which a cut network does not report. */
class Direction {
  private readonly queue: (Buffer | "end" | "close")[] = [];

  constructor(
    source: Socket,
    private readonly sink: Socket,
    private readonly holds: () => boolean,
    private readonly look: (bytes: Buffer) => void = () => undefined,
  ) {
    source.on("data", (bytes: Buffer) => {
      this.look(bytes);
      this.add(bytes);
    });
    source.on("end", () => this.add("end"));
  }

  add(event: Buffer | "end" | "close"): void {
    this.queue.push(event);
    this.flow();
  }

  flow(): void {
    while (this.queue.length > 0 && !this.holds()) {
      const event = this.queue.shift()!;
      if (event === "close") this.sink.destroySoon();
      else if (event === "end") this.sink.end();
      else if (!this.sink.destroyed && this.sink.writable) this.sink.write(event);
    }
  }
}
