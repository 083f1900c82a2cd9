import { join } from "node:path";
import { JobBook } from "../../../local/batch/job-book";
import { Store } from "../../../local/batch/store";
import type { Job, JobKind } from "../../../local/batch/types";
import { ManualClock } from "../../support/manual-clock";
import { temporaryFolder } from "../../support/temporary-folder";

const job = (jobId: string, kind: JobKind, more: Partial<Job> = {}): Job => ({
  jobId,
  jobName: `name of ${jobId}`,
  kind,
  queue: "spot",
  definition: "trainer:1",
  createdAt: 1,
  schedulingPriority: 0,
  parameters: {},
  retryStrategy: {},
  propagateTags: false,
  tags: {},
  status: "RUNNING",
  attempts: [],
  ...more,
});

describe("the job book", () => {
  const directory = temporaryFolder("job-book");
  const clock = new ManualClock(0);
  let store: Store;
  let book: JobBook;
  const open = async () => {
    store = new Store(join(directory, "batch.level"), undefined);
    book = new JobBook(store, clock);
    book.load(await store.open());
  };
  const written = async () => {
    await store.flush();
    await new Promise((tick) => setImmediate(tick));
  };
  const inMemory = () => [...book.current()].map(({ jobId }) => jobId);
  const listed = () => [...book.listed()].map(({ jobId, status }) => `${jobId} ${status}`);

  beforeEach(open);
  afterEach(() => store.close());

  it("keeps an array in memory until all of its children have ended, and describes it the same afterwards", async () => {
    const jobs = [
      job("a", "array", { size: 2 }),
      ...[0, 1].map((index) => job(`a:${index}`, "array-child", { parent: "a", index, size: 2 })),
    ];
    for (const each of jobs) book.add(each);
    book.move(jobs[1]!, "SUCCEEDED");
    await written();
    expect(inMemory()).toEqual(["a", "a:0", "a:1"]);
    book.move(jobs[2]!, "FAILED", { statusReason: "Essential container in task exited" });
    book.move(jobs[0]!, "FAILED");
    const before = jobs.map((each) => JSON.stringify(book.describe(each)));
    await written();
    expect(inMemory()).toEqual([]);
    expect(listed()).toEqual(["a FAILED"]);
    expect(jobs.map(({ jobId }) => JSON.stringify(book.describe(book.get(jobId)!)))).toEqual(before);

    await store.close();
    await open();
    expect(inMemory()).toEqual([]);
    expect(listed()).toEqual(["a FAILED"]);
    expect(jobs.map(({ jobId }) => JSON.stringify(book.describe(book.get(jobId)!)))).toEqual(before);
  });

  it("loses no change of an ended job, also if two come before the first is on disk", async () => {
    const ended = job("b", "single");
    book.add(ended);
    book.move(ended, "SUCCEEDED");
    await written();
    book.update(book.get("b")!, { tags: { one: "1" } });
    book.update(book.get("b")!, { tags: { ...book.get("b")!.tags, two: "2" } });
    expect(listed().filter((line) => line.startsWith("b"))).toEqual(["b SUCCEEDED"]);
    await written();
    expect(inMemory()).toEqual([]);
    expect(book.get("b")!.tags).toEqual({ one: "1", two: "2" });
  });

  it("deletes a job and its children seven days after its end, at the next start", async () => {
    clock.advance(7 * 24 * 3_600_000 + 1);
    const young = job("c", "single");
    book.add(young);
    book.move(young, "SUCCEEDED");
    await store.close();
    await open();
    expect(listed()).toEqual(["c SUCCEEDED"]);
    await written();
    expect(["a", "a:0", "a:1", "b"].map((id) => book.get(id))).toEqual([undefined, undefined, undefined, undefined]);
  });
});
