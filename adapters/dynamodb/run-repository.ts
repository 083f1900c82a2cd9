import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { TrainingProgress } from "../../core/tracking/metric-batch";
import type { Run, RunDetails, StepRecord, TrainingAttempt, WorkerRecord } from "../../core/training/run";
import type { AllRuns } from "../../core/training/run-repository";
import { holds, isTransactionConditionFailed, queryAll, queryPage } from "./client";

const pad = (n: number, digits: number): string => String(n).padStart(digits, "0");
const partition = (runId: string): string => `RUN#${runId}`;
const stillOpen = "attribute_exists(pk) AND #status IN (:queued, :running)";
const openStatuses = { ":queued": "queued", ":running": "running" };

/** Order of a Batch job's statuses in time, to tell a late event from a new one. */
const statusOrder = ["SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"];

/** Every team's runs in the Catalog table; keys and mechanisms in docs/access-patterns.md, "Runs". */
export function createRunRepository(client: DynamoDBDocumentClient, table: string): AllRuns {
  const key = (runId: string, sk: string) => ({ pk: partition(runId), sk });

  async function find(runId: string): Promise<Run | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: key(runId, "RUN"), ConsistentRead: true }),
    );
    return Item?.["data"] === undefined ? undefined : runOf(Item);
  }

  return {
    find,

    async create(run) {
      const { status, phase, updatedAt, endedAt, failure, outcome, ...fixed } = run;
      try {
        await client.send(
          new TransactWriteCommand({
            TransactItems: [
              {
                Put: {
                  TableName: table,
                  Item: {
                    ...key(run.runId, "RUN"),
                    gsi1pk: `TEAM#${run.team}#RUNS`,
                    gsi1sk: `${run.createdAt}#${run.runId}`,
                    team: run.team,
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
                    ...key(run.runId, "OPEN"),
                    gsi1pk: "OPEN#RUNS",
                    gsi1sk: `${run.createdAt}#${run.runId}`,
                    runId: run.runId,
                  },
                },
              },
            ],
          }),
        );
        return { created: true, run };
      } catch (error) {
        if (!isTransactionConditionFailed(error)) throw error;
        return { created: false, run: (await find(run.runId)) ?? run };
      }
    },

    async findDetails(runId) {
      return detailsOf(
        await queryAll(client, {
          TableName: table,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: { ":pk": partition(runId) },
          ConsistentRead: true,
        }),
      );
    },

    async list({ team, limit, nextToken }) {
      const page = await queryPage(
        client,
        {
          TableName: table,
          IndexName: "gsi1",
          KeyConditionExpression: "gsi1pk = :team",
          ExpressionAttributeValues: { ":team": `TEAM#${team}#RUNS` },
          ScanIndexForward: false,
          Limit: limit,
        },
        nextToken,
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

    async enterPhase(runId, phase, at) {
      return holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: key(runId, "RUN"),
            UpdateExpression: "SET #status = :running, phase = :phase, updatedAt = :at",
            ConditionExpression: stillOpen,
            ExpressionAttributeNames: { "#status": "status" },
            ExpressionAttributeValues: { ...openStatuses, ":phase": phase, ":at": at },
          }),
        ),
      );
    },

    async conclude(runId, { status, at, failure, outcome, workLeft }) {
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
      try {
        await client.send(
          new TransactWriteCommand({
            TransactItems: [
              {
                Update: {
                  TableName: table,
                  Key: key(runId, "RUN"),
                  UpdateExpression: update,
                  ConditionExpression: stillOpen,
                  ExpressionAttributeNames: names,
                  ExpressionAttributeValues: values,
                },
              },
              ...(workLeft ? [] : [{ Delete: { TableName: table, Key: key(runId, "OPEN") } }]),
            ],
          }),
        );
        return true;
      } catch (error) {
        if (!isTransactionConditionFailed(error)) throw error;
        return false;
      }
    },

    async delist(runId) {
      await client.send(new DeleteCommand({ TableName: table, Key: key(runId, "OPEN") }));
    },

    async recordStep(runId, record) {
      await client.send(new PutCommand({ TableName: table, Item: { ...key(runId, `STEP#${record.step}`), record } }));
    },

    async putTaskToken(runId, phase, token) {
      await client.send(new PutCommand({ TableName: table, Item: { ...key(runId, `TOKEN#${phase}`), token } }));
    },

    async findTaskToken(runId, phase) {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: key(runId, `TOKEN#${phase}`), ConsistentRead: true }),
      );
      return Item?.["token"] as string | undefined;
    },

    async beginAttempt(runId, attempt) {
      return holds(
        client.send(
          new PutCommand({
            TableName: table,
            Item: { ...key(runId, `ATTEMPT#${pad(attempt.attempt, 4)}`), record: attempt },
            ConditionExpression: "attribute_not_exists(pk)",
          }),
        ),
      );
    },

    async updateAttempt(runId, attempt) {
      await client.send(
        new PutCommand({
          TableName: table,
          Item: { ...key(runId, `ATTEMPT#${pad(attempt.attempt, 4)}`), record: attempt },
        }),
      );
    },

    async recordWorker(runId, worker) {
      const order = worker.attempts.length * 100 + statusOrder.indexOf(worker.status);
      await holds(
        client.send(
          new PutCommand({
            TableName: table,
            Item: { ...key(runId, `WORKER#${pad(worker.workerIndex, 6)}`), jobId: worker.jobId, order, record: worker },
            ConditionExpression: "attribute_not_exists(pk) OR jobId <> :jobId OR #order < :order",
            ExpressionAttributeNames: { "#order": "order" },
            ExpressionAttributeValues: { ":jobId": worker.jobId, ":order": order },
          }),
        ),
      );
    },

    async recordProgress(runId, progress) {
      await holds(
        client.send(
          new PutCommand({
            TableName: table,
            Item: { ...key(runId, "PROGRESS"), step: progress.step, generation: progress.generation, record: progress },
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

function runOf(item: Record<string, unknown>): Run {
  const { status, phase, updatedAt, endedAt, failure, outcome } = item;
  return { ...(item["data"] as object), status, phase, updatedAt, endedAt, failure, outcome } as unknown as Run;
}

function detailsOf(items: readonly Record<string, unknown>[]): RunDetails | undefined {
  const row = items.find((item) => item["sk"] === "RUN");
  if (!row) return undefined;
  const records = <T>(prefix: string): T[] =>
    items.filter((item) => (item["sk"] as string).startsWith(prefix)).map((item) => item["record"] as T);
  return {
    run: runOf(row),
    steps: records<StepRecord>("STEP#").sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1)),
    attempts: records<TrainingAttempt>("ATTEMPT#"),
    workers: records<WorkerRecord>("WORKER#"),
    progress: records<TrainingProgress>("PROGRESS")[0],
  };
}
