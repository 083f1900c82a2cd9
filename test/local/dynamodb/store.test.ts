import { rmSync } from "node:fs";
import { Store } from "../../../local/dynamodb/store/store";
import { temporaryDirectory } from "./harness";

const key = (name: string) => Buffer.from(name);

describe("the store", () => {
  let directory: string;
  let store: Store;
  beforeEach(async () => {
    directory = temporaryDirectory();
    store = await Store.open(directory);
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it("shows a plan what is still being written", async () => {
    const first = store.write((draft) => draft.put(key("a"), "1"));
    const second = store.write((draft) => {
      draft.put(key("b"), `${draft.get(key("a"))}, seen`);
      return draft.get(key("b"));
    });
    expect(await second).toBe("1, seen");
    await first;
    expect([store.get(key("a")), store.get(key("b"))]).toEqual(["1", "1, seen"]);
  });

  it("writes nothing of a plan that throws, and rejects once all data that the plan saw are written", async () => {
    const settled: string[] = [];
    const first = store.write((draft) => draft.put(key("a"), "1")).then(() => settled.push("written"));
    const refused = store.write((draft) => {
      draft.put(key("b"), "half");
      throw new Error(`saw ${draft.get(key("a"))}`);
    });
    await expect(refused.finally(() => settled.push("refused"))).rejects.toThrow("saw 1");
    await first;
    expect(settled).toEqual(["written", "refused"]);
    expect(store.get(key("b"))).toBeUndefined();
  });

  it("reads a range from one snapshot", async () => {
    await store.write((draft) => {
      for (const name of ["a", "b", "c"]) draft.put(key(name), "old");
    });
    const seen: string[] = [];
    const scan = store.scan({ gte: key("a"), lt: key("z") }, (value, get) => {
      seen.push(`${value} ${get(key("c"))}`);
      return true;
    });
    await store.write((draft) => {
      for (const name of ["a", "b", "c", "d"]) draft.put(key(name), "new");
    });
    await scan;
    expect(seen).toEqual(["old old", "old old", "old old"]);
  });

  it("fails the plans after a batch that could not be written", async () => {
    const failures = jest.fn();
    store.onFailure = failures;
    const stderr = jest.spyOn(process.stderr, "write").mockReturnValue(true);
    await store.close();
    const first = store.write((draft) => draft.put(key("a"), "1"));
    const second = store.write((draft) => draft.put(key("b"), `${draft.get(key("a"))}`));
    const outcomes = await Promise.allSettled([first, second]);
    stderr.mockRestore();
    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.name)).toEqual([
      "InternalServerError",
      "InternalServerError",
    ]);
    expect(failures).toHaveBeenCalledTimes(1);
  });
});
