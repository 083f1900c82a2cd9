import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { createDocumentClient } from "../../../adapters/dynamodb/client";
import { Table } from "../../../adapters/dynamodb/table";
import { createReclamationMemory } from "../../../adapters/reclamation/stored-cycle";
import { createReclamationObjects } from "../../../adapters/reclamation/stored-objects";
import { createReclamationRows } from "../../../adapters/reclamation/stored-rows";
import { createObjectStore } from "../../../adapters/s3/object-store";
import { sha256 } from "../../../core/digest";
import { objectKeys } from "../../../core/object-keys";
import { graceMs, type ListedObject, type SavedCycle } from "../../../core/reclamation/ports";
import { reclaim } from "../../../core/reclamation/reclaim";
import { functionNameIn } from "../../../platform/functions";
import { localConfig } from "../../../stack/settings";
import { loggedRun } from "../../core/tracking/records/logged-run";
import { startPlatform } from "../../local/iam/platform";
import { createTestPlatform, useEmbedded } from "../../support/embedded";

const embedded = useEmbedded();
let client: S3Client;
beforeAll(() => {
  client = embedded.s3;
});

const bucket = () => localConfig().bucket;
const table = () => new Table(embedded.dynamodb, localConfig().tables.catalog);
const store = (team = "red") => createObjectStore(client, bucket(), `teams/${team}/`);
const memory = (name: "cycle" | "dry-run" = "cycle") =>
  createReclamationMemory(table(), createObjectStore(client, bucket(), "teams/.reclamation/"), name);

describe("objects of all teams", () => {
  it("are listed after a key, read in ranges, and erased by version", async () => {
    const objects = createReclamationObjects(client, bucket());
    const large = Buffer.alloc(9 * 1024 * 1024 + 5, "ab");
    await store("red").put("large", large);
    await store("red").put("even", Buffer.alloc(64 * 1024, "x"));
    await store("blue").put("small", "text");
    const listed = await objects.list("");
    expect(listed.map(({ key, bytes }) => [key, bytes])).toEqual([
      ["teams/blue/small", 4],
      ["teams/red/even", 65_536],
      ["teams/red/large", large.length],
    ]);
    expect((await objects.list("teams/red/even")).map(({ key }) => key)).toEqual(["teams/red/large"]);
    expect(await objects.list("teams/red/large")).toEqual([]);
    const read = async (key: string) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await objects.read(key)) ?? []) chunks.push(chunk);
      return Buffer.concat(chunks);
    };
    expect((await read("teams/red/large")).equals(large)).toBe(true);
    expect(await read("teams/red/even")).toHaveLength(65_536);
    expect(await objects.read("teams/red/none")).toBeUndefined();

    await store("red").put("large", "again");
    await objects.erase(listed);
    expect((await objects.list("")).map(({ key }) => key)).toEqual(["teams/red/large"]);
    expect([await objects.has("teams/red/large"), await objects.has("teams/red/even")]).toEqual([true, false]);
  });
});

describe("rows", () => {
  it("show every digest: in names, lists and compressed records", async () => {
    const { records } = createTestPlatform(embedded).platform;
    const params = Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`p${i}`, sha256(`param ${i}`)]));
    await records.create(loggedRun("run-large", { params }));
    await table().put({ pk: "X", sk: "1", list: [{ [sha256("a name")]: 1 }, sha256("an item")] });
    const rows = createReclamationRows(table());
    let text = "";
    let position: string | undefined;
    do {
      const page = await rows.scan(position);
      text += Buffer.from(page.text).toString("latin1");
      position = page.next;
    } while (position !== undefined);
    for (const known of ["a name", "an item", "param 0", "param 3999"]) expect(text).toContain(sha256(known));
  });
});

