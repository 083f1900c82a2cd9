import * as fs from "node:fs";
import type { RequestListener } from "node:http";
import * as path from "node:path";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { pushTarget } from "../../../cli/datasets/push";
import { withLocalSources } from "../../../cli/datasets/remote-sources";
import { listS3Files } from "../../../cli/datasets/s3-source";
import { InvalidInputError } from "../../../core/errors";
import { localConfig } from "../../../stack/settings";
import { startEmbedded } from "../../support/embedded";
import { startServer } from "../../support/web-server";

const content = Buffer.alloc(3_000_000, "1,2\n");

async function serving<T>(listener: RequestListener, work: (url: string) => Promise<T>): Promise<T> {
  const server = await startServer(listener);
  try {
    return await work(server.endpoint);
  } finally {
    await server.close();
  }
}

const read = (source: string): Promise<{ readonly name: string; readonly bytes: Buffer; readonly folder: string }> =>
  withLocalSources(
    [source],
    () => undefined,
    async ([folder = ""]) => {
      const [name = ""] = fs.readdirSync(folder);
      return { name, folder, bytes: fs.readFileSync(path.join(folder, name)) };
    },
  );

it("continues a download where the connection was cut, and removes it afterwards", async () => {
  const ranges: (string | undefined)[] = [];
  const cutting: RequestListener = (request, response) => {
    ranges.push(request.headers.range);
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const rest = content.subarray(from);
    response.writeHead(from > 0 ? 206 : 200, { etag: '"one"', "content-length": rest.length });
    if (ranges.length > 2) response.end(rest);
    else response.write(rest.subarray(0, 1_000_000), () => setImmediate(() => response.destroy()));
  };
  await serving(cutting, async (url) => {
    const { name, bytes, folder } = await read(`${url}/data/My%20rows.csv?token=secret`);
    expect([name, bytes.equals(content), fs.existsSync(folder)]).toEqual(["My rows.csv", true, false]);
  });
  expect(ranges[0]).toBeUndefined();
  expect(ranges.slice(1).every((range) => /^bytes=[1-9]\d*-$/.test(range ?? ""))).toBe(true);
});

it("refuses content that changes while it is read", async () => {
  let calls = 0;
  const changing: RequestListener = (_request, response) => {
    calls += 1;
    response.writeHead(200, { etag: `"${calls}"`, "content-length": content.length });
    response.write(content.subarray(0, 1_000_000), () => setImmediate(() => response.destroy()));
  };
  await serving(changing, (url) => expect(read(`${url}/a.csv`)).rejects.toThrow(/must not change while it is read/));
});

it.each([
  ["etag", (call: number) => `"${call}"`],
  ["last-modified", (call: number) => new Date(call * 1_000).toUTCString()],
])(
  "refuses other content of a server that ignores the condition of a continued download: %s",
  async (header, tagOf) => {
    let calls = 0;
    const ignoring: RequestListener = (request, response) => {
      calls += 1;
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
      const rest = Buffer.alloc(content.length - from, `${calls},2\n`);
      expect(request.headers["if-range"]).toBe(from > 0 ? tagOf(1) : undefined);
      response.writeHead(from > 0 ? 206 : 200, { [header]: tagOf(calls), "content-length": rest.length });
      if (calls > 1) response.end(rest);
      else response.write(rest.subarray(0, 1_000_000), () => setImmediate(() => response.destroy()));
    };
    await serving(ignoring, (url) => expect(read(`${url}/a.csv`)).rejects.toThrow(/must not change while it is read/));
  },
);

it("names the URL of a file that is absent, without its query, and of a file with wrong rows", async () => {
  const absent: RequestListener = (_request, response) => void response.writeHead(404).end();
  await serving(absent, async (url) => {
    await expect(read(`${url}/a.csv?token=secret`)).rejects.toThrow(/\/a\.csv\?*.*answers with status 404/);
  });
  const present: RequestListener = (_request, response) => void response.end("a\n");
  await serving(present, async (url) => {
    const failing = withLocalSources(
      [`${url}/data/a.csv?token=secret`],
      () => undefined,
      async ([folder = ""]) => {
        throw new InvalidInputError(`${folder}/a.csv cannot be read`, [{ path: "", rule: "must be good" }]);
      },
    );
    await expect(failing).rejects.toThrow(`${url}/data/a.csv cannot be read`);
    // The class decides how an error is reported.
    await expect(failing).rejects.toBeInstanceOf(InvalidInputError);
  });
});

