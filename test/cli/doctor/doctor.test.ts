import type { Finding } from "../../../cli/doctor/account";
import { openAccount } from "../../../cli/doctor/aws-account";
import { checkAccount } from "../../../cli/doctor/check-account";
import { TestStack } from "../../e2e/harness";
import { runCli } from "../../support/cli";
import { type FakeAccount, healthyAccount, serveAccount } from "./fake-account";

interface Result {
  readonly code: number;
  readonly out: string;
  readonly findings: readonly Finding[];
  readonly error?: { readonly code: string; readonly message: string };
}

async function doctor(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Result> {
  const { code, out } = await runCli(["doctor", ...args], { RINGMASTER_API_URL: undefined, ...environment });
  return { code, out, findings: [], ...(args.includes("--json") ? JSON.parse(out) : {}) };
}

const operator = (endpoint: string): NodeJS.ProcessEnv => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
  AWS_SECRET_ACCESS_KEY: "secret",
});

describe("ringmaster doctor on an AWS account", () => {
  const account = healthyAccount();
  const environment = { ...process.env };
  let served: Awaited<ReturnType<typeof serveAccount>>;
  beforeAll(async () => {
    served = await serveAccount(account);
    Object.assign(process.env, operator(served.endpoint));
  });
  afterAll(() => {
    for (const name of Object.keys(operator(""))) delete process.env[name];
    Object.assign(process.env, environment);
    return served.stop();
  });
  beforeEach(() => void Object.assign(account, healthyAccount()));
  /** Returns the findings that are not `ok`, without the time that a process takes. */
  const defectsOf = async (gpusWanted = true) =>
    (await checkAccount(await openAccount("ringmaster", undefined), gpusWanted)).filter(
      ({ result }) => result !== "ok",
    );

  it("finds nothing in an account without defects", async () => {
    const { code, findings } = await doctor(["--account", "--steps", "none", "--json"], operator(served.endpoint));
    expect(findings.filter(({ result }) => result !== "ok")).toEqual([]);
    expect([code, findings.length]).toEqual([0, 6 + 6 + 4 + 5]);
  });

  it("exits with 1 and prints the fix of a problem", async () => {
    account.spotRole = false;
    const { code, out } = await doctor(["--account", "--steps", "none"], operator(served.endpoint));
    expect(out).toContain(
      "problem  service-linked role AWSServiceRoleForEC2Spot: it does not exist: no spot instance can start\n         fix: aws iam create-service-linked-role",
    );
    expect([code, out.split("\n").at(-2)]).toEqual([1, "1 of 21 checks failed"]);
  });

  it("only warns of a missing quota for GPUs if none are used", async () => {
    account.quotas["L-3819A6DF"] = 0;
    expect(await defectsOf(false)).toEqual([expect.objectContaining({ result: "warning" })]);
  });

  const spotGpu = "quota L-3819A6DF (All G and VT Spot Instance Requests)";
  const topic = "arn:aws:sns:eu-central-1:111122223333:ringmaster-alarms";
  const role = "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com";
  const defects: readonly (readonly [
    name: string,
    plant: (account: FakeAccount) => void,
    ...finding: [check: string, result: Finding["result"], found: RegExp, fix: string],
  ])[] = [
    [
      "no vCPUs of GPU instances, as in a new account",
      ({ quotas }) => delete quotas["L-3819A6DF"],
      ...([
        spotGpu,
        "problem",
        /^0 vCPUs: no instance can start/,
        "--quota-code L-3819A6DF --desired-value 192",
      ] as const),
    ],
    [
      "fewer vCPUs than the compute environment may request",
      ({ quotas }) => void Object.assign(quotas, { "L-1216C47A": 32 }),
      "quota L-1216C47A (Running On-Demand Standard instances)",
      ...(["warning", /^32 vCPUs, .* may request 256: jobs above the quota wait$/, "--desired-value 256"] as const),
    ],
    [
      "ten concurrent functions",
      ({ quotas }) => void Object.assign(quotas, { "L-B99A9384": 10 }),
      ...([
        "quota L-B99A9384 (Lambda concurrent executions)",
        "warning",
        /^10: /,
        "functions.accountConcurrency",
      ] as const),
    ],
    [
      "a queue that was not deployed",
      ({ queues }) => void queues.splice(0, 1),
      ...(["queue ringmaster-spot", "problem", /^it does not exist in this account/, "npx cdk deploy --all"] as const),
    ],
    [
      "a disabled queue",
      ({ queues }) => void Object.assign(queues[1]!, { state: "DISABLED" }),
      ...(["queue ringmaster-spot-gpu", "problem", /^it is DISABLED: no job starts$/, "--state ENABLED"] as const),
    ],
    [
      "an invalid compute environment",
      ({ environments }) =>
        void Object.assign(environments[0]!, { status: "INVALID", statusReason: "CLIENT_ERROR - subnet not found" }),
      "compute environment spot (spot, c6i)",
      ...([
        "problem",
        /^INVALID: CLIENT_ERROR - subnet not found$/,
        "--compute-environment spot --state ENABLED",
      ] as const),
    ],
    [
      "no IPv6 in a public network",
      (one) => void Object.assign(one, { dualStackIPv6: "disabled" }),
      ...([
        "ECS account setting dualStackIPv6",
        "problem",
        /^disabled: /,
        "--name dualStackIPv6 --value enabled",
      ] as const),
    ],
    [
      "no role for spot instances",
      (one) => void Object.assign(one, { spotRole: false }),
      ...(["service-linked role AWSServiceRoleForEC2Spot", "problem", /no spot instance can start$/, role] as const),
    ],
    [
      "a subscription that was not confirmed",
      (one) => void Object.assign(one, { subscriptions: [{ endpoint: "ops@example.com", confirmed: false }] }),
      ...([
        "alarm subscription",
        "problem",
        /^ops@example.com has not confirmed/,
        "Follow the link in the e-mail",
      ] as const),
    ],
    [
      "a topic without a subscription",
      (one) => void Object.assign(one, { subscriptions: [] }),
      ...(["alarm subscription", "problem", /^the topic has no subscription/, "alarms.email"] as const),
    ],
    [
      "no topic of alarms",
      (one) => void Object.assign(one, { subscriptions: undefined }),
      ...(["alarm subscription", "problem", new RegExp(`^there is no topic ${topic}$`), "observability"] as const),
    ],
    [
      "an inactive cost allocation tag",
      (one) => void Object.assign(one, { costTag: "Inactive" }),
      ...(["cost allocation tag ringmaster", "warning", /^Inactive: /, "TagKey=ringmaster,Status=Active"] as const),
    ],
    [
      "a caller who may not read account settings",
      (one) => void Object.assign(one, { denied: ["ListAccountSettings"] }),
      "ECS account setting dualStackIPv6",
      ...(["unchecked", /^AWS refused ListAccountSettings: AccessDenied/, "ReadOnlyAccess"] as const),
    ],
  ];
  it.each(defects)("names %s and its fix, and nothing else", async (_name, plant, check, result, found, fix) => {
    plant(account);
    const expected = { check, result, found: expect.stringMatching(found), fix: expect.stringContaining(fix) };
    expect(await defectsOf()).toEqual([expected]);
  });

  it("needs no IPv6 in a private network", async () => {
    Object.assign(account, { publicNetwork: false, dualStackIPv6: "disabled" });
    expect(await defectsOf()).toEqual([]);
  });

  it("does not start the GPU step without a quota for it", async () => {
    account.quotas["L-3819A6DF"] = 0;
    const { code, findings } = await doctor(["--account", "--steps", "gpu", "--json"], operator(served.endpoint));
    expect([code, findings.at(-1)]).toEqual([
      1,
      {
        check: "one GPU step",
        result: "unchecked",
        found: "not started, because the quota above gives no GPU",
        fix: expect.stringContaining("--steps gpu"),
      },
    ]);
  });

  it("requires credentials", async () => {
    const { code, error } = await doctor(["--account", "--steps", "none", "--json"], {
      ...operator(served.endpoint),
      AWS_ACCESS_KEY_ID: undefined,
      AWS_SECRET_ACCESS_KEY: undefined,
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_CONFIG_FILE: "/nonexistent",
      AWS_SHARED_CREDENTIALS_FILE: "/nonexistent",
    });
    expect([code, error]).toEqual([2, { code: "NO_CREDENTIALS", details: undefined, message: expect.any(String) }]);
  });

  it.each([
    [["--steps", "tpu"], "INVALID_INPUT"],
    [["--wait", "soon"], "INVALID_INPUT"],
  ])("refuses %j with exit code 2", async (args, expected) => {
    const { code, error } = await doctor([...args, "--json"]);
    expect([code, error?.code]).toEqual([2, expected]);
  });
});

describe("ringmaster doctor on one machine", () => {
  const stack = TestStack.of("doctor");
  beforeAll(() => stack.up());
  afterAll(() => stack.remove());

  it("trains one step on a CPU, and checks no account", async () => {
    const { code, stdout } = await stack.run("doctor");
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^ok {7}one CPU step: run-\S+ took [^\n]+\n\nno problems\n$/),
    ]);
  });

  it("cancels a step for which no machine starts", async () => {
    const { findings } = await stack.json<Result>(["doctor", "--steps", "gpu", "--wait", "0"], [1]);
    expect(findings).toEqual([
      {
        check: "one GPU step",
        result: "problem",
        found: expect.stringMatching(/^run-\S+ was not done after .* and was cancelled$/),
        fix: expect.any(String),
      },
    ]);
    const [, runId = ""] = /^(run-\S+)/.exec(findings[0]!.found) ?? [];
    const { run } = await stack.json<{ run: { status: string } }>(["runs", "show", runId]);
    expect(run.status).toBe("killed");
  });
});
