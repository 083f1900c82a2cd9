import type { Deployment } from "../../adapters/platform";
import { createApp } from "../../api/app";
import { internalError } from "../../local/dynamodb/errors";

it("says that the disk is full, where a store says so", async () => {
  const error = internalError(new Error("IO error: /data/dynamodb/000003.log: No space left on device"));
  const registry = { list: () => Promise.reject(error) };
  const logger = { log: () => undefined, with: () => logger };
  const forTeam = () => ({ registry });
  const deployment = { forTeam, logger, clock: { now: () => 0 } } as unknown as Deployment;
  const response = await createApp(deployment).request("/api/v1/models");
  expect(response.status).toBe(507);
  expect(((await response.json()) as { error: unknown }).error).toMatchObject({
    code: "STORAGE_FULL",
    message: expect.stringMatching(
      /disk that holds the tables is full; nothing of it was stored.*send the request again/,
    ),
  });
});
