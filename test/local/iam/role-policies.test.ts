import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { createSessionDenials } from "../../../adapters/iam/session-denials";
import { createFront } from "../../../local/front";
import type { Iam } from "../../../local/iam";
import { Caller } from "../../../local/iam/caller";
import { createRolePolicies } from "../../../local/iam/role-policies";
import type { StoredService } from "../../../local/service";
import { arnsOf, runRoleNameIn } from "../../../platform/permissions";
import { createIam } from "../../../stack/iam";
import { localConfig, localWorld } from "../../../stack/settings";
import { functionPermissions } from "../../support/permissions";
import { type Keys, sign } from "../../support/sign";
import { temporaryFolder } from "../../support/temporary-folder";
import { startServer, type WebServer } from "../../support/web-server";

const world = localWorld();
const roleArn = localConfig().runRoleArn;
const roleName = runRoleNameIn(world);
const gangs = { action: "dynamodb:GetItem", resource: arnsOf("table/Gangs", world)[0]! };
const catalog = { action: "dynamodb:GetItem", resource: arnsOf("table/Catalog", world)[0]! };

describe("policies that are put on a role of the embedded cloud", () => {
  const folder = temporaryFolder("role-policies");
  let directory: string;
  let iam: Iam;
  let service: StoredService;
  let front: WebServer;

  async function start(): Promise<void> {
    iam = createIam({ world, functionPermissions, secret: "a secret" });
    service = createRolePolicies(iam, { dataDirectory: directory });
    await service.ready;
    front = await startServer(createFront([service], iam));
  }
  async function stop(): Promise<void> {
    await front.close();
    await service.close();
  }
  beforeEach(async () => {
    directory = mkdtempSync(join(folder, "test-"));
    await start();
  });
  afterEach(() => stop());

  const endpoint = () => front.endpoint;
  const session = (name: string) => new Caller(iam.roles.get(roleName)!, { role: roleName, name });
  const put = (fields: Readonly<Record<string, string>>, keys: Keys = iam.owner) => send("PutRolePolicy", fields, keys);
  async function send(Action: string, fields: Readonly<Record<string, string>>, keys: Keys) {
    const body = new URLSearchParams({ Action, RoleName: roleName, PolicyName: "more", ...fields }).toString();
    const request = { method: "POST", url: `${endpoint()}/`, headers: {}, body, service: "iam" };
    const response = await fetch(request.url, { method: "POST", headers: await sign(request, keys), body });
    return `${response.status} ${await response.text()}`;
  }
  const policy = (Effect: string, Action: string, more: object = {}) =>
    JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect, Action, Resource: "*", ...more }] });

  it("deny the sessions of ended runs, keep others, and are there after a restart", async () => {
    const denialsOf = (keys: Keys) =>
      createSessionDenials({ roleArn, credentials: async () => keys, endpoint: endpoint() });
    const before = session("run-1");
    expect(before.may(gangs)).toBe(true);
    await denialsOf(iam.issue({ role: "ringmaster-end-sessions", name: "end-sessions" })).replace(["run-1"]);
    const decisions = () => ["run-1", "run-10", "xrun-1", "run-2"].map((name) => session(name).may(gangs));
    expect([before.may(gangs), ...decisions()]).toEqual([false, false, true, true, true]);
    await stop();
    await start();
    expect(decisions()).toEqual([false, true, true, true]);
    await denialsOf(iam.owner).replace([]);
    expect(decisions()).toEqual([true, true, true, true]);
  });

  it("grant no right outside the role's boundary", async () => {
    expect(await put({ PolicyDocument: policy("Allow", "*") })).toMatch(/^200 /);
    expect([session("run-1").may(gangs), session("run-1").may(catalog)]).toEqual([true, false]);
  });

  it("are put by the function that ends sessions, on the run role only", async () => {
    const PolicyDocument = policy("Deny", "*");
    const keysOf = (role: string) => iam.issue({ role: `ringmaster-${role}`, name: role });
    for (const role of ["api", "run-credentials", "conclude-run", "reconcile-runs"]) {
      expect(await put({ PolicyDocument }, keysOf(role))).toMatch(/^403 .*<Code>AccessDenied<.*iam:PutRolePolicy/);
    }
    const other = put({ PolicyDocument, RoleName: "ringmaster-api" }, keysOf("end-sessions"));
    expect(await other).toMatch(/^403 .*<Code>AccessDenied</);
    expect(await put({ PolicyDocument }, keysOf("end-sessions"))).toMatch(/^200 /);
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    [
      "a role that does not exist",
      { RoleName: "nobody", PolicyDocument: policy("Deny", "*") },
      /^404 .*NoSuchEntity.*nobody/,
    ],
    ["no role", { RoleName: "", PolicyDocument: "{}" }, /^400 .*ValidationError.*RoleName/],
    ["no JSON", { PolicyDocument: "{" }, /^400 .*MalformedPolicyDocument/],
    [
      "an unknown condition",
      { PolicyDocument: policy("Deny", "*", { Condition: { Numeric: { x: "1" } } }) },
      /^400 .*MalformedPolicyDocument.*Numeric/,
    ],
    [
      "more characters than IAM takes",
      { PolicyDocument: policy("Deny", "x".repeat(10_240)) },
      /^409 .*LimitExceeded.*10240/,
    ],
  ])("are refused for %s", async (_what, fields, answer) => {
    expect(await put(fields)).toMatch(answer);
  });

  it("share one limit: a second policy gets the rest, and a replaced policy frees its characters", async () => {
    const PolicyDocument = policy("Deny", "x".repeat(6_000));
    for (const answer of [/^200 /, /^200 /]) expect(await put({ PolicyDocument })).toMatch(answer);
    expect(await put({ PolicyDocument, PolicyName: "other" })).toMatch(/^409 .*LimitExceeded/);
  });

  it("are the only IAM operation: others are refused by name", async () => {
    expect(await send("CreateUser", {}, iam.owner)).toMatch(/^400 .*InvalidAction.*does not implement CreateUser/);
  });
});
