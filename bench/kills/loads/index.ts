import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import type { Load } from "../../../test/support/operation-verdict";
import { connectRegistry } from "../../promotions/registry";
import { createApi } from "../api";
import type { KillableStack } from "../stack";
import { datasetsLoad, startCommand, tokensLoad } from "./commands";
import { dynamodbLoad } from "./dynamodb";
import { mlflowLoad } from "./mlflow";
import { modelsLoad } from "./models";
import { objectsLoad } from "./objects";
import { registryLoad } from "./registry";
import { statesLoad } from "./states";
import { trackingLoad } from "./tracking";
import { trainingLoads } from "./training";

export async function prepareLoads(stack: KillableStack, directory: string): Promise<readonly Load[]> {
  const token = await createToken(stack, "kills");
  const approver = await createToken(stack, "approver", "read,approve");
  const api = createApi(() => stack.api, token);
  const approverApi = createApi(() => stack.api, approver);
  const { connection } = stack;
  const place = { table: "ringmaster-Catalog", bucket: "ringmaster-data", platform: "ringmaster" };
  return [
    trackingLoad(api),
    mlflowLoad(api),
    modelsLoad(api),
    registryLoad(connectRegistry(connection, place)),
    await dynamodbLoad(new DynamoDBClient(connection)),
    await objectsLoad(new S3Client({ ...connection, forcePathStyle: true })),
    await statesLoad(new SFNClient(connection)),
    datasetsLoad(stack, api, directory, token),
    tokensLoad(stack, api),
    ...(await trainingLoads(stack, api, approverApi, directory, token)),
  ];
}

async function createToken(stack: KillableStack, actor: string, scopes = "read,write"): Promise<string> {
  const output = await startCommand(stack, undefined, ["tokens", "create", actor, "--scope", scopes]).output;
  return (JSON.parse(output) as { readonly token: string }).token;
}
