import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { pushFile } from "../../../adapters/duckdb/push-file";
import { createStoreUploads } from "../../../adapters/s3/store-uploads";
import { retryInboxFile } from "../../../api/routes/datasets";
import { registerDataset } from "../../../core/datasets/register";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { type FilePutEvent, readFilePut, takeFilePut } from "../../../lambdas/snapshot-dataset/snapshot";
import { matchesPattern, parsePattern } from "../../../local/events/pattern";
import { rules } from "../../../platform/rules";
import { localWorld } from "../../../stack/settings";
import { toyCsv, toySchema } from "../../e2e/harness";
import { createTestPlatform, type TestPlatform as Platform, useEmbedded } from "../../support/embedded";
import { temporaryFolder } from "../../support/temporary-folder";

const bucket = "ringmaster-data";
const schema = parseDatasetSchema(toySchema);
let sequence = 0;

function eventOf(key: string, object: { size?: number; etag?: string; sequencer?: string } = {}): FilePutEvent {
  sequence += 1;
  const sequencer = String(sequence).padStart(16, "0");
  return {
    ...{ version: "0", id: "1", account: "000000000000", region: "us-east-1", resources: [] },
    ...{ source: "aws.s3", "detail-type": "Object Created", time: "2026-01-01T00:00:00Z" },
    detail: { bucket: { name: bucket }, object: { key, sequencer, ...object } },
  };
}

