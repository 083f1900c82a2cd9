import { randomBytes } from "node:crypto";
import {
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { eachLimited, inParts } from "../../core/each-limited";
import { batchGet } from "./batch-get";
import { holds, pauseBeforeRound, queryAll } from "./client";
import { GroupCommit } from "./group-commit";

/** The data of a run's log other than its batches (docs/access-patterns.md, "Metrics"). */
export interface LogHead {
  /** The version of `state`. It is never past the log's end. */
  readonly version: number;
  /** Whether the log continues in separate batches. Otherwise the head contains the whole log. */
  readonly grown: boolean;
  /** A packed `LogState`. */
  readonly state: Uint8Array;
  /** The packed points of the versions before the log had batches, until they are folded. */
  readonly inline: Uint8Array | undefined;
  /** The number of folded segments, and the last version in them. */
  readonly folded: number;
  readonly foldedVersion: number;
}

export interface LoggedBatch {
  readonly version: number;
  /** A packed `LogBatch`. */
  readonly data: Uint8Array;
  /** The process that wrote it. */
  readonly by: string;
}

/** The size of a part of a state, well below 400 KB. */
const statePartBytes = 300 * 1024;
const itemsPerWrite = 25;
/** The number of concurrent writes of blocks of about 20 KB. */
const writesAtOnce = 4;

const padded = (value: number, digits: number): string => String(value).padStart(digits, "0");
const lastKey = "~";

/** The rows of table Metrics. Every read is strongly consistent. */
export class MetricRows {
  /** The id that distinguishes this process's writes from others' when an answer was lost. */
  private readonly process = randomBytes(9).toString("base64url");
  private writes = 0;
  private readonly commits: GroupCommit;

  constructor(
    private readonly client: DynamoDBDocumentClient,
    private readonly table: string,
  ) {
    this.commits = new GroupCommit(client, table);
  }

  newWrite(): string {
    this.writes += 1;
    return `${this.process}.${this.writes}`;
  }

  async findHead(runId: string): Promise<LogHead | undefined> {
    for (;;) {
      const { Item } = await this.client.send(
        new GetCommand({ TableName: this.table, Key: { pk: pkOf(runId), sk: "HEAD" }, ConsistentRead: true }),
      );
      if (!Item) return undefined;
      const head = await this.whole(runId, Item);
      // The parts of a state are deleted once a later state exists.
      if (head) return head;
    }
  }

  /** Returns the heads by run. Runs without metrics have none. */
  async findHeads(runIds: readonly string[]): Promise<ReadonlyMap<string, LogHead>> {
    const keys = [...new Set(runIds)].map((runId) => ({ pk: pkOf(runId), sk: "HEAD" }));
    const heads = new Map<string, LogHead>();
    const { client, table } = this;
    for (const item of await batchGet(client, table, keys)) {
      const runId = (item["pk"] as string).slice(pkOf("").length);
      const head = (await this.whole(runId, item)) ?? (await this.findHead(runId));
      if (head) heads.set(runId, head);
    }
    return heads;
  }

  /** Writes the head of a log that is completely in it. Returns `false` if another write was first. */
  putYoung(runId: string, before: number, head: Pick<LogHead, "version" | "state" | "inline" | "grown">) {
    const item = { pk: pkOf(runId), sk: "HEAD", ...head, folded: 0, foldedVersion: 0 };
    return holds(
      this.client.send(
        new PutCommand({
          TableName: this.table,
          Item: item,
          ...(before === 0
            ? { ConditionExpression: "attribute_not_exists(pk)" }
            : {
                ConditionExpression: "#version = :before AND grown = :no",
                ExpressionAttributeNames: { "#version": "version" },
                ExpressionAttributeValues: { ":before": before, ":no": false },
              }),
        }),
      ),
    );
  }

  /** Writes a batch. Returns `false` if the log already has a batch of that version. */
  putBatch(runId: string, { version, data, by }: LoggedBatch): Promise<boolean> {
    return this.commits.create({ pk: pkOf(runId), sk: batchKey(version), data, by }, data.length);
  }

  /** Returns the batches after one version and up to another. */
  async batches(runId: string, after: number, to?: number): Promise<LoggedBatch[]> {
    const items = await this.between(runId, batchKey(after + 1), to === undefined ? `BATCH#${lastKey}` : batchKey(to));
    return items.map(({ sk, data, by }) => ({
      version: Number((sk as string).slice("BATCH#".length)),
      data: data as Uint8Array,
      by: by as string,
    }));
  }

  /** Stores the state of a version, unless a later one is stored. */
  async keepState(runId: string, version: number, state: Uint8Array): Promise<void> {
    const parts = state.length <= statePartBytes ? 0 : Math.ceil(state.length / statePartBytes);
    const partOf = (i: number) => state.subarray(i * statePartBytes, (i + 1) * statePartBytes);
    await this.write(
      Array.from({ length: parts }, (_, i) => ({ pk: pkOf(runId), sk: statePartKey(version, i), data: partOf(i) })),
    );
    const update = new UpdateCommand({
      TableName: this.table,
      Key: { pk: pkOf(runId), sk: "HEAD" },
      UpdateExpression: "SET #version = :version, #state = :state, parts = :parts",
      ConditionExpression: "#version < :version",
      ExpressionAttributeNames: { "#version": "version", "#state": "state" },
      ExpressionAttributeValues: {
        ":version": version,
        ":state": parts === 0 ? state : new Uint8Array(),
        ":parts": parts,
      },
      ReturnValues: "UPDATED_OLD",
    });
    let old: Record<string, unknown> | undefined;
    const kept = await holds(
      this.client.send(update).then(({ Attributes }) => {
        old = Attributes;
      }),
    );
    // Deletes the parts of the older state.
    if (kept) await this.dropParts(runId, Number(old?.["version"] ?? 0), Number(old?.["parts"] ?? 0));
    else await this.dropParts(runId, version, parts);
  }

  /** Records that all of a segment's items are written. */
  async markFolded(runId: string, segment: number, version: number): Promise<void> {
    await holds(
      this.client.send(
        new UpdateCommand({
          TableName: this.table,
          Key: { pk: pkOf(runId), sk: "HEAD" },
          UpdateExpression: "SET folded = :segment, foldedVersion = :version REMOVE #inline",
          ConditionExpression: "folded < :segment",
          ExpressionAttributeNames: { "#inline": "inline" },
          ExpressionAttributeValues: { ":segment": segment, ":version": version },
        }),
      ),
    );
  }

  /** Puts items without conditions. Every process writes the same items. */
  async write(items: readonly Record<string, unknown>[]): Promise<void> {
    await this.writeRequests(items.map((Item) => ({ PutRequest: { Item } })));
  }

  /** Returns the directory entries of a group in segments up to `to`, by segment. */
  async directories(runId: string, group: number, to: number) {
    const items = await this.between(runId, directoryKey(group, 0), directoryKey(group, to));
    return items.map(({ sk, data }) => ({
      segment: Number((sk as string).split("#")[2]),
      data: data as Uint8Array,
    }));
  }

  /** Returns blocks by their keys. */
  async blocks(runId: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const { client, table } = this;
    const items = await batchGet(
      client,
      table,
      keys.map((sk) => ({ pk: pkOf(runId), sk })),
    );
    return new Map(items.map(({ sk, data }) => [sk as string, data as Uint8Array]));
  }

  private between(runId: string, from: string, to: string) {
    return queryAll(this.client, {
      TableName: this.table,
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
      ExpressionAttributeValues: { ":pk": pkOf(runId), ":from": from, ":to": to },
      ConsistentRead: true,
    });
  }

  private async whole(runId: string, item: Record<string, unknown>): Promise<LogHead | undefined> {
    const parts = Number(item["parts"] ?? 0);
    const head = item as unknown as LogHead;
    if (parts === 0) return head;
    const keys = Array.from({ length: parts }, (_, i) => statePartKey(head.version, i));
    const found = await this.blocks(runId, keys);
    if (found.size < parts) return undefined;
    return { ...head, state: Buffer.concat(keys.map((key) => found.get(key)!)) };
  }

  private async dropParts(runId: string, version: number, parts: number): Promise<void> {
    await this.writeRequests(
      Array.from({ length: parts }, (_, i) => ({
        DeleteRequest: { Key: { pk: pkOf(runId), sk: statePartKey(version, i) } },
      })),
    );
  }

  private async writeRequests(requests: readonly Record<string, unknown>[]): Promise<void> {
    await eachLimited(inParts(requests, itemsPerWrite), writesAtOnce, (some) => this.writeChunk(some));
  }

  private async writeChunk(chunk: readonly Record<string, unknown>[]): Promise<void> {
    let left: readonly Record<string, unknown>[] = chunk;
    for (let round = 0; left.length > 0; round += 1) {
      if (round > 0) await pauseBeforeRound(round);
      const answer = await this.client.send(new BatchWriteCommand({ RequestItems: { [this.table]: [...left] } }));
      left = answer.UnprocessedItems?.[this.table] ?? [];
    }
  }
}

export const pkOf = (runId: string): string => `RUN#${runId}`;
const batchKey = (version: number): string => `BATCH#${padded(version, 12)}`;
const statePartKey = (version: number, part: number): string => `STATE#${padded(version, 12)}#${padded(part, 4)}`;
export const directoryKey = (group: number, segment: number): string => `DIR#${padded(group, 6)}#${padded(segment, 8)}`;
export const blockKey = (group: number, segment: number, block: number): string =>
  `POINTS#${padded(group, 6)}#${padded(segment, 8)}#${padded(block, 6)}`;
