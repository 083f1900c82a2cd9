import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly status: number;
}

/** A receiver of webhooks on this machine, which refuses the first requests with status 500. */
export class Receiver {
  readonly received: Received[] = [];
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const status = this.refusals > 0 ? 500 : 204;
      this.refusals -= 1;
      const body = Buffer.concat(chunks).toString("utf8");
      this.received.push({ path: request.url ?? "", headers: request.headers, body, status });
      response.writeHead(status).end();
    });
  });

  constructor(public refusals: number) {}

  async listen(): Promise<string> {
    await new Promise<void>((ready) => this.server.listen(0, "127.0.0.1", ready));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  accepted(path: string): readonly Received[] {
    return this.received.filter((one) => one.path === path && one.status === 204);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }
}

/** Verifies a request as Standard Webhooks has it. @param key `whsec_…` */
export function isSigned({ headers, body }: Received, key: string): boolean {
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const secret = Buffer.from(key.replace("whsec_", ""), "base64");
  const expected = `v1,${createHmac("sha256", secret).update(signed).digest("base64")}`;
  return headers["webhook-signature"] === expected;
}
