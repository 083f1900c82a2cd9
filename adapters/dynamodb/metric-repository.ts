import { type DynamoDBDocumentClient, QueryCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { MetricSeries } from "../../core/tracking/metric-batch";
import type { MetricPoint, MetricRepository } from "../../core/tracking/metric-repository";
import { decodeValue, type EncodedValue, mergePoints } from "../../core/tracking/metric-values";
import { isConditionFailed, queryAll } from "./client";

/** Keeps an item far below DynamoDB's 400 KB and its write cost near that of a point by itself. */
const pointsPerItem = 400;
/** Items of one step in following a run: 10,000 points at most. */
const itemsPerPage = 25;

const padded = (step: number): string => String(step).padStart(12, "0");

/** Points packed as columns; docs/access-patterns.md, "Metrics". */
export function createMetricRepository(client: DynamoDBDocumentClient, table: string): MetricRepository {
  const partition = (runId: string): string => `RUN#${runId}`;

  const query = (runId: string, prefix: string) =>
    queryAll(client, {
      TableName: table,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: { ":pk": partition(runId), ":prefix": prefix },
    });

  async function writePoints(runId: string, series: MetricSeries): Promise<void> {
    for (let from = 0; from < series.steps.length; from += pointsPerItem) {
      const to = Math.min(from + pointsPerItem, series.steps.length);
      const first = padded(series.steps[from]);
      await client
        .send(
          new UpdateCommand({
            TableName: table,
            Key: { pk: partition(runId), sk: `POINTS#${series.metric}#${first}` },
            UpdateExpression: "SET steps = :steps, #values = :values, times = :times, #count = :count",
            // A longer batch from the same first step holds at least the points of a shorter one.
            ConditionExpression: "attribute_not_exists(pk) OR #count < :count",
            ExpressionAttributeNames: { "#values": "values", "#count": "count" },
            ExpressionAttributeValues: {
              ":steps": series.steps.slice(from, to),
              ":values": series.values.slice(from, to).map(storable),
              ":times": series.times.slice(from, to),
              ":count": to - from,
            },
          }),
        )
        .catch(ignoreFailedCondition);
    }
  }

  /** Each aggregate has its own condition, so that batches may come late, twice or out of order. */
  async function summarize(runId: string, series: MetricSeries): Promise<void> {
    const values = series.values.map(decodeValue);
    const numbers = values.filter((value) => !Number.isNaN(value));
    const at = series.steps.length - 1;
    const key = { pk: partition(runId), sk: `SUMMARY#${series.metric}` };
    const set = (update: string, condition: string, names: Record<string, string>, values: Record<string, unknown>) =>
      client
        .send(
          new UpdateCommand({
            TableName: table,
            Key: key,
            UpdateExpression: update,
            ConditionExpression: condition,
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: values,
          }),
        )
        .catch(ignoreFailedCondition);
    const writes = [
      set(
        "SET metric = :metric, lastStep = :step, #last = :value",
        "attribute_not_exists(lastStep) OR lastStep <= :step",
        { "#last": "last" },
        { ":metric": series.metric, ":step": series.steps[at], ":value": storable(series.values[at]) },
      ),
    ];
    if (numbers.length > 0) {
      const low = numbers.reduce((a, b) => Math.min(a, b));
      const high = numbers.reduce((a, b) => Math.max(a, b));
      writes.push(
        set("SET #min = :low", "attribute_not_exists(#min) OR #min > :low", { "#min": "min" }, { ":low": bound(low) }),
        set(
          "SET #max = :high",
          "attribute_not_exists(#max) OR #max < :high",
          { "#max": "max" },
          { ":high": bound(high) },
        ),
      );
    }
    await Promise.all(writes);
  }

  return {
    async write(runId, series) {
      await Promise.all(
        series
          .filter((one) => one.steps.length > 0)
          .map(async (one) => {
            await writePoints(runId, one);
            await summarize(runId, one);
          }),
      );
    },

    async read(runId, metric) {
      const items = await query(runId, `POINTS#${metric}#`);
      return mergePoints(items.flatMap(pointsOf));
    },

    async readAfter(runId, metric, { step, item }) {
      const keyOf = (first: number | string): string => `POINTS#${metric}#${first}`;
      const page = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
          ExpressionAttributeValues: {
            ":pk": partition(runId),
            ":from": keyOf(padded(item)),
            ":to": keyOf("9".repeat(12)),
          },
          Limit: itemsPerPage,
          ConsistentRead: true,
        }),
      );
      const items = page.Items ?? [];
      const points = mergePoints(items.flatMap(pointsOf)).filter((point) => point.step > step);
      const more = page.LastEvaluatedKey !== undefined;
      // The item that goes furthest is where the next points are put; while there are more, the last one read is.
      const ends = items.map(({ steps }) => ({ first: steps[0] as number, last: steps.at(-1) as number }));
      const furthest = ends.reduce((best, one) => (more || one.last > best.last ? one : best), {
        first: item,
        last: -1,
      });
      return { points, position: { step: points.at(-1)?.step ?? step, item: furthest.first }, more };
    },

    async summaries(runId) {
      const items = await query(runId, "SUMMARY#");
      return items.map((item) => ({
        metric: item["metric"] as string,
        last: decodeValue(item["last"] as EncodedValue),
        lastStep: item["lastStep"] as number,
        min: Number(item["min"] ?? Number.NaN),
        max: Number(item["max"] ?? Number.NaN),
      }));
    },
  };
}

/** DynamoDB's numbers lie between these in size, or are 0; a double may lie beyond. */
const largest = 9.99e125;
const smallest = 1e-130;

/** As a text where DynamoDB has no such number. */
function storable(value: EncodedValue): number | string {
  if (typeof value !== "number" || value === 0) return value;
  const size = Math.abs(value);
  return size > largest || size < smallest ? String(value) : value;
}

/** Aggregates are compared as numbers: beyond the ends they are the ends. */
function bound(value: number): number {
  if (Math.abs(value) < smallest) return 0;
  return Math.max(-largest, Math.min(largest, value));
}

function ignoreFailedCondition(error: unknown): void {
  if (!isConditionFailed(error)) throw error;
}

function pointsOf(item: Record<string, unknown>): MetricPoint[] {
  const steps = item["steps"] as number[];
  const values = item["values"] as EncodedValue[];
  const times = item["times"] as number[];
  return steps.map((step, i) => ({ step, value: decodeValue(values[i]), time: times[i] }));
}
