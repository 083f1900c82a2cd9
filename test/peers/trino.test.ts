import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import * as path from "node:path";
import * as readline from "node:readline";
import fc from "fast-check";
import { compilePlan, selectFeatures } from "../../core/feature-plans/compile";
import { trino } from "../../core/feature-plans/dialects";
import type { FittedPlan } from "../../core/feature-plans/shapes";
import type { RawRow } from "../../core/row-values";
import { agree, applyRows, type Features, fitRows, planOf } from "../core/feature-plans/engines";
import { columns, extreme, plans, rowOf, view } from "../core/feature-plans/random-plans";

const java = process.env["RINGMASTER_JAVA"] || "java";
const folder = process.env["RINGMASTER_TRINO"] ?? "";
const jars = existsSync(folder) ? readdirSync(folder) : [];
const [, version] = /trino-main-(\d+)\.jar/.exec(jars.join()) ?? [];
const runs = version !== undefined && spawnSync(java, ["-version"]).status === 0;
const title = runs
  ? `Trino ${version}`
  : "Trino (skipped: it needs Java 17 or later, and in RINGMASTER_TRINO the folder that test/peers/trino/pom.xml fills)";

(runs ? describe : describe.skip)(title, () => {
  let server: ChildProcess;
  let lines: AsyncIterator<string>;

  beforeAll(async () => {
    const source = path.resolve(__dirname, "trino/Queries.java");
    server = spawn(java, ["-cp", path.join(folder, "*"), source], { stdio: ["pipe", "pipe", "ignore"] });
    lines = readline.createInterface({ input: server.stdout! })[Symbol.asyncIterator]();
    expect(await lines.next()).toEqual({ done: false, value: "ready" });
  });
  afterAll(() => void server.kill("SIGKILL"));

  async function query(sql: string): Promise<readonly (readonly unknown[])[]> {
    server.stdin!.write(`${JSON.stringify(sql)}\n`);
    const { value } = await lines.next();
    const { rows, error } = JSON.parse(value as string) as { rows?: unknown[][]; error?: string };
    if (rows === undefined) throw new Error(`${error}\n${sql}`);
    return rows;
  }

  async function applyTrino(plan: FittedPlan, rows: readonly RawRow[], outOfFold: boolean): Promise<Features> {
    const compiled = compilePlan(plan, outOfFold);
    const found = await query(
      `SELECT * FROM (${selectFeatures(compiled, trino, tableOf(rows), ["number"])}) ORDER BY "number"`,
    );
    return found.map(([, ...values]) =>
      Object.fromEntries(compiled.outputs.map(({ name }, i) => [name, numberIn(values[i])])),
    );
  }

  it("gives the features of the function of a row for random plans, also of rows that they were not fitted on", async () => {
    const rowsOf = fc.array(rowOf(extreme), { minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(
      plans,
      rowsOf,
      rowsOf,
      fc.boolean(),
      async (steps, training, others, outOfFold) => {
        const plan = await fitRows(planOf(steps, view), columns, training);
        const rows = [...training, ...others];
        const [expected, found] = [applyRows(plan, rows, outOfFold), await applyTrino(plan, rows, outOfFold)];
        const same = expected.every((row, i) => Object.keys(row).every((key) => agree(row[key], found[i]?.[key])));
        if (!same) expect(found).toEqual(expected);
      },
    );
    await fc.assert(property, { numRuns: 200, seed: 18 });
  }, 1_800_000);
});

/** Jackson writes NaN and infinities as texts. */
const numberIn = (value: unknown) => (typeof value === "string" ? Number(value) : value);

/** Returns a table of these rows, numbered, as a source of a query. */
function tableOf(rows: readonly RawRow[]): string {
  const values = rows.map(
    (row, number) => `(${[`${number}E0`, ...columns.map((column) => literal(row, column))].join(", ")})`,
  );
  const names = ["number", ...columns.map(({ name }) => name)].map((name) => trino.name(name));
  return `(VALUES ${values.join(", ")}) AS source (${names.join(", ")})`;
}

const types = {
  int: "DOUBLE",
  float: "DOUBLE",
  string: "VARCHAR",
  bool: "BOOLEAN",
  timestamp: "TIMESTAMP(3)",
} as const;

function literal(row: RawRow, { name, type }: (typeof columns)[number]): string {
  const value = row[name] ?? null;
  if (value === null) return `CAST(NULL AS ${types[type]})`;
  if (type === "bool") return value ? "TRUE" : "FALSE";
  if (type === "string")
    return `from_utf8(X'${Buffer.from(value as string)
      .toString("hex")
      .toUpperCase()}')`;
  if (type === "timestamp") {
    // `date_add` takes a 32-bit number.
    const days = Math.floor((value as number) / 86_400_000);
    const start = `date_add('day', ${days}, TIMESTAMP '1970-01-01 00:00:00.000')`;
    return `date_add('millisecond', ${(value as number) - days * 86_400_000}, ${start})`;
  }
  if (Number.isNaN(value)) return "nan()";
  if (!Number.isFinite(value)) return (value as number) > 0 ? "infinity()" : "(-infinity())";
  return trino.number(value as number);
}
