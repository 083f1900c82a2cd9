import { Agent, request } from "node:http";

/** Cheap keep-alive connections to one server: the clients share the machine with the measured server. */
export class HttpClient {
  private readonly agent: Agent;
  private readonly host: string;
  private readonly port: number;

  constructor(base: string, connections: number) {
    const url = new URL(base);
    this.host = url.hostname;
    this.port = Number(url.port);
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** @throws Error for an answer that is no 2xx */
  call(method: "GET" | "POST", path: string, body?: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers =
        body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const sent = request(
        { agent: this.agent, host: this.host, port: this.port, method, path, headers },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString("utf8");
            if (response.statusCode! >= 200 && response.statusCode! < 300) resolve(text);
            else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${text.slice(0, 500)}`));
          });
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
  }

  async json(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown> {
    return JSON.parse(await this.call(method, path, body === undefined ? undefined : JSON.stringify(body)));
  }

  close(): void {
    this.agent.destroy();
  }
}
