import { randomBytes } from "node:crypto";
import { type DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { CompactedGroup } from "../metric-log/compaction";
import type { LoggedBatch, LogHead } from "../metric-log/log-state";
import { isConditionFailed } from "./client";
import { GroupCommit } from "./group-commit";
import { absent, ex, type Item, type Key, Table } from "./table";

/** The size of a part of a state, well below 400 KB. */
const statePartBytes = 300 * 1024;
/** The number of items of a segment that are packed before they are written. */
const itemsPerWrite = 100;
/** The number of batches of runs that are written together. */
const batchesAtOnce = 50;

const padded = (value: number, digits: number): string => String(value).padStart(digits, "0");
const lastKey = "~";

/** The rows of table Metrics. Every read is strongly consistent. */
export class MetricRows {
  /** The id that distinguishes this process's writes from others' when an answer was lost. */
  private readonly process = randomBytes(9).toString("base64url");
  private writes = 0;
  private readonly commits: GroupCommit;
  private readonly table: Table;

  constructor(
    private readonly client: DynamoDBDocumentClient,
    private readonly tableName: string,
  ) {
    this.table = new Table(client, tableName);
    this.commits = new GroupCommit(client, batchesAtOnce);
  }

  newWrite(): string {
    this.writes += 1;
    return `${this.process}.${this.writes}`;
  }

  async findHead(runId: string): Promise<LogHead | undefined> {
    for (;;) {
      const item = await this.table.get(headKey(runId));
      if (!item) return undefined;
      const head = await this.whole(runId, item);
      // Another process has stored a later state and deleted the parts of this one, so the head is read again.
      if (head) return head;
    }
  }

  async findHeads(runIds: readonly string[]): Promise<ReadonlyMap<string, LogHead>> {
    const heads = new Map<string, LogHead>();
    for (const item of await this.table.batchGet([...new Set(runIds)].map(headKey))) {
      const runId = (item["pk"] as string).slice(pkOf("").length);
      const head = (await this.whole(runId, item)) ?? (await this.findHead(runId));
      if (head) heads.set(runId, head);
    }
    return heads;
  }

  /** Writes a head without separate batches; `false` if another write was first. @param before 0 if there is no head */
  putHead(runId: string, before: number, head: LogHead): Promise<boolean> {
    const unchanged = before === 0 ? absent : ex`#version = ${before} AND batched = ${false}`;
    return this.table.put(headItem(runId, head), unchanged);
  }

  /** Writes a batch. Returns `false` if the log already has a batch of that version. */
  putBatch(runId: string, { version, data, by }: LoggedBatch): Promise<boolean> {
    const Item = { pk: pkOf(runId), sk: batchKey(version), data, by };
    const put = { TableName: this.tableName, Item, ConditionExpression: "attribute_not_exists(pk)" };
    return this.commits.write({ key: `${runId}/${version}`, puts: [put], bytes: data.length });
  }

  async batches(runId: string, after: number, to?: number): Promise<LoggedBatch[]> {
    const items = await this.between(runId, batchKey(after + 1), to === undefined ? `BATCH#${lastKey}` : batchKey(to));
    return items.map(({ sk, data, by }) => ({
      version: Number((sk as string).slice("BATCH#".length)),
      data: data as Uint8Array,
      by: by as string,
    }));
  }

  /**
   * Stores the state of a version. Returns `false` if another process has stored a later one, or has compacted as much.
   * @param compacted the last version whose points are compacted, if it has changed
   */
  async storeState(runId: string, version: number, state: Uint8Array, compacted?: number): Promise<boolean> {
    const parts = state.length <= statePartBytes ? 0 : Math.ceil(state.length / statePartBytes);
    const partOf = (i: number) => state.subarray(i * statePartBytes, (i + 1) * statePartBytes);
    await this.table.batchWrite(
      Array.from({ length: parts }, (_, i) => ({ pk: pkOf(runId), sk: statePartKey(version, i), data: partOf(i) })),
    );
    const isCompacted = compacted !== undefined;
    const { Update } = this.table.updating(
      headKey(runId),
      ex`SET #version = ${version}, #state = ${parts === 0 ? state : new Uint8Array()}, parts = ${parts}${isCompacted ? ex`, compacted = ${compacted} REMOVE #inline` : ex``}`,
      ex`#version < ${version}${isCompacted ? ex` AND compacted < ${compacted}` : ex``}`,
    );
    try {
      const { Attributes } = await this.client.send(new UpdateCommand({ ...Update, ReturnValues: "UPDATED_OLD" }));
      await this.dropParts(runId, Number(Attributes?.["version"] ?? 0), Number(Attributes?.["parts"] ?? 0));
      return true;
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
      // Nothing refers to the parts that were just written.
      await this.dropParts(runId, version, parts);
      return false;
    }
  }

  /** Writes the points and directories of a segment. Every process writes the same items. */
  async putGroups(runId: string, segment: number, groups: Iterable<CompactedGroup>): Promise<void> {
    const pk = pkOf(runId);
    let items: Item[] = [];
    for (const { group, blocks, directory } of groups) {
      for (const [i, data] of blocks.entries()) items.push({ pk, sk: blockKey(group, segment, i), data });
      items.push({ pk, sk: directoryKey(group, segment), data: directory });
      if (items.length < itemsPerWrite) continue;
      await this.table.batchWrite(items);
      items = [];
    }
    await this.table.batchWrite(items);
  }

  async directories(runId: string, group: number, to: number) {
    if (to === 0) return [];
    const items = await this.between(runId, directoryKey(group, 0), directoryKey(group, to));
    return items.map(({ sk, data }) => ({
      segment: Number((sk as string).split("#")[2]),
      data: data as Uint8Array,
    }));
  }

  async blocks(runId: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const items = await this.table.batchGet(keys.map((sk) => ({ pk: pkOf(runId), sk })));
    return new Map(items.map(({ sk, data }) => [sk as string, data as Uint8Array]));
  }

  private between(runId: string, from: string, to: string) {
    return this.table.all(ex`pk = ${pkOf(runId)} AND sk BETWEEN ${from} AND ${to}`);
  }

  /** Returns a head with its state. Returns undefined if the parts of the state no longer exist. */
  private async whole(runId: string, item: Item): Promise<LogHead | undefined> {
    const parts = Number(item["parts"] ?? 0);
    const head = item as unknown as LogHead;
    if (parts === 0) return head;
    const keys = Array.from({ length: parts }, (_, i) => statePartKey(head.version, i));
    const blocks = await this.blocks(runId, keys);
    if (blocks.size < parts) return undefined;
    return { ...head, state: Buffer.concat(keys.map((key) => blocks.get(key)!)) };
  }

  private async dropParts(runId: string, version: number, parts: number): Promise<void> {
    await this.table.batchWrite(
      [],
      Array.from({ length: parts }, (_, i) => ({ pk: pkOf(runId), sk: statePartKey(version, i) })),
    );
  }
}

const pkOf = (runId: string): string => `RUN#${runId}`;
const headKey = (runId: string): Key => ({ pk: pkOf(runId), sk: "HEAD" });
export const headItem = (runId: string, head: LogHead): Item => ({ ...headKey(runId), ...head });
const batchKey = (version: number): string => `BATCH#${padded(version, 12)}`;
const statePartKey = (version: number, part: number): string => `STATE#${padded(version, 12)}#${padded(part, 4)}`;
const directoryKey = (group: number, segment: number): string => `DIR#${padded(group, 6)}#${padded(segment, 12)}`;
export const blockKey = (group: number, segment: number, block: number): string =>
  `POINTS#${padded(group, 6)}#${padded(segment, 12)}#${padded(block, 6)}`;
