import fc, { type Arbitrary } from "fast-check";

const parts = [
  ...["a", "model", "MLmodel", "file.txt", "größer 1", "a%20b", "a+b", "🦄.bin", "x".repeat(200), "x".repeat(300)],
  ...["..", ".", "", "%2e%2e", "%252e%252e", "%2f", "..%2f..", "\\", "..\\..", "%5c", "C:", "file:", "%00", "\u0000"],
  ...[
    "#",
    "%23",
    "?",
    "%3f",
    ";",
    "%",
    "%zz",
    "%ff%fe",
    "%ed%a0%80",
    "\ud800",
    "~",
    "*",
    "artifacts",
    "models",
    "a\nb",
  ],
];
const part = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...parts.slice(0, 4)) },
  { weight: 4, arbitrary: fc.constantFrom(...parts) },
  { weight: 1, arbitrary: fc.string({ maxLength: 12, unit: "binary" }) },
);

/** Generates a file's path for a member or a query. */
export const filePath: Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("model/MLmodel", "model/MLmodel", "MLmodel", "a/file.txt") },
  { weight: 3, arbitrary: fc.array(part, { minLength: 1, maxLength: 5 }).map((all) => all.join("/")) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("/etc/passwd", "//a", "a//b", "a/", "", "\\\\host\\share", "a/".repeat(600)),
  },
);

/** Under the root of all artifacts, where a URL names it: what a URL cannot have is encoded, the rest is as it comes. */
export const rootPath: Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom(
          "@{experiment_id}/@{run_id}/artifacts",
          "@{experiment_id}/models/@{model_id}/artifacts",
        ),
      },
      { weight: 2, arbitrary: fc.constantFrom("elsewhere", "0/@{run_id}", "@{experiment_id}", "0/none/artifacts") },
    ),
    filePath,
  )
  .map(([root, path]) => `${root}/${sendable(path)}`);

/** `encodeURI`, but for percent signs: sequences are sent as they were made, and half of a surrogate pair cannot be. */
function sendable(path: string): string {
  return encodeURI(Buffer.from(path).toString()).replaceAll("%25", "%").replaceAll("#", "%23").replaceAll("?", "%3F");
}
