import type { AddressInfo } from "node:net";
import { createFront } from "../../../local/front";
import type { Service } from "../../../local/service";

/** A service behind a front of its own, and what a stock client needs to reach it without retries. */
export async function serve(service: Service) {
  const server = createFront([service]);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    connection: {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: "us-east-1",
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
      maxAttempts: 1,
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await service.close();
    },
  };
}
