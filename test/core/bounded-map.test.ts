import { BoundedMap } from "../../core/bounded-map";

describe("a bounded map", () => {
  it("removes the entry that was set the longest ago", () => {
    const map = new BoundedMap<string, number>(2);
    map.set("a", 1).set("b", 2).set("a", 3).set("c", 4);
    expect([...map]).toEqual([
      ["a", 3],
      ["c", 4],
    ]);
  });

  it("removes nothing where an entry that it holds is set again", () => {
    const map = new BoundedMap<string, number>(2);
    map.set("a", 1).set("b", 2).set("b", 3);
    expect([...map.keys()]).toEqual(["a", "b"]);
  });
});
