import { eachLimited, inParts, mapLimited } from "../../core/each-limited";

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("bounded concurrency", () => {
  it("runs at most so many actions at the same time and keeps the order of results", async () => {
    let [running, most] = [0, 0];
    const results = await mapLimited([5, 1, 4, 2, 3], 2, async (item) => {
      running += 1;
      most = Math.max(most, running);
      for (let i = 0; i < item; i += 1) await turn();
      running -= 1;
      return item * 10;
    });
    expect([results, most]).toEqual([[50, 10, 40, 20, 30], 2]);
  });

  it("takes items one by one, so that a generator can end early", async () => {
    const done: number[] = [];
    function* untilThree() {
      for (let i = 1; done.length < 3; i += 1) yield i;
    }
    await eachLimited(untilThree(), 1, async (item) => done.push(item));
    expect(done).toEqual([1, 2, 3]);
  });

  it("rejects with the first failure", async () => {
    const fail = async (item: number) => {
      if (item === 2) throw new Error("item 2");
    };
    await expect(eachLimited([1, 2, 3], 1, fail)).rejects.toThrow("item 2");
  });

  it("cuts items into parts", () => {
    expect(inParts([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
    expect(inParts([], 2)).toEqual([]);
  });
});