describe("a raw file in a team's inbox", () => {
  const embedded = useEmbedded();
  let platform: Platform;
  let calls: ReturnType<typeof createTestPlatform>["calls"];
  const directory = temporaryFolder("inbox");
  beforeAll(async () => {
    const made = createTestPlatform(embedded);
    calls = made.calls;
    platform = made.platform.forTeam("vision");
  });

  async function put(path: string, body: string | Uint8Array): Promise<FilePutEvent> {
    const Key = `teams/vision/inbox/${path}`;
    const { ETag } = await embedded.s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: Buffer.from(body) }));
    return eventOf(Key, { size: body.length, etag: ETag!.replaceAll('"', "") });
  }
  async function push(name: string, rows: number) {
    const file = join(directory, `${rows}.csv`);
    writeFileSync(file, toyCsv(rows));
    const { objects, datasets: repository, clock } = platform;
    const { registered } = await pushFile({
      ...{ name, file, schema, uploads: createStoreUploads(objects) },
      register: (draft) => registerDataset({ repository, objects, clock }, draft),
    });
    return registered.version.manifest;
  }
  const versionsOf = async (name: string) =>
    (await platform.datasets.listVersions({ name, limit: 50 })).items.map(({ manifest }) => manifest.version).sort();

  it("becomes the next version, the one that a push of the same file would be", async () => {
    await push("toy", 60);
    const event = await put("toy/march.csv", toyCsv(90));
    expect(await takeFilePut(platform, event)).toMatchObject({
      status: "taken",
      version: 2,
      created: true,
      rowCount: 90,
    });
    expect(await push("toy", 90)).toMatchObject({ version: 2, split: { seed: 1, stratifyBy: "label" } });
    expect(
      JSON.parse(new TextDecoder().decode(await platform.objects.get("datasets/toy/versions/2/manifest.json"))),
    ).toMatchObject({
      version: 2,
      rowCount: 90,
    });
    expect(await takeFilePut(platform, event)).toBeUndefined();
  });

  it("is refused by the dataset's data contract, with an event, and is read again after a change of the contract", async () => {
    await push("guarded", 60);
    const rules = [{ rule: "range", column: "x1", maximum: 1, severity: "block", tolerance: 0 }] as const;
    const record = { dataset: "guarded", by: "ada", at: "2026-01-01T00:00:00.000Z" };
    await platform.dataContracts.create({ ...record, revision: 1, contract: { rules } });
    const event = await put("guarded/march.csv", toyCsv(90));
    const refused = await takeFilePut(platform, event);
    expect(refused).toMatchObject({
      ...{ status: "refused", code: "DATA_CONTRACT_VIOLATED" },
      reason: expect.stringMatching(/inbox\/guarded\/march.csv violates a rule.*x1 must be at most 1: \d+ rows/),
    });
    const blocked = { type: "data-contract.blocked", source: "inbox", file: "inbox/guarded/march.csv" };
    expect(calls.notable).toMatchObject([{ ...blocked, at: "2026-01-01T00:00:00.000Z" }]);
    expect(await versionsOf("guarded")).toEqual([1]);
    await platform.dataContracts.create({ ...record, revision: 2, contract: { rules: [] } });
    const { id } = refused!;
    await retryInboxFile(platform, id);
    const again = eventOf("teams/vision/inbox/guarded/march.csv", { size: 90, etag: refused!.etag });
    expect(await takeFilePut(platform, again)).toMatchObject({ status: "taken", version: 2 });
  });

  it("of the same rows is the same version, however many come at once", async () => {
    await push("formats", 60);
    const csv = toyCsv(75);
    const events = await Promise.all([
      put("formats/a.csv", csv),
      put("formats/b.csv.gz", gzipSync(csv)),
      put("formats/other.csv", toyCsv(80)),
    ]);
    const reports = await Promise.all([...events, ...events].map((event) => takeFilePut(platform, event)));
    expect(reports.filter((report) => report?.status === "refused")).toEqual([]);
    expect(await versionsOf("formats")).toEqual([1, 2, 3]);
    const { items } = await platform.inbox.list({ dataset: "formats", limit: 50 });
    const byPath = Object.fromEntries(items.map(({ path, version }) => [path, version]));
    expect(byPath["formats/b.csv.gz"]).toBe(byPath["formats/a.csv"]);
    expect(byPath["formats/other.csv"]).not.toBe(byPath["formats/a.csv"]);
  });

  it.each([
    [
      "lacking.csv",
      toyCsv(30).replaceAll(/,[^,\n]*$/gm, ""),
      "INVALID_INPUT",
      "does not fit the schema: columns.label",
    ],
    [
      "typed.csv",
      toyCsv(30).replace(/\n[^,]*/, "\nabc"),
      "INVALID_ROWS",
      "does not match its schema: column x1, row 1",
    ],
    ["notes.docx", "hello", "INVALID_INPUT", ".parquet"],
    ["torn.parquet", "PAR1 and nothing else", "INVALID_INPUT", "torn"],
  ])("that a push would refuse is refused and stays: %s", async (name, body, code, reason) => {
    const path = `toy/${name}`;
    const before = await versionsOf("toy");
    const event = await put(path, body);
    const report = await takeFilePut(platform, event);
    expect(report).toMatchObject({ status: "refused", code, nextStep: expect.any(String) });
    expect(report?.reason).toContain(reason);
    await embedded.s3.send(new HeadObjectCommand({ Bucket: bucket, Key: event.detail.object.key }));
    expect(await versionsOf("toy")).toEqual(before);
    const { items } = await platform.inbox.list({ limit: 50 });
    expect(items).toContainEqual(expect.objectContaining({ path, status: "refused" }));
    expect(JSON.stringify(items)).not.toContain(tmpdir());
  });

  it("of an unknown dataset is taken at another try, once the dataset is there", async () => {
    const event = await put("later/name with spaces & ü#.csv", toyCsv(45));
    const { id, code } = (await takeFilePut(platform, event))!;
    expect(code).toBe("DATASET_NOT_FOUND");
    await push("later", 30);
    await retryInboxFile(platform, id);
    const head = await embedded.s3.send(new HeadObjectCommand({ Bucket: bucket, Key: event.detail.object.key }));
    const { size } = event.detail.object;
    expect([head.ContentLength, head.ETag]).toEqual([size, `"${event.detail.object.etag}"`]);
    const again = eventOf(event.detail.object.key, { size, etag: event.detail.object.etag });
    expect(await takeFilePut(platform, again)).toMatchObject({ id, status: "taken", version: 2, tries: 1 });
    await expect(retryInboxFile(platform, id)).rejects.toMatchObject({ code: "INBOX_FILE_NOT_REFUSED" });
    await expect(retryInboxFile(platform, "none")).rejects.toMatchObject({ code: "INBOX_REPORT_NOT_FOUND" });
  });

  it("that was uploaded in parts is accepted, too; a retry has a new report, because its ETag differs", async () => {
    const at = { Bucket: bucket, Key: "teams/vision/inbox/parts/big.csv" };
    const { UploadId } = await embedded.s3.send(new CreateMultipartUploadCommand(at));
    const Body = Buffer.from(toyCsv(51));
    const { ETag } = await embedded.s3.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body }));
    const Parts = [{ PartNumber: 1, ETag }];
    const whole = await embedded.s3.send(
      new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }),
    );
    expect(whole.ETag).toMatch(/-1"$/);
    const size = Body.length;
    const refused = await takeFilePut(platform, eventOf(at.Key, { size, etag: whole.ETag!.replaceAll('"', "") }));
    expect(refused).toMatchObject({ code: "DATASET_NOT_FOUND" });
    await push("parts", 30);
    await retryInboxFile(platform, refused!.id);
    const copied = (await embedded.s3.send(new HeadObjectCommand(at))).ETag!.replaceAll('"', "");
    expect(await takeFilePut(platform, eventOf(at.Key, { size, etag: copied }))).toMatchObject({ version: 2 });
    const { items } = await platform.inbox.list({ dataset: "parts", limit: 50 });
    expect(items.map(({ status }) => status).sort()).toEqual(["retried", "taken"]);
  });

  it("that was replaced or removed before it was read is not taken for another", async () => {
    const old = await put("toy/moving.csv", toyCsv(33));
    await put("toy/moving.csv", toyCsv(36));
    expect(await takeFilePut(platform, old)).toMatchObject({ status: "refused", code: "INBOX_FILE_GONE" });
    const removed = await put("toy/removed.csv", toyCsv(39));
    await embedded.s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: removed.detail.object.key }));
    const report = await takeFilePut(platform, removed);
    expect(report).toMatchObject({ status: "refused", code: "INBOX_FILE_GONE" });
    await expect(retryInboxFile(platform, report!.id)).rejects.toMatchObject({ code: "INBOX_FILE_GONE" });
    expect(await platform.inbox.find(report!.id)).toEqual(report);
  });

  it("leaves nothing on the function's disk", async () => {
    const before = process.env["TMPDIR"];
    const own = mkdtempSync(join(directory, "tmp-"));
    process.env["TMPDIR"] = own;
    try {
      expect(await takeFilePut(platform, await put("toy/last.csv", toyCsv(42)))).toMatchObject({ status: "taken" });
      expect(await takeFilePut(platform, await put("toy/torn.csv", "x1\n1"))).toMatchObject({ status: "refused" });
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    }
    expect(readdirSync(own)).toEqual([]);
  });
});

