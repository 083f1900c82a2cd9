import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { AllRuns, RunQuery } from "../../core/runs/run-repository";
import type { Run } from "../../core/runs/shapes";
import type { FirstRecord } from "../../core/tracking/records/training-record";
import { createAttemptRepository } from "./attempt-repository";
import { holds, isTransactionConditionFailed, queryAll, queryMatching } from "./client";
import { readRow } from "./lineage-rows";
import { newRecordRow } from "./record-rows";
import { createRunSteps, openStatuses, runKey, runOf, stillOpen } from "./run-steps";
import { createWorkerRepository } from "./worker-repository";

/** Every team's runs in the Catalog table; keys and mechanisms in docs/access-patterns.md, "Runs". */
export function createRunRepository(client: DynamoDBDocumentClient, table: string): AllRuns<FirstRecord> {
  const steps = createRunSteps(client, table);
  const { find } = steps;

  const recordPut = (run: Run, { identity, kept }: FirstRecord) => ({
    TableName: table,
    Item: newRecordRow(identity, kept, Date.parse(run.createdAt)),
    ConditionExpression: "attribute_not_exists(pk)",
  });

  return {
    ...steps,

    async create(run, record) {
      const { status, phase, updatedAt, awaitingSince, endedAt, failure, outcome, ...fixed } = run;
      try {
        await client.send(
          new TransactWriteCommand({
            TransactItems: [
              {
                Put: {
                  TableName: table,
                  Item: {
                    ...runKey(run.runId, "RUN"),
                    gsi1pk: `TEAM#${run.team}#RUNS`,
                    gsi1sk: `${run.createdAt}#${run.runId}`,
                    team: run.team,
                    experimentId: record?.identity.experimentId,
                    data: fixed,
                    status,
                    phase,
                    updatedAt,
                    endedAt,
                    failure,
                    outcome,
                  },
                  ConditionExpression: "attribute_not_exists(pk)",
                },
              },
              {
                Put: {
                  TableName: table,
                  Item: {
                    ...runKey(run.runId, "OPEN"),
                    gsi1pk: "OPEN#RUNS",
                    gsi1sk: `${run.createdAt}#${run.runId}`,
                    runId: run.runId,
                  },
                },
              },
              ...(record ? [{ Put: recordPut(run, record) }] : []),
              { Put: { TableName: table, Item: readRow(run.team, run.dataset, run.runId) } },
            ],
          }),
        );
        return { created: true, run };
      } catch (error) {
        if (!isTransactionConditionFailed(error)) throw error;
        return { created: false, run: (await find(run.runId)) ?? run };
      }
    },

    async list({ team, limit, nextToken, ...filter }) {
      const { values, ...expressions } = filterOf(filter);
      const page = await queryMatching(
        client,
        {
          TableName: table,
          IndexName: "gsi1",
          KeyConditionExpression: "gsi1pk = :team",
          ...expressions,
          ExpressionAttributeValues: { ":team": `TEAM#${team}#RUNS`, ...values },
          ScanIndexForward: false,
        },
        limit,
        nextToken,
        ["pk", "sk", "gsi1pk", "gsi1sk"],
      );
      return { runs: page.items.map(runOf), nextToken: page.nextToken };
    },

    async listOpen() {
      const open = await queryAll(client, {
        TableName: table,
        IndexName: "gsi1",
        KeyConditionExpression: "gsi1pk = :open",
        ExpressionAttributeValues: { ":open": "OPEN#RUNS" },
      });
      const runs = await Promise.all(open.map((item) => find(item["runId"] as string)));
      return runs.filter((run): run is Run => run !== undefined);
    },

    async close(runId, { status, at, failure, outcome }) {
      const names: Record<string, string> = { "#status": "status" };
      const values: Record<string, unknown> = { ...openStatuses, ":status": status, ":at": at };
      let update = "SET #status = :status, updatedAt = :at, endedAt = :at";
      if (failure) {
        update += ", failure = :failure";
        values[":failure"] = failure;
      }
      if (outcome) {
        update += ", outcome = :outcome";
        values[":outcome"] = outcome;
      }
      return holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: runKey(runId, "RUN"),
            UpdateExpression: update,
            ConditionExpression: stillOpen,
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: values,
          }),
        ),
      );
    },

    async delist(runId) {
      await client.send(new DeleteCommand({ TableName: table, Key: runKey(runId, "OPEN") }));
    },

    async markEndPublished(runId) {
      await holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: runKey(runId, "OPEN"),
            UpdateExpression: "SET endPublished = :yes",
            ConditionExpression: "attribute_exists(pk)",
            ExpressionAttributeValues: { ":yes": true },
          }),
        ),
      );
    },

    ...createAttemptRepository(client, table, runKey),
    ...createWorkerRepository(client, table, runKey),

    async recordWarning(runId, warning) {
      await client.send(
        new PutCommand({ TableName: table, Item: { ...runKey(runId, `WARNING#${warning.code}`), record: warning } }),
      );
    },

    async recordProgress(runId, progress) {
      await holds(
        client.send(
          new PutCommand({
            TableName: table,
            Item: {
              ...runKey(runId, "PROGRESS"),
              step: progress.step,
              generation: progress.generation,
              record: progress,
            },
            ConditionExpression:
              "attribute_not_exists(pk) OR generation < :generation OR (generation = :generation AND #step <= :step)",
            ExpressionAttributeNames: { "#step": "step" },
            ExpressionAttributeValues: { ":step": progress.step, ":generation": progress.generation },
          }),
        ),
      );
    },
  };
}

/** Returns the filter of a list of runs as DynamoDB expressions. */
function filterOf({ experiment, status }: Pick<RunQuery, "experiment" | "status">) {
  const conditions: string[] = [];
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  if (experiment !== undefined) {
    conditions.push("(experimentId = :id OR (attribute_not_exists(experimentId) AND #data.#job.experiment = :name))");
    Object.assign(names, { "#data": "data", "#job": "job" });
    Object.assign(values, { ":id": experiment.experimentId, ":name": experiment.name });
  }
  if (status !== undefined) {
    const awaiting = status === "awaiting-approval";
    names["#status"] = "status";
    values[":status"] = awaiting ? "running" : status;
    conditions.push("#status = :status");
    if (awaiting || status === "running") {
      values[":phase"] = "AwaitApproval";
      conditions.push(awaiting ? "phase = :phase" : "(attribute_not_exists(phase) OR phase <> :phase)");
    }
  }
  return {
    ...(conditions.length === 0 ? {} : { FilterExpression: conditions.join(" AND ") }),
    ...(Object.keys(names).length === 0 ? {} : { ExpressionAttributeNames: names }),
    values,
  };
}
