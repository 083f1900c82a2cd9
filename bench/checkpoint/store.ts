import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFront } from "../../local/front";
import { listen, portOf } from "../../local/listen";
import { createS3 } from "../../local/s3";
import { testIam } from "../../test/support/iam";

/** Runs the embedded S3 in a separate process until its standard input ends. Prints its endpoint. */
async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-bench-s3-"));
  const front = createFront([await createS3({ dataDirectory: directory, events: { put: () => undefined } })], testIam);
  await listen(front, 0, "");
  process.stdout.write(`${JSON.stringify({ endpoint: `http://127.0.0.1:${portOf(front)}` })}\n`);
  process.stdin.resume();
  process.stdin.on("end", () => {
    rmSync(directory, { recursive: true, force: true });
    process.exit(0);
  });
}

void main();