describe("the memory of a cycle", () => {
  const cycle = (revision: number): SavedCycle => ({
    state: {
      ...{ revision, cycle: 1, phase: "sweep", position: "teams/red/x", startedAt: 5, references: 3 },
      ...{ unreferenced: { objects: 1, bytes: 2 }, deleted: { objects: 0, bytes: 0 } },
      teams: { red: { objects: 1, bytes: 2 } },
    },
    marks: new Uint8Array([1, 2, 255]),
    known: new Map([
      ["a".repeat(32), "c".repeat(128)],
      ["b".repeat(32), ""],
    ]),
    used: new Map(),
    before: new Set(["teams/red/cas/x"]),
    now: new Set(["teams/red/cas/y", "teams/red/cas/z"]),
  });

  it("returns what was saved, and keeps the cycles without deletions apart", async () => {
    expect(await memory().load()).toBeUndefined();
    const first = memory();
    expect(await first.save(cycle(1))).toBe(true);
    expect(await first.save(cycle(2))).toBe(true);
    expect(await memory().load()).toEqual(cycle(2));
    expect(await memory("dry-run").load()).toBeUndefined();
    expect(await createObjectStore(client, bucket(), "teams/.reclamation/").list("")).toHaveLength(1);
  });

  it("refuses a state that another call has passed", async () => {
    const [one, two] = [memory(), memory()];
    await Promise.all([one.load(), two.load()]);
    expect(await one.save(cycle(3))).toBe(true);
    expect(await two.save(cycle(3))).toBe(false);
    expect(await memory().load()).toEqual(cycle(3));
  });
});

it("claims old content by writing it again", async () => {
  const objects = createReclamationObjects(client, bucket());
  const versionOf = async (key: string): Promise<ListedObject | undefined> =>
    (await objects.list("teams/green/")).find((object) => object.key === `teams/green/${key}`);
  const content = await store("green").putContent("y".repeat(70_000), "text/plain");
  const key = objectKeys.content(content.sha256);
  const first = await versionOf(key);
  expect(await store("green").claimContent(content.sha256)).toBe(70_000);
  expect(await versionOf(key)).toEqual(first);
  const clock = { now: () => Date.now() + graceMs };
  const later = createObjectStore(client, bucket(), "teams/green/", { clock });
  expect(await later.claimContent(content.sha256)).toBe(70_000);
  const second = await versionOf(key);
  expect(second?.version).not.toBe(first?.version);
  expect(await later.putContent("y".repeat(70_000))).toEqual(content);
  expect((await versionOf(key))?.version).not.toBe(second?.version);
  expect(await later.claimContent(sha256("none"))).toBeUndefined();
  expect(await store("green").getContent(content.sha256)).toHaveLength(70_000);
});

it("deletes content that nothing refers to, under the role of the function", async () => {
  const platform = await startPlatform();
  try {
    const { bucket, prefix, tables } = platform.config;
    const red = createObjectStore(platform.s3, bucket, "teams/red/");
    const [kept, unused] = [await red.putContent("kept"), await red.putContent("unused")];
    await new Table(platform.documents, tables.catalog).put({ pk: "X", sk: "1", weights: kept.sha256 });
    const credentials = platform.credentialsOf(functionNameIn(prefix, "reclaim-storage"));
    const s3 = new S3Client({ ...platform.connection, credentials });
    const documents = createDocumentClient(new DynamoDBClient({ ...platform.connection, credentials }));
    const catalog = new Table(documents, tables.catalog);
    const state = createObjectStore(s3, bucket, "teams/.reclamation/");
    const clock = { now: () => Date.now() + graceMs + 60_000 };
    for (let cycle = 0; cycle < 2; cycle += 1) {
      const { phase } = await reclaim(
        {
          objects: createReclamationObjects(s3, bucket),
          rows: createReclamationRows(catalog),
          memory: createReclamationMemory(catalog, state, "cycle"),
          clock,
        },
        { until: Number.POSITIVE_INFINITY, everyMs: 0 },
      );
      expect(phase).toBe("done");
    }
    expect(await red.size(objectKeys.content(kept.sha256))).toBe(4);
    expect(await red.size(objectKeys.content(unused.sha256))).toBeUndefined();
    s3.destroy();
    documents.destroy();
  } finally {
    await platform.stop();
  }
});
