import { App } from "aws-cdk-lib";
import { InstanceClass } from "aws-cdk-lib/aws-ec2";
import { gpuFamilies } from "../../core/metering/prices";
import { ConfigError, type RingmasterConfig, readConfig } from "../../infra/config";

const read = (settings: unknown, context: Readonly<Record<string, unknown>> = {}) =>
  readConfig(settings as RingmasterConfig, new App({ context }).node);

function problemsOf(settings: unknown, context?: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    read(settings, context);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const { text } of error.problems) expect(error.message).toContain(text);
    return error.problems.map(({ text }) => text);
  }
  return [];
}

describe("without settings", () => {
  const config = read({});

  it("everything has a default", () => {
    expect(config).toMatchObject({
      prefix: "ringmaster",
      network: { mode: "public", zones: 3 },
      compute: { cpu: { maxVcpus: 256 }, gpu: { instanceClasses: ["g5"] }, diskGib: 200 },
      teams: [{ name: "default", weight: 1, principals: [] }],
      retention: { logDays: 90, noncurrentVersionDays: 7 },
      removal: "retain",
      api: { auth: { mode: "iam" }, waf: false, throttling: { ratePerSecond: 200, burst: 400 } },
      tags: {},
    });
  });

  it("instance families exist", () => {
    const known: readonly string[] = Object.values(InstanceClass);
    const { cpu, gpu } = config.compute;
    for (const family of [...cpu.instanceClasses, ...gpu.instanceClasses, ...gpuFamilies])
      expect(known).toContain(family);
  });
});

it("lets a caller be in two teams", () => {
  const principals = ["arn:aws:iam::111122223333:role/both"];
  expect(
    problemsOf({
      teams: [
        { name: "a", principals },
        { name: "b", principals },
      ],
    }),
  ).toEqual([]);
});

it("adds the team default unless it is named", () => {
  expect(read({ teams: [{ name: "vision" }] }).teams.map(({ name }) => name)).toEqual(["vision", "default"]);
  expect(read({ teams: [{ name: "default", weight: 3 }] }).teams).toMatchObject([{ name: "default", weight: 3 }]);
});

it.each([
  ["iam", { mode: "iam" }, undefined, false],
  ["tokens", { mode: "oidc", issuer: "https://id.example.com", audience: "ringmaster" }, undefined, true],
  ["tokens, but is set not to", { mode: "cognito" }, false, false],
  ["iam, but is set to", { mode: "iam" }, true, true],
])("puts a web ACL before an API that admits by %s: %#", (_name, auth, waf, expected) => {
  expect(read({ api: { auth, waf } }).api.waf).toBe(expected);
});

describe("the context", () => {
  it.each<[string, Readonly<Record<string, unknown>>, object]>([
    ["text", { prefix: "team-a" }, { prefix: "team-a" }],
    ["a number", { "compute.gpu.maxVcpus": "96" }, { compute: { gpu: { maxVcpus: 96 }, cpu: { maxVcpus: 256 } } }],
    ["digits that are text", { account: "012345678901" }, { account: "012345678901" }],
    [
      "a list",
      { "compute.cpu.instanceClasses": "c7i, m7i" },
      { compute: { cpu: { instanceClasses: ["c7i", "m7i"] } } },
    ],
    ["JSON", { teams: '[{"name":"vision"}]' }, { teams: [{ name: "vision" }, { name: "default" }] }],
    ["a flag", { "api.waf": "true" }, { api: { waf: true } }],
    [
      "one of a choice's settings",
      { "network.mode": "private", "network.zones": "2" },
      { network: { mode: "private", zones: 2 } },
    ],
    ["a short name for two", { maxVcpus: "64" }, { compute: { cpu: { maxVcpus: 64 }, gpu: { maxVcpus: 64 } } }],
    ["CDK's own", { "@aws-cdk/core:foo": true, "aws:cdk:bar": 1 }, { prefix: "mine" }],
  ])("overrides by %s", (_name, context, expected) => {
    expect(read({ prefix: "mine" }, context)).toMatchObject(expected);
  });

  it("keeps the other settings of a section from the file", () => {
    const { gpu } = read({ compute: { gpu: { instanceClasses: ["g6"] } } }, { "compute.gpu.maxVcpus": "8" }).compute;
    expect(gpu).toEqual({ instanceClasses: ["g6"], maxVcpus: 8 });
  });

  it("is named as the source of a wrong value", () => {
    expect(problemsOf({}, { "retention.logDays": "31" })).toEqual([
      expect.stringMatching(
        /^retention\.logDays is 31, but must be a time that CloudWatch Logs knows.*\(From the context: -c retention\.logDays=…\.\)$/,
      ),
    ]);
  });
});

