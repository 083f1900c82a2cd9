import { STS } from "@aws-sdk/client-sts";
import { createFront } from "../../../local/front";
import { createSts } from "../../../local/iam/sts";
import { createIam } from "../../../stack/iam";
import { localConfig, localWorld } from "../../../stack/settings";
import { functionPermissions } from "../../support/permissions";
import { startServer, type WebServer } from "../../support/web-server";

const { runRoleArn } = localConfig();
const iam = createIam({ world: localWorld(), functionPermissions, secret: "s" });
let front: WebServer;
let connection: { readonly endpoint: string; readonly region: string; readonly maxAttempts: number };

beforeAll(async () => {
  front = await startServer(createFront([createSts(iam)], iam));
  connection = { endpoint: front.endpoint, region: "us-east-1", maxAttempts: 1 };
});
afterAll(() => front.close());

const as = (role?: string) =>
  new STS({ ...connection, credentials: role === undefined ? iam.owner : iam.issue({ role, name: "test" }) });
const assume = (role: string | undefined, more: object = {}) =>
  as(role).assumeRole({ RoleArn: runRoleArn, RoleSessionName: "run-1", ...more });
const broker = "ringmaster-run-credentials";

it("refuses a request that is larger than its limit", async () => {
  const large = assume(broker, { RoleSessionName: "x".repeat(70_000) });
  await expect(large).rejects.toMatchObject({ name: "RequestEntityTooLarge", $metadata: { httpStatusCode: 413 } });
});

it("returns the caller's identity", async () => {
  const { Arn } = await as("ringmaster-promote").getCallerIdentity({});
  expect(Arn).toBe("arn:aws:sts::000000000000:assumed-role/ringmaster-promote/test");
  const owner = await as().getCallerIdentity({});
  expect(owner).toMatchObject({ Arn: "arn:aws:iam::000000000000:root", Account: "000000000000" });
});

it("gives the trusted function a session of at most an hour, narrowed by its policy", async () => {
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [] });
  const { Credentials, AssumedRoleUser } = await assume(broker, { Policy, DurationSeconds: 3_600 });
  expect(Credentials?.AccessKeyId).toMatch(/^ASIA[0-9A-F]{16}$/);
  expect(AssumedRoleUser?.Arn).toBe("arn:aws:sts::000000000000:assumed-role/ringmaster-run-us-east-1/run-1");
  const left = Credentials!.Expiration!.getTime() - Date.now();
  expect(Math.round(left / 60_000)).toBe(60);
});

const missing = { RoleArn: "arn:aws:iam::000000000000:role/none" };
const distrusting = { RoleArn: "arn:aws:iam::000000000000:role/ringmaster-api" };
const unknown = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","NotAction":"s3:*","Resource":"*"}]}';

it.each<[string, string | undefined, object, string]>([
  ["a function without the right", "ringmaster-promote", {}, "AccessDenied"],
  ["a role that is not there", broker, missing, "AccessDenied"],
  ["a role that does not trust it", broker, distrusting, "AccessDenied"],
  ["the owner, a role that is not there", undefined, missing, "AccessDenied"],
  ["more than the hour of chained roles", broker, { DurationSeconds: 3_601 }, "ValidationError"],
  ["less than a quarter of an hour", broker, { DurationSeconds: 899 }, "ValidationError"],
  ["a name with a slash", broker, { RoleSessionName: "a/b" }, "ValidationError"],
  ["a policy that is none", broker, { Policy: "{" }, "MalformedPolicyDocumentException"],
  ["a policy that is not understood", broker, { Policy: unknown }, "MalformedPolicyDocumentException"],
  ["a policy of more than 2,048 characters", broker, { Policy: " ".repeat(2_049) }, "ValidationError"],
])("refuses %s", async (_what, role, more, code) => {
  await expect(assume(role, more)).rejects.toMatchObject({ name: code });
});
