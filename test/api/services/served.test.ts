import { resolveServed } from "../../../api/services/served";
import { CorruptObjectError } from "../../../core/object-documents";
import { noChampion } from "../../../core/registry/errors";

const never = () => new Promise<never>(() => undefined);
const atOnce = () => Promise.resolve();
const stored = (version: number) => async () => ({ version });

describe("what serving needs", () => {
  it.each([
    ["the table answers", stored(2), never, { resolved: { version: 2 }, source: "registry" }],
    ["the table never answers", never, atOnce, { resolved: { version: 1 }, source: "pointer" }],
    [
      "the table fails",
      () => Promise.reject(new Error("reset")),
      never,
      { resolved: { version: 1 }, source: "pointer" },
    ],
  ])("comes from where it can be had: %s", async (_, resolve, silence, expected) => {
    expect(await resolveServed({ resolve, find: stored(1) }, "toy", silence)).toEqual(expected);
  });

  it("is refused where the registry refuses, pointer or not", async () => {
    const resolve = () => Promise.reject(noChampion("toy"));
    await expect(resolveServed({ resolve, find: stored(1) }, "toy", never)).rejects.toMatchObject({
      code: "NO_CHAMPION",
    });
  });

  it("is an error where an object is damaged, pointer or not", async () => {
    const resolve = () => Promise.reject(new CorruptObjectError("cas/sha256/ab", "ab", "cd"));
    await expect(resolveServed({ resolve, find: stored(1) }, "toy", never)).rejects.toThrow(CorruptObjectError);
  });

  it.each([
    ["has no pointer", async () => undefined],
    ["fails as well", () => Promise.reject(new Error("slow down"))],
  ])("is not to be had for now where the table is silent and the bucket %s", async (_, find) => {
    await expect(resolveServed({ resolve: never, find }, "toy", atOnce)).rejects.toMatchObject({
      code: "REGISTRY_UNAVAILABLE",
      httpStatus: 503,
      retryable: true,
    });
  });
});
