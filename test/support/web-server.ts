import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface WebServer {
  readonly port: number;
  readonly endpoint: string;
  close(): Promise<void>;
}

export async function startServer(given: Server | RequestListener): Promise<WebServer> {
  const server = typeof given === "function" ? createServer(given) : given;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
