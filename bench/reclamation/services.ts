import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { contentDigestOf } from "../../core/object-keys";
import { createDynamoDb } from "../../local/dynamodb";
import { createFront } from "../../local/front";
import { listen, portOf } from "../../local/listen";
import { createS3 } from "../../local/s3";
import { testIam } from "../../test/support/iam";
import { runChild, say } from "../support/child";

/** Serves DynamoDB and S3 until its input ends. Each line sets S3's clock, by its distance from the time in milliseconds. */
runChild(async () => {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-bench-reclamation-"));
  let offset = 0;
  const services = [
    await createDynamoDb({ dataDirectory: join(directory, "dynamodb") }),
    await createS3({
      dataDirectory: join(directory, "s3"),
      events: { put: () => undefined },
      contentDigest: contentDigestOf,
      clock: { now: () => Date.now() + offset },
    }),
  ];
  const front = createFront(services, testIam);
  await listen(front, 0, "");
  say({ endpoint: `http://127.0.0.1:${portOf(front)}`, pid: process.pid });
  for await (const line of createInterface({ input: process.stdin })) {
    offset = JSON.parse(line) as number;
    say({ offset });
  }
  rmSync(directory, { recursive: true, force: true });
});
