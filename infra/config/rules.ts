import { gpuFamilies } from "../../core/metering/prices";
import { maxSessionPolicy, sessionPolicy } from "../../platform/permissions";
import type { ConfigProblem } from "./error";
import type { DeploymentConfig } from "./schema";

/** Maximum length of teams and origins in a function's environment, which AWS Lambda limits to 4 KiB. */
const teamsLimit = 2_048;

type Rule = (config: DeploymentConfig) => Iterable<ConfigProblem>;

const problem = (path: string, value: unknown, rule: string): ConfigProblem => ({
  path,
  text: `${path} is ${JSON.stringify(value)}, but ${rule}.`,
});

function* repeated(values: Iterable<readonly [path: string, value: string]>, rule: (first: string) => string) {
  const seen = new Map<string, string>();
  for (const [path, value] of values) {
    const first = seen.get(value);
    if (first !== undefined) yield problem(path, value, rule(first));
    else seen.set(value, path);
  }
}

const teamNames: Rule = ({ teams }) =>
  repeated(
    teams.map(({ name }, i) => [`teams[${i}].name`, name]),
    (first) => `${first} has that name already: a team is listed once`,
  );

/** Checks that a team names each caller only once. A caller may be in several teams. */
const teamCallers: Rule = function* ({ teams }) {
  for (const [i, team] of teams.entries()) {
    for (const kind of ["principals", "groups"] as const) {
      yield* repeated(
        team[kind].map((value, j) => [`teams[${i}].${kind}[${j}]`, value] as const),
        (first) => `${first} is the same`,
      );
    }
  }
};

/** Checks that the teams' callers can occur: with IAM callers are principals, and with tokens they are groups. */
const callersCount: Rule = function* ({ teams, api }) {
  const iam = api.auth.mode === "iam";
  const kind = iam ? "groups" : "principals";
  const instead = iam
    ? "whose callers are in no groups: name principals, or choose cognito or oidc"
    : "whose callers are known by the groups in their tokens: name groups";
  for (const [i, team] of teams.entries()) {
    if (team[kind].length > 0)
      yield problem(`teams[${i}].${kind}`, team[kind], `api.auth.mode is "${api.auth.mode}", ${instead}`);
  }
};

const sharesAgree: Rule = function* ({ teams }) {
  const weights = new Map<string, { readonly path: string; readonly weight: number }>();
  for (const [i, { name, share = name, weight }] of teams.entries()) {
    const first = weights.get(share);
    if (first && first.weight !== weight) {
      yield problem(
        `teams[${i}].weight`,
        weight,
        `${first.path} is ${first.weight}, and both draw from the share "${share}", which has one weight`,
      );
    }
    if (!first) weights.set(share, { path: `teams[${i}].weight`, weight });
  }
};

/** Checks the length of the environment variables in `infra/names.ts`: members of teams, different shares, origins. */
const teamsFit: Rule = function* ({ teams, api }) {
  const shares = teams.filter(
    ({ share, priority, limits }) => share !== undefined || priority > 0 || limits !== undefined,
  );
  const size = Buffer.byteLength(
    JSON.stringify(teams.map(({ name, principals, groups }) => ({ name, principals, groups }))) +
      JSON.stringify(
        Object.fromEntries(shares.map(({ name, share, priority, limits }) => [name, { share, priority, limits }])),
      ) +
      api.corsOrigins.join(","),
  );
  if (size > teamsLimit) {
    yield {
      path: "teams",
      text: `teams take ${size} bytes as names, principals, groups, shares and priorities, together with api.corsOrigins, but must take at most ${teamsLimit}: functions get them in their environment, which AWS Lambda limits to 4 KiB. Name roles by patterns ("…:role/vision-*") or use groups.`,
    };
  }
};

/** The trainers' session policy must have room for the bucket's key; its length depends on platform and teams. */
const bucketKeyFits: Rule = function* ({ prefix, region, account, teams, encryption: { bucketKeyArn } }) {
  if (bucketKeyArn === undefined) return;
  const path = "encryption.bucketKeyArn";
  const [, partition = "", , keyRegion = "", keyAccount = ""] = bucketKeyArn.split(":");
  if (region !== undefined && region !== keyRegion)
    yield problem(path, bucketKeyArn, `must be a key in the region of the deployment, ${region}`);
  const team = teams.map(({ name }) => name).reduce((a, b) => (b.length > a.length ? b : a));
  const names = { partition, region: keyRegion, account: account ?? keyAccount, prefix, bucketKeyArn };
  const policy = sessionPolicy(
    { team, runId: `run-${"f".repeat(16)}`, segment: 10 },
    { ...names, bucket: `${prefix}-data-${names.account}-${keyRegion}` },
  );
  const { length } = JSON.stringify(policy);
  if (length > maxSessionPolicy) {
    const rule = `the policy of a trainer's session then has ${length} characters, of which STS accepts ${maxSessionPolicy}: shorten prefix (now "${prefix}") or the longest team's name ("${team}")`;
    yield problem(path, bucketKeyArn, rule);
  }
};