describe("refuses", () => {
  const team = (more: object) => ({ teams: [{ name: "a", ...more }] });
  const keyArn = "arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  const role = (name: string) => `arn:aws:iam::111122223333:role/${name}`;

  it.each<[string, unknown, RegExp]>([
    ["a prefix that no bucket could have", { prefix: "Team A" }, /^prefix is "Team A", but must be 2 to 24 lowercase/],
    [
      "no vCPUs",
      { compute: { gpu: { maxVcpus: 0 } } },
      /^compute\.gpu\.maxVcpus is 0, but must be the most vCPUs at once: a whole number from 1/,
    ],
    ["half a vCPU", { compute: { cpu: { maxVcpus: 1.5 } } }, /^compute\.cpu\.maxVcpus is 1\.5, but/],
    ["NaN", { budget: { monthlyUsd: Number.NaN } }, /^budget\.monthlyUsd is NaN, but must be US dollars/],
    ["a misspelt setting", { tems: [] }, /^tems is not a setting; infra\/config\/schema\.ts lists/],
    ["a misspelt setting of a team", team({ wieght: 2 }), /^teams\[0\]\.wieght is not a setting/],
    ["a team without a name", { teams: [{}] }, /^teams\[0\]\.name is missing: it must be 1–32 lower-case/],
    [
      "a team twice",
      { teams: [{ name: "a" }, { name: "a" }] },
      /^teams\[1\]\.name is "a", but teams\[0\]\.name has that name/,
    ],
    [
      "one principal twice",
      team({ principals: [role("x"), role("x")] }),
      /^teams\[0\]\.principals\[1\] is "arn.*, but teams\[0\]\.principals\[0\] is the same/,
    ],
    [
      "principals where callers show tokens",
      { ...team({ principals: [role("x")] }), api: { auth: { mode: "cognito" } } },
      /^teams\[0\]\.principals is \["arn.*, but api\.auth\.mode is "cognito", whose callers are known by the groups/,
    ],
    [
      "a principal that is everyone",
      team({ principals: ["*"] }),
      /^teams\[0\]\.principals\[0\] is "\*", but must be the ARN/,
    ],
    [
      "groups where callers sign with IAM",
      team({ groups: ["g"] }),
      /^teams\[0\]\.groups is \["g"\], but api\.auth\.mode is "iam"/,
    ],
    [
      "two weights of one share",
      {
        teams: [
          { name: "a", weight: 2 },
          { name: "b", share: "a" },
        ],
      },
      /^teams\[1\]\.weight is 1, but teams\[0\]\.weight is 2, and both draw from the share "a"/,
    ],
    [
      "more principals than an environment holds",
      team({ principals: Array.from({ length: 60 }, (_, i) => role(`r${i}`)) }),
      /^teams take \d+ bytes .* at most 2048/,
    ],
    [
      "more shares than fit in an environment with the teams",
      { teams: Array.from({ length: 25 }, (_, i) => ({ name: `a-team-with-number-${i}`, priority: 100 })) },
      /^teams take \d+ bytes .* at most 2048/,
    ],
    [
      "Arm",
      { compute: { cpu: { instanceClasses: ["c7g"] } } },
      /^compute\.cpu\.instanceClasses\[0\] is "c7g", but must be a family of x86-64/,
    ],
    [
      "GPUs among processors",
      { compute: { cpu: { instanceClasses: ["c6i", "g5"] } } },
      /\[1\] is "g5", but must be a family without accelerators/,
    ],
    [
      "processors that compute differently",
      { compute: { cpu: { instanceClasses: ["c6i", "m7i"] } } },
      /\[1\] is "m7i", but must have the processor of "c6i"/,
    ],
    [
      "no instance family",
      { compute: { cpu: { instanceClasses: [] } } },
      /^compute\.cpu\.instanceClasses is \[\], but must name at least one/,
    ],
    [
      "GPUs that the image has no driver for",
      { compute: { gpu: { instanceClasses: ["p3"] } } },
      /^compute\.gpu\.instanceClasses\[0\] is "p3", but must be a family with NVIDIA GPUs/,
    ],
    ["GPUs of another maker", { compute: { gpu: { instanceClasses: ["g4ad"] } } }, /NVIDIA/],
    [
      "a network that there is not",
      { network: { mode: "secret" } },
      /^network\.mode is "secret", but must be one of: public, private, existing/,
    ],
    [
      "a VPC without subnets",
      { network: { mode: "existing", vpcId: "vpc-0123456789abcdef0", subnetIds: [] } },
      /^network\.subnetIds is \[\], but must name at least one subnet/,
    ],
    ["another partition", { region: "us-gov-west-1" }, /^region is "us-gov-west-1", but must be a commercial region/],
    ["three zones where there are two", { region: "us-west-1" }, /^network\.zones is 3, but us-west-1 offers/],
    [
      "fewer names of zones than zones",
      { network: { mode: "public", zoneNames: ["eu-central-1a"] } },
      /^network\.zoneNames is \["eu-central-1a"\], but network\.zones is 3/,
    ],
    [
      "a zone of another region",
      { region: "eu-central-1", network: { mode: "public", zones: 1, zoneNames: ["eu-west-1a"] } },
      /^network\.zoneNames\[0\] is "eu-west-1a", but must be a zone of .* eu-central-1/,
    ],
    [
      "a zone twice",
      { network: { mode: "private", zones: 2, zoneNames: ["eu-west-1a", "eu-west-1a"] } },
      /^network\.zoneNames\[1\] is "eu-west-1a", but network\.zoneNames\[0\] is the same/,
    ],
    [
      "a certificate of another region",
      {
        region: "eu-west-1",
        api: { domain: { name: "a.example.com", certificateArn: "arn:aws:acm:us-east-1:111122223333:certificate/x" } },
      },
      /^api\.domain\.certificateArn is "arn.*, but must be of the deployment's region, eu-west-1/,
    ],
    [
      "a domain outside of its zone",
      {
        api: {
          domain: {
            name: "a.example.org",
            certificateArn: "arn:aws:acm:us-east-1:111122223333:certificate/x",
            hostedZone: { id: "Z0123456789", name: "example.com" },
          },
        },
      },
      /^api\.domain\.name is "a\.example\.org", but must lie in the hosted zone example\.com/,
    ],
    [
      "an issuer without TLS",
      { api: { auth: { mode: "oidc", issuer: "http://id.example.com", audience: "x" } } },
      /^api\.auth\.issuer is "http:.*, but must be an https/,
    ],
    ["what is no e-mail address", { alarms: { email: "me" } }, /^alarms\.email is "me", but must be an e-mail address/],
    [
      "an account as a number",
      { account: 111122223333 },
      /^account is 111122223333, but must be the 12 digits of an AWS account, as text/,
    ],
    ["a tag of AWS's own", { tags: { "aws:x": "y" } }, /^tags\.aws:x has the key "aws:x", which must be/],
    [
      "an image without a tag",
      { trainerImage: "registry.example.com/trainer" },
      /^trainerImage is ".*", but must be an image/,
    ],
    [
      "a key by its alias",
      { encryption: { bucketKeyArn: keyArn.replace(/key.*/, "alias/data") } },
      /^encryption\.bucketKeyArn is ".*alias\/data", but must be the ARN of a symmetric KMS key .*, not of an alias\.$/,
    ],
    [
      "a key of another region",
      { region: "eu-central-1", encryption: { bucketKeyArn: keyArn } },
      /^encryption\.bucketKeyArn is ".*", but must be a key in the region of the deployment, eu-central-1\.$/,
    ],
    [
      "names with which the session policy has no room for the key",
      {
        prefix: "p".repeat(24),
        teams: [{ name: "t".repeat(32) }],
        encryption: { bucketKeyArn: `arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/mrk-${"0".repeat(32)}` },
      },
      /the policy of a trainer's session then has \d{4} characters, of which STS accepts 2048/,
    ],
    [
      "a policy by its name",
      { permissionsBoundary: "boundary" },
      /^permissionsBoundary is "boundary", but must be the ARN of an IAM policy/,
    ],
    ["what is no object", [], /^the configuration is \[\], but must be an object/],
  ])("%s", (_name, settings, expected) => {
    const problems = problemsOf(settings);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
  });

  it("all problems at once, rules between settings included", () => {
    const problems = problemsOf({
      prefix: "X",
      retention: { logDays: 2 },
      teams: [{ name: "a" }, { name: "a" }],
      compute: { gpu: { instanceClasses: ["g3"] } },
    });
    expect(problems.map((text) => text.split(" ")[0])).toEqual([
      "prefix",
      "retention.logDays",
      "teams[1].name",
      "compute.gpu.instanceClasses[0]",
    ]);
  });
});
