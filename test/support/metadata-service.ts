import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The state of an instance, by the path below `/latest/meta-data/`. An absent item is answered with 404. */
export type Items = Readonly<Record<string, string | undefined>>;

export class MetadataService {
  items: Items = {};
  hangs = false;
  /** Milliseconds that a token lives. The real service takes it from the request. */
  tokenMs = 60_000;
  private tokens = new Map<string, number>();
  private server: Server | undefined;
  private port = 0;

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts the service, with no tokens, on the same port as before. */
  async start(): Promise<void> {
    this.tokens = new Map();
    this.server = createServer((request, response) => {
      if (this.hangs) return;
      const { status, body } = this.respond(request);
      response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(body);
    });
    await new Promise<void>((listening) => this.server!.listen(this.port, "127.0.0.1", listening));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((closed) => this.server?.close(closed));
  }

  private respond({ method, url = "/", headers }: IncomingMessage): { readonly status: number; readonly body: string } {
    if (method === "PUT" && url === "/latest/api/token") {
      const seconds = Number(headers["x-aws-ec2-metadata-token-ttl-seconds"]);
      if (!(seconds >= 1 && seconds <= 21_600)) return { status: 400, body: "400 - Bad Request" };
      const token = randomBytes(24).toString("base64");
      this.tokens.set(token, Date.now() + this.tokenMs);
      return { status: 200, body: token };
    }
    const expires = this.tokens.get(String(headers["x-aws-ec2-metadata-token"])) ?? 0;
    if (expires < Date.now()) return { status: 401, body: "401 - Unauthorized" };
    const body = method === "GET" ? this.items[url.replace("/latest/meta-data/", "")] : undefined;
    return body === undefined ? { status: 404, body: "404 - Not Found" } : { status: 200, body };
  }
}
