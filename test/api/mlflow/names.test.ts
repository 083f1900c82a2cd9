import { isLongerThan, normalPath, problemOfName, randomName, truncated } from "../../../api/mlflow/names";

describe("names of params, metrics and tags", () => {
  it.each(["a", "train/loss", "a b", "a:b", "a-b_c.d", "schlüssel", "日本", "a..", "1"])("%j is one", (name) =>
    expect(problemOfName(name)).toBeUndefined(),
  );

  it.each([
    ["a*b", "may only contain"],
    ["a\nb", "may only contain"],
    ["../a", "'../a'"],
    ["..a", "'..a'"],
    ["a/../b", "'b'"],
    ["a//b", "'a/b'"],
    ["/a", "'/a'"],
    ["a/", "'a'"],
    [".", "'.'"],
    ["", "'.'"],
  ])("%j is none", (name, words) => expect(problemOfName(name)).toContain(words));

  // As Python's posixpath.normpath has them.
  it.each([
    ["", "."],
    ["//a", "//a"],
    ["///a", "/a"],
    ["/..", "/"],
    ["a/b/../..", "."],
    ["../../a", "../../a"],
    ["./a/./b", "a/b"],
  ])("%j is %j", (path, normal) => expect(normalPath(path)).toBe(normal));
});

describe("lengths", () => {
  it("are of code points", () => {
    const owls = "🦉".repeat(250);
    expect(isLongerThan(owls, 250)).toBe(false);
    expect(isLongerThan(`${owls}x`, 250)).toBe(true);
    expect(truncated(`${owls}x`, 250)).toBe(owls);
    expect(truncated("x".repeat(9000), 6000)).toHaveLength(6000);
  });
});

it("names a run by two words and a number", () => {
  expect(randomName(() => 0)).toBe("able-ant-0");
  expect(randomName(() => 0.999999)).toBe("witty-zebra-999");
});
