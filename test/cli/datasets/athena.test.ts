import * as fs from "node:fs";
import type { IncomingMessage } from "node:http";
import * as path from "node:path";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { withQueryRows } from "../../../cli/datasets/query";
import { temporaryFolder } from "../../support/temporary-folder";
import { startServer } from "../../support/web-server";

interface Fake {
  /** States of the query, one for each look at it. */
  readonly states: readonly string[];
  /** Names and SQL of the files that it unloads. */
  readonly unloads?: Readonly<Record<string, string>>;
  /** Answer to the start of a query. */
  readonly startError?: { readonly __type: string; readonly message: string };
  readonly deleteError?: boolean;
  readonly listError?: boolean;
}

const settings = ["AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;
const folder = temporaryFolder("athena");

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Runs `work` with Athena and S3 on the loopback interface, which answer as AWS's documentation has it. */
async function withFake<T>(
  { states, unloads = {}, startError, deleteError, listError }: Fake,
  work: (seen: {
    readonly started: Record<string, unknown>[];
    readonly objects: ReadonlyMap<string, Buffer>;
  }) => Promise<T>,
): Promise<T> {
  const objects = new Map<string, Buffer>();
  const started: Record<string, unknown>[] = [];
  let looks = 0;
  const unload = async (target: string): Promise<void> => {
    for (const [name, sql] of Object.entries(unloads)) {
      const file = path.join(folder, "unloaded.parquet");
      await withDuckDb((session) => session.run(`COPY (${sql}) TO '${file}' (FORMAT parquet)`));
      objects.set(`${target}${name}`, fs.readFileSync(file));
    }
  };
  const server = await startServer(async (request, response) => {
    const body = await bodyOf(request);
    const url = new URL(request.url ?? "/", "http://fake");
    const operation = String(request.headers["x-amz-target"] ?? "").split(".")[1];
    const json = (status: number, value: unknown) =>
      void response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(value));
    if (operation === "StartQueryExecution") {
      if (startError) return json(400, startError);
      started.push(JSON.parse(body) as Record<string, unknown>);
      return json(200, { QueryExecutionId: "query-1" });
    }
    if (operation === "GetQueryExecution") {
      const State = states[Math.min(looks, states.length - 1)]!;
      looks += 1;
      const target = /TO 's3:\/\/bucket\/([^']+)'/.exec(String(started[0]!["QueryString"]))![1]!;
      if (State === "SUCCEEDED") await unload(target);
      objects.set(`${target.replace(/rows\/$/, "result/")}query-1.csv.metadata`, Buffer.from("x"));
      const Status = { State, StateChangeReason: "line 1:8: Column 'z' cannot be resolved" };
      return json(200, {
        QueryExecution: { QueryExecutionId: "query-1", Status, Statistics: { DataScannedInBytes: 2_000 } },
      });
    }
    const xml = (text: string) => void response.writeHead(200, { "content-type": "application/xml" }).end(text);
    if (url.searchParams.has("list-type")) {
      if (listError && url.searchParams.get("prefix")?.endsWith("rows/")) {
        return void response.writeHead(403).end("<Error><Code>AccessDenied</Code><Message>Denied</Message></Error>");
      }
      const keys = [...objects].filter(([key]) => key.startsWith(url.searchParams.get("prefix") ?? ""));
      const contents = keys.map(([key, bytes]) => `<Contents><Key>${key}</Key><Size>${bytes.length}</Size></Contents>`);
      return xml(`<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join("")}</ListBucketResult>`);
    }
    if (url.searchParams.has("delete")) {
      if (deleteError) {
        return xml(
          "<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code><Message>Access Denied</Message></Error></DeleteResult>",
        );
      }
      for (const [, key] of body.matchAll(/<Key>([^<]+)<\/Key>/g)) objects.delete(key!);
      return xml("<DeleteResult/>");
    }
    const bytes = objects.get(decodeURIComponent(url.pathname.slice("/bucket/".length)));
    if (!bytes) return void response.writeHead(404).end();
    response.writeHead(200, { etag: '"one"', "content-length": bytes.length }).end(bytes);
  });
  const before = Object.fromEntries(settings.map((name) => [name, process.env[name]]));
  for (const [index, value] of [server.endpoint, "eu-central-1", "key", "secret"].entries())
    process.env[settings[index]!] = value;
  try {
    return await work({ started, objects });
  } finally {
    for (const name of settings) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    await server.close();
  }
}

const from = "athena://shop?workgroup=team&output=s3://bucket/tmp";
const read = (sql: string, said: string[] = [], database = from) =>
  withQueryRows(
    { from: database, sql },
    (text) => void said.push(text),
    async ([file], origin) => ({
      rows: await withDuckDb((session) => session.rows(`SELECT * FROM read_parquet('${file}')`)),
      origin,
    }),
  );