describe("whose file an event tells of", () => {
  const whole = { size: 1, etag: "e", sequencer: "1" };
  it.each<[string, FilePutEvent, object | undefined]>([
    ["a team's", eventOf("teams/vision/inbox/toy/a/b.csv", whole), { team: "vision", put: { path: "toy/a/b.csv" } }],
    ["nobody's: a folder that a console has made", eventOf("teams/vision/inbox/toy/", whole), undefined],
    ["nobody's: what could be no team", eventOf("teams/Vision#/inbox/toy/a.csv", whole), undefined],
    ["nobody's: another object", eventOf("teams/vision/runs/inbox/a.csv", whole), undefined],
  ])("%s", (_name, event, expected) => {
    const read = readFilePut(event, bucket);
    if (expected) expect(read).toMatchObject(expected);
    else expect(read).toBeUndefined();
    expect(readFilePut(event, "another-bucket")).toBeUndefined();
  });

  it.each([
    ["teams/vision/inbox/toy/a.csv", ["inbox-file-put"]],
    ["teams/vision/datasets/toy/versions/2/manifest.json", ["dataset-version-made"]],
    ["teams/vision/cas/sha256/00", []],
    ["teams/vision/runs/run-1/training/task.json", []],
  ])("%s wakes %j", (key, expected) => {
    const pattern = (rule: (typeof rules)[number]) => parsePattern(JSON.stringify(rule.pattern!(localWorld())));
    const woken = rules.filter((rule) => rule.pattern && matchesPattern(pattern(rule), eventOf(key) as never));
    expect(woken.map(({ name }) => name)).toEqual(expected);
  });
});
