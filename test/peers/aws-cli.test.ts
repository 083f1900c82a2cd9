import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { TestStack } from "../e2e/harness";

const found = spawnSync("aws", ["--version"]).status === 0;
const title = found ? "the AWS CLI" : "the AWS CLI: skipped, because `aws` is not installed";

/** Stock tools with nothing but what `ringmaster env` prints. Their signer is botocore's, which boto3 has, too. */
(found ? describe : describe.skip)(title, () => {
  const stack = new TestStack();
  let environment: NodeJS.ProcessEnv;
  const aws = async (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> => {
    const env = { PATH: process.env["PATH"], HOME: stack.directory, ...environment, ...more };
    return (await promisify(execFile)("aws", args, { env, maxBuffer: 64 * 1024 * 1024 })).stdout;
  };

  beforeAll(async () => {
    await stack.up();
    environment = Object.fromEntries(
      [...(await stack.run("env")).stdout.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
  }, 120_000);
  afterAll(() => stack.remove());

  it.each([
    [["dynamodb", "list-tables"], "ringmaster-Catalog"],
    [["s3", "ls"], "ringmaster-data"],
    [["stepfunctions", "list-state-machines"], "ringmaster-training-run"],
    [["batch", "describe-job-queues"], "ringmaster-spot"],
    [["events", "list-rules"], "ringmaster-"],
    [["scheduler", "list-schedule-groups"], "ringmaster-triggers"],
    [["logs", "describe-log-groups"], "logGroups"],
    [["sts", "get-caller-identity"], ":root"],
    [["sns", "list-topics"], "Topics"],
    [
      [
        "lambda",
        "invoke",
        "--function-name",
        "arn:aws:lambda:us-east-1:000000000000:function:ringmaster-fire-triggers",
        "--payload",
        "{}",
        "/dev/null",
      ],
      "200",
    ],
  ])("runs aws %j", async (args, expected) => {
    expect(await aws(args)).toContain(expected);
  });

  it("stores and reads a file in parts, under a name that must be encoded, and by a presigned URL", async () => {
    const file = stack.file("large.bin", "");
    writeFileSync(file, randomBytes(20 * 1024 * 1024));
    const url = "s3://ringmaster-data/a b+c'ü(1).bin";
    await aws(["s3", "cp", "--quiet", file, url]);
    await aws(["s3", "cp", "--quiet", url, `${file}.back`]);
    expect(readFileSync(`${file}.back`).equals(readFileSync(file))).toBe(true);
    const config = stack.file("aws.config", "[default]\ns3 =\n  signature_version = s3v4\n");
    const presigned = (await aws(["s3", "presign", url], { AWS_CONFIG_FILE: config })).trim();
    const response = await fetch(presigned);
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 20 * 1024 * 1024]);
    expect((await fetch(presigned.replace("a%20b", "a%20c"))).status).toBe(403);
  }, 120_000);

  it.each([
    ["dynamodb", "list-tables", "InvalidSignatureException"],
    ["s3api", "list-buckets", "SignatureDoesNotMatch"],
    ["sts", "get-caller-identity", "SignatureDoesNotMatch"],
  ])("names the error of %s %s with another secret", async (service, operation, code) => {
    await expect(aws([service, operation], { AWS_SECRET_ACCESS_KEY: "x" })).rejects.toThrow(code);
  });
});
