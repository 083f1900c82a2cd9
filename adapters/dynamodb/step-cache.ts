import { type DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { CachedOutput, StepCache } from "../../core/runs/run-repository";
import { catalog } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { documents, isConditionFailed } from "./client";

/** Stores the outputs of a team's steps by input hash (docs/access-patterns.md, "Steps' outputs"). */
export function createStepCache(client: DynamoDBDocumentClient, table: string, team: string): StepCache {
  const keyOf = (step: string, inputHash: string) => ({ pk: `TEAM#${team}#STEP#${step}#${inputHash}`, sk: "OUTPUT" });

  async function find(step: string, inputHash: string): Promise<CachedOutput | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: keyOf(step, inputHash), ConsistentRead: true }),
    );
    return Item?.["cached"] as CachedOutput | undefined;
  }

  return {
    find,
    async keep(step, inputHash, output) {
      try {
        await client.send(
          new PutCommand({
            TableName: table,
            Item: { ...keyOf(step, inputHash), cached: output },
            ConditionExpression: "attribute_not_exists(pk)",
          }),
        );
        return output;
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
        return (await find(step, inputHash)) ?? output;
      }
    },
  };
}

export const stepCache = teamPort({
  uses: { documents: documents() },
  grants: { read: [catalog("GetItem")], write: [catalog("PutItem")] },
  make: ({ documents }, { config, team }) => createStepCache(documents, config.tables.catalog, team),
});
