import { randomUUID } from "node:crypto";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  AthenaClient,
  GetQueryExecutionCommand,
  type QueryExecution,
  StartQueryExecutionCommand,
} from "@aws-sdk/client-athena";
import { DeleteObjectsCommand, paginateListObjectsV2, type S3Client } from "@aws-sdk/client-s3";
import { isDiskFull, messageOf } from "../../../adapters/duckdb/errors";
import { quoteText } from "../../../adapters/duckdb/session";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { createPause } from "../../../core/backoff";
import { RingmasterError } from "../../../core/errors";
import { formatBytes } from "../../../core/quantities";
import { type DatabaseQuery, databaseProblem, type QueryRows, queryProblem } from "../database-query";
import { download } from "../remote-sources";
import { createS3Client, listS3Files } from "../s3-source";

/** Waits before the next look at a query. */
const pause = createPause({ firstMs: 250, maxMs: 5_000, minShare: 1 }, sleep, Math.random);

interface AthenaTarget {
  readonly database: string;
  readonly workgroup: string | undefined;
  readonly catalog: string | undefined;
  readonly bucket: string;
  /** Key of the folder of this query. */
  readonly prefix: string;
}

/**
 * Runs a query in Athena, which unloads its rows as Parquet below a new prefix, and copies them to one Parquet file. Athena
 * writes files in no order, so the rows are sorted by all columns. The prefix is deleted afterwards.
 *
 * @throws InvalidInputError
 */
export async function readAthena(
  { from, sql }: DatabaseQuery,
  folder: string,
  onSource: (text: string) => void,
): Promise<QueryRows> {
  const target = parseTarget(from);
  const athena = new AthenaClient({});
  const s3 = createS3Client();
  const calling = <T>(work: () => Promise<T>): Promise<T> => work().catch((error) => throwProblem(error, from, sql));
  try {
    const execution = await calling(() => start(athena, target, sql));
    try {
      await calling(() => untilSucceeded(athena, execution, sql, onSource));
      const rows = `s3://${target.bucket}/${target.prefix}rows/`;
      const keys = await calling(() => keysBelow(s3, target, "rows/"));
      if (keys.length === 0) return { file: "", rows: 0, execution };
      onSource(`downloading ${rows}`);
      const unloaded = path.join(folder, "unloaded");
      for (const file of await listS3Files(rows, s3)) await download(rows, file, unloaded);
      return { ...(await sorted(unloaded, folder, sql)), execution };
    } finally {
      await remove(s3, target, onSource);
    }
  } finally {
    athena.destroy();
    s3.destroy();
  }
}

