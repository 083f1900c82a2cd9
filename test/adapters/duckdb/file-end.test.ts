import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { gzipSync } from "node:zlib";
import { problemOfEnd } from "../../../adapters/duckdb/file-end";
import { openSource } from "../../../adapters/duckdb/source";
import { withDuckDb } from "../../../adapters/duckdb/workspace";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "file-end-"));
afterAll(() => fs.rmSync(folder, { recursive: true }));

function write(name: string, content: string | Buffer): string {
  const file = path.join(folder, name);
  fs.writeFileSync(file, content);
  return file;
}

const rows = "a,b\n1,1\n";
const long = `${rows}2,${"x".repeat(3 * 2 ** 20)}`;
const tooLong = "must have lines of at most 2.1 MB, and its last line is longer";
/** Random enough to be compressed into several blocks. */
const many = `a,b\n${Array.from({ length: 200_000 }, (_row, i) => `${i},${(i * 7_919) % 104_729}\n`).join("")}`;

it.each([
  ["a file of short lines", "short.csv", rows, undefined],
  ["a file without a last newline", "open.csv", "a,b\n1,1", undefined],
  ["a long last line", "long.csv", long, tooLong],
  ["a long last line with its newline", "ended.csv", `${long}\n`, tooLong],
  ["one line alone", "alone.csv", "x".repeat(3 * 2 ** 20), tooLong],
  ["a compressed file", "short.csv.gz", gzipSync(many), undefined],
  ["a long last line, compressed", "long.csv.gz", gzipSync(`${long}\n`), tooLong],
  [
    "a compressed file that is cut",
    "cut.csv.gz",
    gzipSync(many).subarray(0, 300_000),
    "must be a complete gzip file: unexpected end of file",
  ],
  ["other content", "other.csv.gz", "text", "must be a complete gzip file: incorrect header check"],
])("%s", async (_name, file, content, problem) => {
  expect(await problemOfEnd(write(file, content))).toBe(problem);
});

it("refuses a file whose end would be left out, with its name", async () => {
  const file = write("lost.csv", `${rows}2,${"x".repeat(40 * 2 ** 20)}`);
  const opened = withDuckDb((session) => openSource(session, file, []));
  await expect(opened).rejects.toMatchObject({ details: { problems: [{ path: "file", value: file, rule: tooLong }] } });
});