it("unloads the rows, sorts them, and deletes what Athena wrote", async () => {
  // Athena's files have no ending, and no order.
  const unloads = {
    "20260101_b": "SELECT * FROM (VALUES (3, 'c'), (1, 'b')) AS t(y, word)",
    "20260101_a": "SELECT * FROM (VALUES (2, NULL), (1, 'a')) AS t(y, word)",
  };
  await withFake({ states: ["QUEUED", "RUNNING", "SUCCEEDED"], unloads }, async ({ started, objects }) => {
    const said: string[] = [];
    const { rows, origin } = await read("SELECT y, word FROM sales;", said);
    expect(rows).toEqual([
      { y: 1, word: "a" },
      { y: 1, word: "b" },
      { y: 2, word: null },
      { y: 3, word: "c" },
    ]);
    expect(origin).toEqual({ file: "athena://shop", query: "SELECT y, word FROM sales;", execution: "query-1" });
    expect(started).toEqual([
      {
        ClientRequestToken: expect.any(String),
        QueryString: expect.stringMatching(
          /^UNLOAD \(SELECT y, word FROM sales\n\) TO 's3:\/\/bucket\/tmp\/ringmaster-[0-9a-f-]{36}\/rows\/' WITH \(format = 'PARQUET', compression = 'SNAPPY'\)$/,
        ),
        QueryExecutionContext: { Database: "shop" },
        ResultConfiguration: { OutputLocation: expect.stringMatching(/^s3:\/\/bucket\/tmp\/ringmaster-.*\/result\/$/) },
        WorkGroup: "team",
      },
    ]);
    expect(said).toEqual([
      "reading athena://shop",
      "Athena query query-1: queued, 2.0 KB scanned",
      "Athena query query-1: running, 2.0 KB scanned",
      "Athena query query-1: succeeded, 2.0 KB scanned",
      expect.stringMatching(/^downloading s3:\/\/bucket\/tmp\/ringmaster-/),
    ]);
    expect([...objects.keys()]).toEqual([]);
  });
});

it("says where the rows are that could not be deleted", async () => {
  const unloads = { a: "SELECT 1 AS y" };
  await withFake({ states: ["SUCCEEDED"], unloads, deleteError: true }, async () => {
    const said: string[] = [];
    expect((await read("SELECT 1 AS y", said)).rows).toEqual([{ y: 1 }]);
    expect(said.at(-1)).toMatch(/^s3:\/\/bucket\/tmp\/ringmaster-.* could not be deleted: Access Denied; delete it/);
  });
});

it.each<[string, Fake, RegExp]>([
  [
    "a query that fails",
    { states: ["RUNNING", "FAILED"] },
    /--sql failed in Athena \(query-1\): line 1:8: Column 'z' cannot be/,
  ],
  ["a query that is cancelled", { states: ["CANCELLED"] }, /--sql cancelled in Athena \(query-1\)/],
  [
    "a bucket that may not be listed",
    { states: ["SUCCEEDED"], unloads: { a: "SELECT 1 AS y" }, listError: true },
    /must be readable with your AWS credentials: AccessDenied: Denied/,
  ],
  ["no rows", { states: ["SUCCEEDED"] }, /the query of athena:\/\/shop has no rows/],
  [
    "files with different columns",
    { states: ["SUCCEEDED"], unloads: { a: "SELECT 1 AS y", b: "SELECT 'a' AS y" } },
    /--sql has rows that cannot be read/,
  ],
  [
    "SQL that Athena refuses",
    { states: [], startError: { __type: "InvalidRequestException", message: "mismatched input 'SELCT'" } },
    /--sql refused by Athena: mismatched input 'SELCT'/,
  ],
  [
    "credentials that may not run queries",
    { states: [], startError: { __type: "AccessDeniedException", message: "not authorized" } },
    /must be readable with your AWS credentials: AccessDeniedException: not authorized/,
  ],
])("reports %s, and leaves nothing in the bucket", async (_what, fake, message) => {
  await withFake(fake, async ({ objects }) => {
    await expect(read("SELECT z FROM sales")).rejects.toMatchObject({
      httpStatus: 400,
      message: expect.stringMatching(message),
    });
    expect([...objects.keys()]).toEqual([]);
  });
});

it.each([
  ["athena://shop", /must have an output on S3/],
  ["athena://shop?output=s3://b'ucket/", /must have an output on S3/],
  ["athena://?output=s3://bucket/", /must name a database/],
  ["athena://shop?output=s3://bucket/&colour=red", /must have only workgroup, output and catalog, not colour/],
])("refuses the URL %s", async (database, message) => {
  await expect(read("SELECT 1", [], database)).rejects.toThrow(message);
});
