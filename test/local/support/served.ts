import { createFront } from "../../../local/front";
import type { Service } from "../../../local/service";
import { testIam } from "../../support/iam";
import { startServer } from "../../support/web-server";

export async function serve(service: Service) {
  const server = await startServer(createFront([service], testIam));
  return {
    connection: {
      endpoint: server.endpoint,
      region: "us-east-1",
      credentials: testIam.owner,
      maxAttempts: 1,
    },
    async close(): Promise<void> {
      await server.close();
      await service.close();
    },
  };
}
