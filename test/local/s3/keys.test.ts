import path from "node:path";
import fc from "fast-check";
import { fromBinary, parseEntry, relativePath, requireKey, startOfPrefix, toBinary } from "../../../local/s3/keys";

const alphabet = fc.constantFrom(
  "a",
  "A",
  "/",
  ".",
  "..",
  "%",
  "+",
  "=",
  "~",
  " ",
  "\u0000",
  "é",
  "e\u0301",
  "\u{1f600}",
  "l".repeat(63),
);
const key = fc
  .array(alphabet, { minLength: 1, maxLength: 20 })
  .map((parts) => parts.join(""))
  .filter((text) => Buffer.byteLength(text) <= 1024);

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

describe("keys as paths", () => {
  it.each([
    ["runs/r-1/manifest.json", "runs+/r-1+/manifest.json="],
    ["a", "a="],
    ["a/", "a+/="],
    ["a//b", "a+/+/b="],
    ["../x", "..+/x="],
    ["..", "..="],
    ["Aé", "%41%c3%a9="],
    ["x".repeat(64), `${"x".repeat(64)}%/=`],
    [`${"x".repeat(64)}y/z`, `${"x".repeat(64)}%/y+/z=`],
  ])("%j lies at %j", (text, file) => {
    expect(relativePath(toBinary(text)).split(path.sep).join("/")).toBe(file);
  });

  it("stay within the bucket, fit any file system, and ignore its case", () => {
    fc.assert(
      fc.property(key, (text) => {
        const components = relativePath(requireKey(text)).split(path.sep);
        expect(path.resolve("/bucket", ...components).startsWith("/bucket/")).toBe(true);
        for (const component of components) {
          expect(component).toMatch(/^[a-z0-9_.%-]*[+=%]$/);
          expect(component.length).toBeLessThan(255);
        }
      }),
      { seed: 3 },
    );
  });

  it("are distinct, and can be read back", () => {
    fc.assert(
      fc.property(key, key, (one, other) => {
        expect(relativePath(toBinary(one)) === relativePath(toBinary(other))).toBe(one === other);
        const entries = relativePath(toBinary(one))
          .split(path.sep)
          .map((name) => parseEntry(name)!.text);
        expect(fromBinary(entries.join(""))).toBe(one);
      }),
      { seed: 4 },
    );
  });

  it("sort entry by entry like the keys", () => {
    fc.assert(
      fc.property(key, key, (one, other) => {
        const entries = (text: string) =>
          relativePath(toBinary(text))
            .split(path.sep)
            .map((name) => parseEntry(name)!.text);
        const [a, b] = [entries(one), entries(other)];
        const at = a.findIndex((entry, index) => entry !== b[index]);
        const byEntries = at < 0 ? 0 : compare(a[at]!, b[at] ?? "");
        expect(Math.sign(byEntries)).toBe(Buffer.compare(Buffer.from(one), Buffer.from(other)));
      }),
      { seed: 5 },
    );
  });

  it("begin where their prefix leads", () => {
    fc.assert(
      fc.property(key, fc.nat(), (text, cut) => {
        const binary = toBinary(text);
        const prefix = binary.slice(0, cut % (binary.length + 1));
        const { directory, base } = startOfPrefix(prefix);
        const file = relativePath(binary);
        expect(directory === "" || file.startsWith(directory + path.sep)).toBe(true);
        expect(prefix.startsWith(base)).toBe(true);
      }),
      { seed: 6 },
    );
  });

  it("are at most 1024 bytes of UTF-8", () => {
    expect(requireKey("é".repeat(512))).toHaveLength(1024);
    expect(() => requireKey("é".repeat(513))).toThrow(expect.objectContaining({ code: "KeyTooLongError" }));
  });
});
