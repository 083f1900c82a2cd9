import { type InboxPut, type InboxReport, type InboxRepository, isLater } from "../../../core/datasets/inbox/shapes";
import { maxInboxBytes, type TakeFileDependencies, takeInboxFile } from "../../../core/datasets/inbox/take-file";
import type { DatasetVersion } from "../../../core/datasets/shapes";
import { InvalidInputError, RingmasterError } from "../../../core/errors";

const put: InboxPut = { path: "toy/a.csv", etag: "e1", bytes: 100, sequencer: "10", at: "2026-01-01T00:00:00.000Z" };
const version = (number: number): DatasetVersion =>
  ({
    team: "default",
    manifest: { name: "toy", version: number, rowCount: 7, schema: [], split: { seed: 1 } },
  }) as never;

/** Reports in memory, under the condition of those in DynamoDB. */
function memoryInbox(): InboxRepository & { readonly rows: Map<string, InboxReport> } {
  const rows = new Map<string, InboxReport>();
  return {
    rows,
    find: async (id) => rows.get(id),
    async save(report, before) {
      const now = rows.get(report.id);
      const same =
        now?.status === before?.status && now?.tries === before?.tries && now?.sequencer === before?.sequencer;
      if (same) rows.set(report.id, report);
      return same;
    },
    list: async () => ({ items: [...rows.values()] }),
  };
}

/** A dataset "toy" with one version, and files that are read as `read` says. */
function scene(read: () => Promise<number | undefined> = async () => 2) {
  const inbox = memoryInbox();
  let time = 0;
  let reads = 0;
  const dependencies: TakeFileDependencies = {
    inbox,
    datasets: { findNewest: async (name) => (name === "toy" ? version(1) : undefined) },
    clock: { now: () => ++time },
    async snapshot() {
      reads += 1;
      const made = await read();
      return made === undefined ? undefined : { created: true, version: version(made), ignoredColumns: [] };
    },
  };
  return {
    inbox,
    take: (more: Partial<InboxPut> = {}) => takeInboxFile(dependencies, { ...put, ...more }),
    report: () => [...inbox.rows.values()][0]!,
    reads: () => reads,
  };
}
const fails = (error: Error) => () => Promise.reject(error);

describe("a file of the inbox", () => {
  it("becomes a version, once however often its event comes", async () => {
    const { take, reads, inbox } = scene();
    expect(await take()).toMatchObject({ status: "taken", dataset: "toy", version: 2, created: true, rowCount: 7 });
    expect(await take()).toBeUndefined();
    expect(await take({ sequencer: "0F" })).toBeUndefined(); // late: of an earlier put
    expect(reads()).toBe(1);
    expect(inbox.rows.size).toBe(1);
  });

  it("has one end, where its event is delivered twice at once", async () => {
    let next = 1;
    const { take, report } = scene(async () => ++next);
    const [one, two] = await Promise.all([take(), take()]);
    expect(one).toEqual(two);
    expect(report()).toEqual(one);
  });

  it("is read again when it is put again, and has another report where its content is another", async () => {
    const { take, reads, inbox } = scene();
    await take();
    expect(await take({ sequencer: "11" })).toMatchObject({ tries: 1, status: "taken" });
    await take({ sequencer: "12", etag: "e2" });
    expect(reads()).toBe(3);
    expect([...inbox.rows.values()].map(({ etag }) => etag)).toEqual(["e1", "e2"]);
  });

  const unfit = new InvalidInputError("toy/a.csv does not fit the schema", [
    { path: "columns.x", rule: "must be in the file" },
  ]);
  const full = new RingmasterError("full", { code: "DISK_FULL", httpStatus: 507, retryable: true });
  it.each<[Partial<InboxPut>, () => Promise<number | undefined>, string, RegExp]>([
    [{ path: "a.csv" }, async () => 2, "INBOX_FILE_MISPLACED", /upload the file again under inbox/],
    [{ path: "My Data/a.csv" }, async () => 2, "INBOX_FILE_MISPLACED", /inbox\/<dataset>/],
    [{ path: "new/a.csv" }, async () => 2, "DATASET_NOT_FOUND", /push new .*--retry/],
    [{ bytes: maxInboxBytes + 1 }, async () => 2, "INBOX_FILE_TOO_LARGE", /enough disk space/],
    [{}, fails(full), "INBOX_FILE_TOO_LARGE", /enough disk space/],
    [{}, fails(unfit), "INVALID_INPUT", /--allow-schema-change/],
    [{}, async () => undefined, "INBOX_FILE_GONE", /its own report/],
  ])(
    "with %j that is read by %s is refused as %s, with the reason and what to do",
    async (more, read, code, nextStep) => {
      const { take, report } = scene(read);
      expect(await take(more)).toMatchObject({ status: "refused", code, reason: expect.any(String) });
      expect(report().nextStep).toMatch(nextStep);
    },
  );

  it("is tried three times where something may pass, and then reported with what went wrong", async () => {
    const { take, report } = scene(fails(new Error("socket hang up")));
    await expect(take()).rejects.toThrow("socket hang up");
    expect(report()).toMatchObject({ status: "reading", tries: 1, lastError: "socket hang up" });
    await expect(take()).rejects.toThrow("socket hang up");
    expect(await take()).toMatchObject({
      status: "refused",
      code: "INBOX_READ_FAILED",
      reason: expect.stringContaining("socket hang up"),
    });
    expect(report()).not.toHaveProperty("lastError");
  });

  it("whose reader dies without a word is not read a third time, and is reported", async () => {
    const hanging = scene(() => new Promise(() => undefined));
    void hanging.take();
    void hanging.take();
    await new Promise(setImmediate);
    expect(hanging.reads()).toBe(2);
    expect(await hanging.take()).toMatchObject({ status: "refused", code: "INBOX_READER_DIED" });
    expect(hanging.reads()).toBe(2);
  });

  it("of a slow reader that was taken for dead is a version once that one has ended", async () => {
    let end: (version: number) => void = () => undefined;
    const { take, report } = scene(
      () =>
        new Promise((resolve) => {
          end = resolve;
        }),
    );
    void take();
    const second = take();
    await new Promise(setImmediate);
    expect(await take()).toMatchObject({ status: "refused" });
    end(2);
    expect(await second).toMatchObject({ status: "taken", version: 2 });
    expect(report()).toMatchObject({ status: "taken" });
    expect(report()).not.toHaveProperty("reason");
  });
});

it.each([
  ["11", "10", true],
  ["10", "10", false],
  ["0F", "10", false],
  ["100", "10", false], // filled up with zeros on the right: equal
  ["1001", "10", true],
])("a put with the sequencer %s is later than one with %s: %s", (one, other, later) => {
  expect(isLater(one, other)).toBe(later);
});