/** Matches the families with an Arm processor: `c7g`, `m6gd`, `g5g`, `t4g`, and the first one, `a1`. */
const arm = /^(a1|[a-z]+\d+g[a-z0-9-]*)$/;
/** Matches the families with accelerators of any kind. */
const accelerated = /^(g|gr|p|trn|inf|dl|f|vt)\d/;
/** Generation and maker: `6i` for `c6i`, `m6id` and `r6idn`. The rest does not affect how it computes. */
const processorOf = (family: string) => /^[a-z]+(\d+[aig]?)/.exec(family)?.[1];

const cpuFamilies: Rule = function* ({ compute }) {
  const { instanceClasses } = compute.cpu;
  for (const [i, family] of instanceClasses.entries()) {
    const path = `compute.cpu.instanceClasses[${i}]`;
    if (accelerated.test(family))
      yield problem(path, family, "must be a family without accelerators: use compute.gpu for those");
    else if (arm.test(family))
      yield problem(path, family, "must be a family of x86-64 processors: the trainer's image is built for those");
    else if (processorOf(family) !== processorOf(instanceClasses[0]!)) {
      yield problem(
        path,
        family,
        `must have the processor of ${JSON.stringify(instanceClasses[0])}: a run's workers land on any of these families, and are bit-identical on one model of processor only`,
      );
    }
  }
};

const gpuFamilyNames: Rule = function* ({ compute }) {
  for (const [i, family] of compute.gpu.instanceClasses.entries()) {
    const path = `compute.gpu.instanceClasses[${i}]`;
    if (arm.test(family))
      yield problem(path, family, "must be a family of x86-64 processors: the trainer's image is built for those");
    else if (!gpuFamilies.includes(family)) {
      const rule = `must be a family with NVIDIA GPUs that TensorFlow and the Amazon Linux 2023 image support: ${gpuFamilies.join(", ")}`;
      yield problem(path, family, rule);
    }
  }
};

const partition: Rule = function* ({ region }) {
  if (region !== undefined && /^(cn|us-gov|us-iso[a-z]?|eu-isoe|eusc)-/.test(region))
    yield problem(
      "region",
      region,
      "must be a commercial region: state machines call services by ARNs of that partition",
    );
};

const zones: Rule = function* ({ network, region }) {
  if (network.mode === "existing") return;
  const { zones, zoneNames } = network;
  if (region === "us-west-1" && zones > 2) {
    yield problem("network.zones", zones, "us-west-1 offers an account 2 availability zones");
  }
  if (zoneNames.length > 0 && zoneNames.length !== zones)
    yield problem("network.zoneNames", zoneNames, `network.zones is ${zones}: so many are to be named, or none`);
  yield* repeated(
    zoneNames.map((name, i) => [`network.zoneNames[${i}]`, name] as const),
    (first) => `${first} is the same`,
  );
  for (const [i, name] of zoneNames.entries()) {
    if (region !== undefined && name.slice(0, -1) !== region)
      yield problem(`network.zoneNames[${i}]`, name, `must be a zone of the deployment's region, ${region}`);
  }
};

const subnets: Rule = ({ network }) =>
  repeated(
    network.mode === "existing" ? network.subnetIds.map((id, i) => [`network.subnetIds[${i}]`, id] as const) : [],
    (first) => `${first} is the same subnet`,
  );

const domain: Rule = function* ({ api, region }) {
  if (!api.domain) return;
  const { name, certificateArn, hostedZone } = api.domain;
  const certificateRegion = certificateArn.split(":")[3];
  if (region !== undefined && certificateRegion !== region) {
    yield problem(
      "api.domain.certificateArn",
      certificateArn,
      `must be of the deployment's region, ${region}: the API is a regional one`,
    );
  }
  if (hostedZone && name !== hostedZone.name && !name.endsWith(`.${hostedZone.name}`)) {
    yield problem("api.domain.name", name, `must lie in the hosted zone ${hostedZone.name}`);
  }
};

const rules: readonly Rule[] = [
  teamNames,
  teamCallers,
  callersCount,
  sharesAgree,
  teamsFit,
  bucketKeyFits,
  cpuFamilies,
  gpuFamilyNames,
  partition,
  zones,
  subnets,
  domain,
];

export function problemsBetween(config: DeploymentConfig): readonly ConfigProblem[] {
  return rules.flatMap((rule) => [...rule(config)]);
}