it("names each of many sources by its own address", async () => {
  const present: RequestListener = (_request, response) => void response.end("a\n");
  await serving(present, async (url) => {
    const sources = Array.from({ length: 12 }, (_, index) => `${url}/part-${index}/a.csv`);
    const names = await withLocalSources(
      sources,
      () => undefined,
      async (folders, nameOf) => folders.map((folder) => nameOf!(`${folder}/a.csv`)),
    );
    expect(names).toEqual(sources);
  });
});

it("gives up a server that sends nothing more, and names the URL", async () => {
  process.env["RINGMASTER_SOURCE_IDLE_MS"] = "50";
  try {
    const stalled: RequestListener = (request, response) => {
      response.writeHead(request.headers.range ? 206 : 200, { etag: '"one"', "content-length": content.length });
      if (!request.headers.range) response.write(content.subarray(0, 1_000));
    };
    await serving(stalled, (url) =>
      expect(read(`${url}/a.csv`)).rejects.toThrow(
        /\/a\.csv", but must be readable, and failed 5 times: .*no data came for 0.05 s/,
      ),
    );
  } finally {
    delete process.env["RINGMASTER_SOURCE_IDLE_MS"];
  }
});

it.each(["the answer", "the body"])("gives up a store like S3 that sends nothing more of %s", async (what) => {
  process.env["RINGMASTER_SOURCE_IDLE_MS"] = "50";
  const listed = "<ListBucketResult><Contents><Key>a.csv</Key><Size>9</Size></Contents></ListBucketResult>";
  const stalled: RequestListener = (request, response) => {
    if (request.url!.includes("list-type")) return void response.end(listed);
    if (what === "the body") response.writeHead(200, { "content-length": 9 }).write("a\n");
  };
  try {
    await serving(stalled, async (endpoint) => {
      const credentials = { accessKeyId: "a", secretAccessKey: "b" };
      const client = new S3Client({ endpoint, credentials, region: "us-east-1", forcePathStyle: true, maxAttempts: 1 });
      const [file] = await listS3Files("s3://bucket/a.csv", client);
      const read = async () => {
        for await (const _ of (await file!.open(0, undefined)).body);
      };
      await expect(read()).rejects.toThrow("no data came for 0.05 s");
      client.destroy();
    });
  } finally {
    delete process.env["RINGMASTER_SOURCE_IDLE_MS"];
  }
});

it("reads an object of S3, or all objects under a prefix, from an offset on", async () => {
  const embedded = await startEmbedded();
  try {
    const { bucket } = localConfig();
    for (const Key of ["raw/2026/b.csv", "raw/2026/a.csv", "raw/2026/_SUCCESS", "raw/2027/c.csv"]) {
      await embedded.s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: `x\n${Key}\n` }));
    }
    const list = (key: string) => listS3Files(`s3://${bucket}/${key}`, embedded.s3);
    expect((await list("raw/2026/")).map(({ name }) => name)).toEqual(["a.csv", "b.csv"]);
    expect((await list("raw")).map(({ name }) => name)).toEqual(["2026/a.csv", "2026/b.csv", "2027/c.csv"]);
    const [file] = await list("raw/2026/b.csv");
    const part = await file!.open(2, undefined);
    const chunks: Uint8Array[] = [];
    for await (const chunk of part.body) chunks.push(chunk);
    expect([file!.name, Buffer.concat(chunks).toString(), part.bytes]).toEqual(["b.csv", "raw/2026/b.csv\n", 17]);
    await expect(file!.open(0, '"other"')).rejects.toThrow();
    await expect(list("absent/")).rejects.toThrow(/must be an object or a prefix with objects/);
  } finally {
    await embedded.stop();
  }
});

it("names a dataset after the last part of a URL", () => {
  const schemaFile = "flights-2026.schema.yaml";
  const source = "s3://bucket/raw/flights-2026/";
  expect(pushTarget([source])).toEqual({ name: "flights-2026", sources: [source], schemaFile });
  expect(pushTarget(["https://host/a/flights-2026.csv.gz?x=1.5"])).toMatchObject({ name: "flights-2026", schemaFile });
});