function parseTarget(from: string): AthenaTarget {
  const example = "athena://DATABASE?workgroup=NAME&output=s3://BUCKET/PREFIX/";
  if (!URL.canParse(from)) throw databaseProblem(from, `must be a URL such as ${example}`);
  const { searchParams: given, pathname } = new URL(from);
  // The host of a URL would be in lower case, as names of Athena's databases are.
  const database = decodeURIComponent(new URL(from).host + pathname.replace(/\/$/, ""));
  const unknown = [...given.keys()].find((key) => !["workgroup", "output", "catalog"].includes(key));
  if (unknown !== undefined)
    throw databaseProblem(from, `must have only workgroup, output and catalog, not ${unknown}`);
  if (database === "") throw databaseProblem(from, `must name a database, as in ${example}`);
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9.-]{3,63})(?:\/([^'?#\s]*))?$/.exec(given.get("output") ?? "") ?? [];
  if (bucket === undefined) throw databaseProblem(from, `must have an output on S3 for the rows, as in ${example}`);
  const parent = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  return {
    database,
    workgroup: given.get("workgroup") ?? undefined,
    catalog: given.get("catalog") ?? undefined,
    bucket,
    prefix: `${parent}ringmaster-${randomUUID()}/`,
  };
}

/** Starts a query and returns its id. */
async function start(
  client: AthenaClient,
  { database, catalog, workgroup, bucket, prefix }: AthenaTarget,
  sql: string,
): Promise<string> {
  const place = `s3://${bucket}/${prefix}`;
  const query = sql.replace(/[;\s]+$/, "");
  const { QueryExecutionId: id } = await client.send(
    new StartQueryExecutionCommand({
      QueryString: `UNLOAD (${query}\n) TO '${place}rows/' WITH (format = 'PARQUET', compression = 'SNAPPY')`,
      ClientRequestToken: randomUUID(),
      QueryExecutionContext: { Database: database, Catalog: catalog },
      ResultConfiguration: { OutputLocation: `${place}result/` },
      WorkGroup: workgroup,
    }),
  );
  return id!;
}

async function untilSucceeded(
  client: AthenaClient,
  id: string,
  sql: string,
  onSource: (text: string) => void,
): Promise<void> {
  let last = "";
  for (let looks = 1; ; looks += 1) {
    const { QueryExecution: found } = await client.send(new GetQueryExecutionCommand({ QueryExecutionId: id }));
    const text = describe(id, found);
    if (text !== last) onSource(text);
    last = text;
    const { State: state, StateChangeReason: reason } = found?.Status ?? {};
    if (state === "SUCCEEDED") return;
    if (state === "FAILED" || state === "CANCELLED") {
      throw queryProblem(sql, `${state.toLowerCase()} in Athena (${id}): ${reason ?? "without a reason"}`);
    }
    await pause(looks);
  }
}

/** Converts an error of AWS's client. */
function throwProblem(error: unknown, from: string, sql: string): never {
  if (error instanceof RingmasterError) throw error;
  const { name, message } = error as Error;
  if (name === "InvalidRequestException") throw queryProblem(sql, `refused by Athena: ${message}`);
  throw databaseProblem(from, `must be readable with your AWS credentials: ${name}: ${message}`);
}

function describe(id: string, found: QueryExecution | undefined): string {
  const bytes = found?.Statistics?.DataScannedInBytes;
  const scanned = bytes === undefined ? "" : `, ${formatBytes(bytes)} scanned`;
  return `Athena query ${id}: ${(found?.Status?.State ?? "UNKNOWN").toLowerCase()}${scanned}`;
}

async function sorted(unloaded: string, folder: string, sql: string): Promise<QueryRows> {
  const file = path.join(folder, "rows.parquet");
  try {
    return await withDuckDb(async (session) => {
      const [written] = await session.rows(
        `COPY (SELECT * FROM read_parquet(${quoteText(`${unloaded}/**`)}) ORDER BY ALL) TO ${quoteText(file)} (FORMAT parquet)`,
      );
      return { file, rows: Number(written!["Count"]) };
    });
  } catch (error) {
    if (isDiskFull(error) || error instanceof RingmasterError) throw error;
    throw queryProblem(sql, `has rows that cannot be read: ${messageOf(error).split("\n")[0]}`);
  }
}

async function keysBelow(client: S3Client, { bucket, prefix }: AthenaTarget, below = ""): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix + below })) {
    for (const { Key = "", Size = 0 } of page.Contents ?? []) if (below === "" || Size > 0) keys.push(Key);
  }
  return keys;
}

/** An error here does not hide that of the query. */
async function remove(client: S3Client, target: AthenaTarget, onSource: (text: string) => void): Promise<void> {
  try {
    const keys = await keysBelow(client, target);
    for (let at = 0; at < keys.length; at += 1_000) {
      const Objects = keys.slice(at, at + 1_000).map((Key) => ({ Key }));
      const { Errors: errors = [] } = await client.send(
        new DeleteObjectsCommand({ Bucket: target.bucket, Delete: { Objects, Quiet: true } }),
      );
      if (errors.length > 0) throw new Error(errors[0]?.Message ?? errors[0]?.Code);
    }
  } catch (error) {
    onSource(`s3://${target.bucket}/${target.prefix} could not be deleted: ${(error as Error).message}; delete it`);
  }
}
