import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { joinAsOf } from "../../../adapters/duckdb/as-of-join";
import { quoteText } from "../../../adapters/duckdb/session";
import { ingestViewRows } from "../../../adapters/duckdb/view-ingest";
import { createBatchReader } from "../../../adapters/duckdb/view-rows";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { createStoreUploads } from "../../../adapters/s3/store-uploads";
import { materializeView } from "../../../core/feature-store/materialize";
import { readOnline } from "../../../core/feature-store/online";
import { registerView } from "../../../core/feature-store/registry";
import { type Batch, type ViewVersion, viewDefinition } from "../../../core/feature-store/shapes";
import { registerBatch } from "../../../core/feature-store/stream";
import { type StorePorts, storeRows } from "../../../lambdas/store-features/handler";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { dyingPorts } from "../../support/kills";
import { rounds, seedOf } from "../../support/rounds";
import { type ArrivedRow, latestAt, windowAt } from "./oracle";

const embedded = useEmbedded();
let directory: string;
beforeAll(async () => {
  directory = fs.mkdtempSync(join(tmpdir(), "ringmaster-stores-"));
});
afterAll(() => fs.rmSync(directory, { recursive: true, force: true }));

const start = Date.parse("2025-12-01T00:00:00.000Z");
const timeOf = (tick: number) => new Date(start + tick * 3_600_000).toISOString();
const customers = [0, 1, 2, 3];

const row = fc.record({
  customer: fc.constantFrom(...customers),
  at: fc.integer({ min: 0, max: 30 }).map(timeOf),
  known: fc.option(fc.integer({ min: 0, max: 40 }).map(timeOf)),
  spend: fc.option(fc.integer({ min: 0, max: 999 })),
});
const rows = fc.array(row, { minLength: 1, maxLength: 10 });
type Row = Readonly<Record<"customer" | "at" | "known" | "spend", string | number | null>>;
const operation = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("ingest" as const), rows }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("stream" as const), rows }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("again" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("materialize" as const) }) },
);
/** Two processes work at the same time, or one that may die. */
const step = fc.oneof(
  fc.record({ operations: fc.tuple(operation, operation), calls: fc.constant(undefined) }),
  fc.record({ operations: fc.tuple(operation), calls: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }) }),
);

describe("the stores of a view", () => {
  it("agree after any interleaving of batches, events and materializations, with processes that die", async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
        const { platform } = createTestPlatform(embedded);
        runs += 1;
        const ports = { ...platform.forTeam(`stores-${runs}`), clock: { now: () => now } };
        const { version } = await registerView(ports, definition, { allowIncompatible: false, by: "test" });
        const sent: { readonly kind: "ingest" | "stream"; readonly rows: readonly Row[] }[] = [];
        for (const { operations, calls } of steps) {
          const dying = calls === undefined ? <Port extends object>(port: Port) => port : dyingPorts(calls);
          const { views, batches, online, objects, clock } = ports;
          const process = {
            ...{ views: dying(views), batches: dying(batches), online: dying(online), objects: dying(objects), clock },
          };
          const done = await Promise.allSettled(
            operations.map((one) => {
              if (one.kind === "materialize") return materialize(process, version);
              const { kind, rows: own } = one.kind === "again" ? (sent.at(-1) ?? { kind: "ingest", rows: [] }) : one;
              if (own.length === 0) return undefined;
              sent.push({ kind, rows: own });
              return kind === "ingest"
                ? ingest(process, version, own)
                : storeRows(process, { view: "spend", rows: own });
            }),
          );
          for (const one of done) if (one.status === "rejected") expect(one.reason.message).toContain("kill -9");
        }
        await materialize(ports, version);
        const { items } = await ports.batches.list(version, { after: 0, limit: 200 });
        expect((await ports.batches.state(version)).online).toEqual({ batch: items.length, files: 0 });

        const visible: ArrivedRow<number | null>[] = [];
        for (const batch of items) visible.push(...(await arrivedIn(ports, batch)));
        const expected = customers.map((customer) => {
          const latest = latestAt(visible, customer, now);
          if (!latest) return [null, null, null];
          const [day, half] = [24, 12].map((h) => windowAt(visible, customer, now, h * 3_600_000)) as [
            number[],
            number[],
          ];
          return [latest.value, day.length === 0 ? null : day.reduce((a, b) => a + b, 0), half.length];
        });
        const online = await readOnline(
          ports,
          [version],
          customers.map((customer) => ({ customer })),
        );
        expect(online.map(({ features }) => ["spend", "day", "count"].map((name) => features[name]))).toEqual(expected);
        expect(await offline(ports, version, items)).toEqual(expected);
      }),
      { numRuns: rounds(4), seed: seedOf(3) },
    );
  });
});

