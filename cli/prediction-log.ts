import { appendFileSync, createReadStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ApiClient } from "../client/api-client";
import type { NeededView } from "../client/complete-rows";
import { sha256 } from "../core/digest";
import { type InferenceBatch, type LoggedRow, maxInferenceRows } from "../core/drift/shapes";
import { InvalidInputError } from "../core/errors";
import type { ModelArtifact } from "../core/evaluation/model-artifact";
import { inputColumns } from "../core/features/planned-rows";
import type { RawRow } from "../core/row-values";
import { invalidOption } from "./command";
import type { Prediction } from "./predict";

export function inferenceBatches(client: ApiClient, name: string, version: number): Promise<readonly InferenceBatch[]> {
  return client.list("listInferenceBatches", { params: { name, version }, query: { limit: 200 } });
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads a time: ISO 8601, or a duration before now such as 90m, 24h or 7d. @throws InvalidInputError */
export function timeBefore(option: string, text: string, now: number): number {
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const time = amount === undefined ? Date.parse(text) : now - Number(amount) * units[unit as keyof typeof units];
  if (!Number.isNaN(time)) return time;
  const rule = "must be a time in ISO 8601, or a duration such as 24h or 7d";
  throw invalidOption(option, text, rule);
}

export interface PredictionLog {
  add(rows: readonly RawRow[], predictions: readonly Prediction[]): void;
  /** Sends the rows. Idempotent: the same rows make the same batches. */
  send(): Promise<{ readonly stored: number; readonly known: number }>;
  dispose(): void;
}

interface LogTarget {
  readonly client: Pick<ApiClient, "call">;
  readonly model: string;
  readonly version: number;
  readonly artifact: Pick<ModelArtifact, "transform">;
  readonly views: readonly Pick<NeededView, "entities">[];
}

/** Rows of one unit must have different times, because a window reads rows of one unit and time once. */
const distinctTimes = 3_600_000;
const maxBatchCharacters = 2_000_000;

/**
 * Opens a log on the disk. `unit` defaults to the entity of the model's views, else the row. Row n is n ms before
 * `time`.
 */
export function openPredictionLog(target: LogTarget, unit: string | undefined, time: number): PredictionLog {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-predictions-"));
  const spool = join(directory, "rows.jsonl");
  const used = inputColumns(target.artifact.transform);
  const entities = [...new Set(target.views.flatMap((view) => view.entities.map(({ name }) => name)))];
  let count = 0;
  return {
    add(rows, predictions) {
      const lines = rows.map((row, at) => {
        const logged: LoggedRow = {
          unit: unitOf(row, unit, entities, count + at),
          at: new Date(time - ((count + at) % distinctTimes)).toISOString(),
          row: Object.fromEntries(Object.entries(row).filter(([name]) => used.has(name))),
          prediction: answerOf(predictions[at]!),
        };
        return `${JSON.stringify(logged)}\n`;
      });
      appendFileSync(spool, lines.join(""));
      count += rows.length;
    },
    send: () => sendRows(target, spool),
    dispose: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** The given time, the file's, or the start of the day: the same for a repeated command. @throws InvalidInputError */
export function timeOfPredictions({ file, at }: { readonly file?: string; readonly at?: string }): number {
  const now = Date.now();
  if (at !== undefined) return timeBefore("--at", at, now);
  if (file === undefined) return Math.floor(now / 86_400_000) * 86_400_000;
  return Math.floor(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now);
}

function unitOf(row: RawRow, column: string | undefined, entities: readonly string[], index: number): string {
  if (column !== undefined) {
    const value = row[column];
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
    const rule = "must be a text or a number where --unit names the column";
    const fields = value === undefined ? {} : { value };
    throw new InvalidInputError("the predictions cannot be logged", [
      { path: `row ${index + 1}.${column}`, ...fields, rule },
    ]);
  }
  const isEntity = entities.length > 0 && entities.every((name) => (row[name] ?? null) !== null);
  if (isEntity) return entities.map((name) => `${name}=${row[name]}`).join(",");
  return sha256(`${index} ${JSON.stringify(row)}`);
}

function answerOf(prediction: Prediction): LoggedRow["prediction"] {
  return "value" in prediction ? prediction.value : prediction.label;
}

async function sendRows({ client, model, version }: LogTarget, spool: string) {
  let [stored, known, characters] = [0, 0, 0];
  let rows: LoggedRow[] = [];
  const send = async () => {
    if (rows.length === 0) return;
    const answer = await client.call("logInferences", { params: { name: model }, body: { version, rows } });
    if (answer.repeated) known += answer.stored;
    else stored += answer.stored;
    [rows, characters] = [[], 0];
  };
  for await (const line of createInterface({ input: createReadStream(spool), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (rows.length === maxInferenceRows || characters + line.length > maxBatchCharacters) await send();
    rows.push(JSON.parse(line) as LoggedRow);
    characters += line.length;
  }
  await send();
  return { stored, known };
}
