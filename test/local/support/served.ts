import type { AddressInfo } from "node:net";
import { createFront } from "../../../local/front";
import type { Service } from "../../../local/service";
import { testIam } from "../../support/iam";

/** Serves a service with its own front. Returns the settings for an SDK client without retries. */
export async function serve(service: Service) {
  const server = createFront([service], testIam);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    connection: {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: "us-east-1",
      credentials: testIam.owner,
      maxAttempts: 1,
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await service.close();
    },
  };
}
