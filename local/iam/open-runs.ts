import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDocumentClient } from "../../adapters/dynamodb/client";
import { createRunRepository } from "../../adapters/dynamodb/run-repository";
import type { OwnerKeys } from "../../adapters/files/owner-keys";
import { isOpen } from "../../core/training/run";
import { region } from "../service";
import { localConfig } from "../settings";

/** Returns a look-up of whether a run is open, by its row in the embedded DynamoDB. */
export function openRuns(endpoint: string, credentials: OwnerKeys): (runId: string) => Promise<boolean> {
  const client = createDocumentClient(new DynamoDBClient({ endpoint, region, credentials }));
  const runs = createRunRepository(client, localConfig().tables.catalog);
  return async (runId) => {
    const run = await runs.find(runId);
    return run !== undefined && isOpen(run.status);
  };
}
