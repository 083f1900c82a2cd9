import { drained, type Entry, judge, type Operation } from "../support/operation-verdict";

/** An operation whose effect is found so many times; a text is what a partial effect is reported with. */
function entry(answer: string, found: number | string, more: Partial<Operation> = {}): Entry {
  const operation: Operation = {
    ...{ kind: "test", id: "1", repeatable: true },
    send: () => Promise.resolve(),
    count: () => (typeof found === "number" ? Promise.resolve(found) : Promise.reject(new Error(found))),
    ...more,
  };
  return { operation, round: 1, answer, log: [] };
}

describe("the verdict on an operation", () => {
  it.each<[string, number | string, string | undefined]>([
    ["acknowledged", 1, undefined],
    ["acknowledged", 0, "acknowledged and lost"],
    ["acknowledged", 2, "done 2 times"],
    ["acknowledged", "2 of 3 items", "partly there or unreadable: 2 of 3 items"],
    ["unanswered", 0, undefined],
    ["unanswered", 1, undefined],
    ["unanswered", 2, "done 2 times"],
    ["unanswered", "1 of 3 items", "partly there or unreadable: 1 of 3 items"],
    ["409", 0, undefined],
    ["409", 1, "refused with 409, and done"],
  ])("that was %s and is there %p times is %p", async (answer, found, expected) => {
    expect(await judge(entry(answer, found))).toBe(expected);
  });

  it("accepts an acknowledgement without an effect only where there was nothing to do", async () => {
    const mayDoNothing = (nothing: boolean) => ({ mayDoNothing: () => Promise.resolve(nothing) });
    expect(await judge(entry("acknowledged", 0, mayDoNothing(true)))).toBeUndefined();
    expect(await judge(entry("acknowledged", 0, mayDoNothing(false)))).toBe("acknowledged and lost");
    expect(await judge(entry("acknowledged", 2, mayDoNothing(true)))).toBe("done 2 times");
  });
});

describe("what does not drain", () => {
  it("is named when the time is up", async () => {
    await expect(drained("runs are open", () => Promise.resolve(["run 7"]), 0)).rejects.toThrow(
      "runs are open after 0 s: run 7",
    );
  });

  it("is waited for", async () => {
    const left = [["run 7"], []];
    await expect(drained("runs are open", () => Promise.resolve(left.shift() ?? []))).resolves.toBeUndefined();
  });
});
