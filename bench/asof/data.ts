import { join } from "node:path";
import { type DuckDbSession, quoteText } from "../../adapters/duckdb/session";
import { compileFeatures } from "../../core/feature-store/features";
import { type ViewVersion, viewDefinition } from "../../core/feature-store/shapes";

export const featuresPerView = 4;
const yearMs = 365 * 86_400_000;

export type KeyType = "int" | "string";

/** Returns a view with four features, and a TTL of 90 days. */
export function viewOf(view: number, key: KeyType): ViewVersion {
  const definition = viewDefinition.parse({
    ...{ name: `view-${view}`, entities: ["customer"], eventTime: "event", ttl: "90d" },
    columns: {
      ...{ customer: key, event: "timestamp" },
      ...Object.fromEntries(Array.from({ length: featuresPerView }, (_, k) => [`f${view}_${k}`, typeOf(k)])),
    },
  });
  const { features } = compileFeatures(definition);
  return {
    ...{ name: definition.name, version: 1, generation: 1, digest: "0".repeat(64), definition },
    ...{ features: [...features], createdBy: "bench", createdAt: new Date(0).toISOString() },
  };
}

const typeOf = (feature: number) => (feature < featuresPerView / 2 ? "float" : "int");

export interface BenchData {
  readonly rows: number;
  readonly views: number;
  readonly customers: number;
  readonly key: KeyType;
}

/** Writes labels and views: times of a year, one row for a customer and millisecond. */
export async function writeData(
  session: DuckDbSession,
  folder: string,
  { rows, views, customers, key }: BenchData,
): Promise<void> {
  await session.run("SELECT setseed(0.5)");
  const number = `CAST(floor(random() * ${customers}) AS BIGINT)`;
  const customer = `${key === "int" ? number : `'customer-' || ${number}`} AS customer`;
  const time = `epoch_ms(1735689600000 + CAST(floor(random() * ${yearMs}) AS BIGINT))`;
  const write = (query: string, name: string) =>
    session.run(`COPY (${query}) TO ${quoteText(join(folder, `${name}.parquet`))} (FORMAT parquet, COMPRESSION zstd)`);
  await write(`SELECT ${customer}, ${time} AS "time", random() AS label FROM range(${rows})`, "labels");
  for (let view = 0; view < views; view += 1) {
    const features = Array.from({ length: featuresPerView }, (_, k) =>
      typeOf(k) === "float" ? `random() AS f${view}_${k}` : `CAST(floor(random() * 1000) AS BIGINT) AS f${view}_${k}`,
    );
    await session.run(
      `CREATE OR REPLACE TABLE made AS SELECT DISTINCT ON (customer, event) * FROM
       (SELECT ${customer}, ${time} AS event, ${features.join(", ")} FROM range(${rows}))`,
    );
    await write("SELECT * FROM made ORDER BY event", `view${view}`);
  }
}