const definition = viewDefinition.parse({
  ...{ name: "spend", entities: ["customer"], eventTime: "at", creationTime: "known" },
  columns: { customer: "int", at: "timestamp", known: "timestamp", spend: "int" },
  steps: [
    { kind: "window", column: "spend", aggregate: "sum", over: "1d", name: "day" },
    { kind: "window", column: "spend", aggregate: "count", over: "12h", name: "count" },
  ],
});

/** After all rows. */
const now = start + 41 * 3_600_000;

function ingest(ports: StorePorts, version: ViewVersion, given: readonly Row[]) {
  const file = join(directory, `${process.hrtime.bigint()}.jsonl`);
  fs.writeFileSync(file, given.map((one) => JSON.stringify(one)).join("\n"));
  return ingestViewRows({
    ...{ file, version, uploads: createStoreUploads(ports.objects) },
    register: (draft) => registerBatch(ports, "spend", draft, "test"),
  });
}

const materialize = (ports: StorePorts, version: ViewVersion) =>
  withDuckDb((session) => materializeView({ ...ports, reader: createBatchReader(session, ports.objects) }, version));

/** Returns a batch's rows in the order of their arrival, read from its files. */
async function arrivedIn({ objects }: StorePorts, batch: Batch): Promise<readonly ArrivedRow<number | null>[]> {
  return withDuckDb(async (session) => {
    const arrived: ArrivedRow<number | null>[] = [];
    for (const { sha256 } of batch.files) {
      const file = join(session.directory, sha256);
      fs.writeFileSync(file, await objects.getContent(sha256));
      const found = await session.rows(
        `SELECT customer::INTEGER AS entity, epoch_ms("at")::DOUBLE AS "time#", epoch_ms(known)::DOUBLE AS "known#", spend::INTEGER AS value
         FROM read_parquet(${quoteText(file)}) ORDER BY file_row_number`,
      );
      for (const { entity, "time#": time, "known#": known, value } of found) {
        const place = batch.sequence * 1_000 + arrived.length;
        const creationTime = known === null ? undefined : Number(known);
        arrived.push({ entity, eventTime: Number(time), creationTime, value: value as number | null, place });
      }
    }
    return arrived;
  });
}

async function offline(ports: StorePorts, version: ViewVersion, batches: readonly Batch[]) {
  const labels = join(directory, "labels.jsonl");
  fs.writeFileSync(
    labels,
    customers.map((customer) => JSON.stringify({ customer, at: new Date(now).toISOString() })).join("\n"),
  );
  return withDuckDb(async (session) => {
    const output = join(directory, "joined.parquet");
    const fetch = async () => {
      const paths: string[] = [];
      for (const { sha256 } of batches.flatMap(({ files }) => files)) {
        paths.push(join(session.directory, sha256));
        fs.writeFileSync(paths.at(-1)!, await ports.objects.getContent(sha256));
      }
      return paths;
    };
    await joinAsOf(session, { labels, time: "at", views: [{ version, fetch }], output });
    const found = await session.rows(`SELECT spend, day, count FROM read_parquet(${quoteText(output)})`);
    return found.map(({ spend, day, count }) => [spend, day, count].map((one) => (one === null ? null : Number(one))));
  });
}
