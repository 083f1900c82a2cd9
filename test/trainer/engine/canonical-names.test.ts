import { canonicalNames, renameStrings } from "../../../trainer-container/engine/canonical-names";

describe("canonicalNames", () => {
  it.each<[string, string, string]>([
    ["numbers each class by position", "dense_Dense7 gru_GRU3 dense_Dense9", "dense_Dense1 gru_GRU1 dense_Dense2"],
    [
      "knows inputs and models",
      "model4 input12 gru_GRU3_input sequential_2",
      "model1 input1 gru_GRU1_input sequential_1",
    ],
    ["leaves the user's names", "encoder block2 logits", "encoder block2 logits"],
    ["steps over a user's name that looks automatic only by chance", "dense_Dense5 dense_1", "dense_Dense1 dense_1"],
    ["gives a name that comes twice one name", "dense_Dense5 dense_Dense5", "dense_Dense1 dense_Dense1"],
  ])("%s", (_, names, expected) => {
    const canonical = canonicalNames(names.split(" "));
    expect(
      names
        .split(" ")
        .map((name) => canonical.get(name) ?? name)
        .join(" "),
    ).toBe(expected);
  });
});

it("renameStrings replaces whole strings anywhere in a JSON value, and no keys", () => {
  const names = new Map([["a", "b"]]);
  expect(renameStrings({ a: ["a", "aa", { x: "a" }, null, 1] }, names)).toEqual({
    a: ["b", "aa", { x: "b" }, null, 1],
  });
});
