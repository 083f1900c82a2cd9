import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import {
  type MachineRecord,
  phases,
  type RecoveryRecord,
  type Run,
  type RunDetails,
  type StepRecord,
  type TrainingAttempt,
  type WorkerRecord,
} from "../../core/runs/run";
import type { AllRuns, RunQuery } from "../../core/runs/run-repository";
import type { TrainingProgress } from "../../core/tracking/metric-batch";
import type { FirstRecord } from "../../core/tracking/records/training-record";
import { type Warning, warningsOf } from "../../core/warnings";
import { createAttemptRepository } from "./attempt-repository";
import { holds, isTransactionConditionFailed, queryAll, queryMatching } from "./client";
import { readRow } from "./lineage-rows";
import { newRecordRow } from "./record-rows";
import { createWorkerRepository } from "./worker-repository";

const partition = (runId: string): string => `RUN#${runId}`;
const stillOpen = "attribute_exists(pk) AND #status IN (:queued, :running)";
const openStatuses = { ":queued": "queued", ":running": "running" };

/** Stores every team's runs in the Catalog table (docs/access-patterns.md, "Runs"). */
export function createRunRepository(client: DynamoDBDocumentClient, table: string): AllRuns<FirstRecord> {
  const key = (runId: string, sk: string) => ({ pk: partition(runId), sk });

  async function find(runId: string): Promise<Run | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: key(runId, "RUN"), ConsistentRead: true }),
    );
    return Item?.["data"] === undefined ? undefined : runOf(Item);
  }

  const recordPut = (run: Run, { identity, kept }: FirstRecord) => ({
    TableName: table,
    Item: newRecordRow(identity, kept, Date.parse(run.createdAt)),
    ConditionExpression: "attribute_not_exists(pk)",
  });

  return {
    find,

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
                    ...key(run.runId, "RUN"),
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
                    ...key(run.runId, "OPEN"),
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

    async enterPhase(runId, phase, at) {
      return holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: key(runId, "RUN"),
            UpdateExpression: `SET #status = :running, phase = :phase, phaseOrder = :order, updatedAt = :at${
              phase === "AwaitApproval" ? ", awaitingSince = if_not_exists(awaitingSince, :at)" : ""
            }`,
            ConditionExpression: `${stillOpen} AND (attribute_not_exists(phaseOrder) OR phaseOrder <= :order)`,
            ExpressionAttributeNames: { "#status": "status" },
            ExpressionAttributeValues: { ...openStatuses, ":phase": phase, ":order": phases.indexOf(phase), ":at": at },
          }),
        ),
      );
    },

    async goBack(runId, from, to, at) {
      await holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: key(runId, "RUN"),
            UpdateExpression: "SET phase = :to, phaseOrder = :order, updatedAt = :at",
            ConditionExpression: `${stillOpen} AND phase = :from`,
            ExpressionAttributeNames: { "#status": "status" },
            ExpressionAttributeValues: {
              ...openStatuses,
              ":from": from,
              ":to": to,
              ":order": phases.indexOf(to),
              ":at": at,
            },
          }),
        ),
      );
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
            Key: key(runId, "RUN"),
            UpdateExpression: update,
            ConditionExpression: stillOpen,
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: values,
          }),
        ),
      );
    },

    async delist(runId) {
      await client.send(new DeleteCommand({ TableName: table, Key: key(runId, "OPEN") }));
    },

    async markEndPublished(runId) {
      await holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: key(runId, "OPEN"),
            UpdateExpression: "SET endPublished = :yes",
            ConditionExpression: "attribute_exists(pk)",
            ExpressionAttributeValues: { ":yes": true },
          }),
        ),
      );
    },

    async recordStep(runId, record) {
      await client.send(new PutCommand({ TableName: table, Item: { ...key(runId, `STEP#${record.step}`), record } }));
    },

    async putTaskToken(runId, phase, token) {
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key: key(runId, `TOKEN#${phase}`),
          UpdateExpression: "ADD tokens :token",
          ExpressionAttributeValues: { ":token": new Set([token]) },
        }),
      );
    },

    async findTaskTokens(runId, phase) {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: key(runId, `TOKEN#${phase}`), ConsistentRead: true }),
      );
      return [...((Item?.["tokens"] as ReadonlySet<string> | undefined) ?? [])];
    },

    ...createAttemptRepository(client, table, key),
    ...createWorkerRepository(client, table, key),

    async recordWarning(runId, warning) {
      await client.send(
        new PutCommand({ TableName: table, Item: { ...key(runId, `WARNING#${warning.code}`), record: warning } }),
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

/** Converts a row `RUN` to a run. */
export function runOf(item: Record<string, unknown>): Run {
  const { status, phase, updatedAt, awaitingSince, endedAt, failure, outcome } = item;
  const state = { status, phase, updatedAt, awaitingSince, endedAt, failure, outcome };
  return { ...(item["data"] as object), ...state } as unknown as Run;
}

function detailsOf(items: readonly Record<string, unknown>[]): RunDetails | undefined {
  const row = items.find((item) => item["sk"] === "RUN");
  if (!row) return undefined;
  const records = <T>(prefix: string): T[] =>
    items.filter((item) => (item["sk"] as string).startsWith(prefix)).map((item) => item["record"] as T);
  const steps = records<StepRecord>("STEP#").sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  return {
    run: runOf(row),
    steps,
    attempts: records<TrainingAttempt>("ATTEMPT#"),
    workers: records<WorkerRecord>("WORKER#"),
    machines: records<MachineRecord>("MACHINE#"),
    recoveries: records<RecoveryRecord>("RECOVERY#"),
    warnings: [...steps.flatMap(({ output }) => warningsOf(output)), ...records<Warning>("WARNING#")],
    progress: records<TrainingProgress>("PROGRESS")[0],
    ...(items.some((item) => item["sk"] === "OPEN" && item["endPublished"] === true)
      ? { endPublished: true as const }
      : {}),
  };
}
