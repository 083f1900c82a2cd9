import { Agent, request } from "node:http";

/** Sends JSON over keep-alive connections, like a busy client. */
export interface JsonClient {
  /** @throws Error if the answer is no 2xx */
  send(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown>;
  close(): void;
}

export function createJsonClient(base: string, connections: number): JsonClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(base);
  return {
    send(method, path, body) {
      const content = body === undefined ? undefined : JSON.stringify(body);
      const headers = content
        ? { "content-type": "application/json", "content-length": Buffer.byteLength(content) }
        : {};
      return new Promise((resolve, reject) => {
        const sent = request({ agent, hostname, port, method, path, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString("utf8");
            const { statusCode = 0 } = response;
            if (statusCode >= 200 && statusCode < 300) resolve(JSON.parse(text));
            else reject(new Error(`${method} ${path} was answered ${statusCode}: ${text.slice(0, 500)}`));
          });
        });
        sent.on("error", reject);
        sent.end(content);
      });
    },
    close: () => agent.destroy(),
  };
}
