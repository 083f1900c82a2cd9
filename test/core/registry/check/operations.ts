import { type Operation, type OperationKind, operationKinds, policies } from "./operation";

/** Versions 1 to `versions`, of which all but the last were judged, approved and promoted one after another; the last passed. */
export function preparedOperations(versions: number, name: string): readonly Operation[] {
  const operation = (kind: OperationKind, version: number): Operation => ({
    id: `${name}-${kind}-${version}`,
    by: "prepare",
    kind,
    version: kind === "register" ? 0 : version,
  });
  const numbers = Array.from({ length: versions }, (_, at) => at + 1);
  return [
    ...numbers.map((version) => operation("register", version)),
    ...numbers
      .slice(0, -1)
      .flatMap((version) => (["pass", "approve", "promote"] as const).map((kind) => operation(kind, version))),
    operation("pass", versions),
  ];
}

/** A version that has passed becomes a canary under test, and a person approves it. */
export function testedOperations(version: number, name: string): readonly Operation[] {
  const operation = (kind: OperationKind, value?: string): Operation => ({
    id: `${name}-${kind}-${version}`,
    by: "prepare",
    kind,
    version,
    ...(value === undefined ? {} : { value }),
  });
  return [operation("stage", "canary"), operation("traffic", "tested"), operation("approve")];
}

const weights: Readonly<Record<OperationKind, number>> = {
  register: 2,
  pass: 9,
  fail: 2,
  approve: 10,
  reject: 1,
  promote: 12,
  "roll-back": 6,
  stage: 4,
  alias: 2,
  unalias: 1,
  tag: 1,
  untag: 1,
  semver: 2,
  delete: 1,
  restore: 2,
  "delete-model": 1,
  "restore-model": 1,
  create: 1,
  policy: 2,
  traffic: 4,
  "no-traffic": 1,
};
const kinds = operationKinds.flatMap((kind) => Array<OperationKind>(weights[kind]).fill(kind));

const values: Readonly<Partial<Record<OperationKind, readonly string[]>>> = {
  stage: ["none", "staging", "canary", "canary", "archived"],
  alias: ["blue", "green", "champion"],
  unalias: ["blue", "green", "champion"],
  tag: ["x", "y"],
  semver: ["1.0.0", "1.1.0", "2.0.0"],
  policy: Object.keys(policies),
  traffic: ["tested", "tested", "plain"],
};
const ofTheModel = new Set<OperationKind>([
  "register",
  "roll-back",
  "unalias",
  "delete-model",
  "restore-model",
  "create",
  "policy",
  "no-traffic",
]);

/** Mostly verdicts, approvals, promotions and rollbacks; one person in ten asks for a version that is not there. */
export function drawOperations(
  random: () => number,
  count: number,
  versions: number,
  name: string,
): readonly Operation[] {
  return Array.from({ length: count }, (_, at) => {
    const kind = kinds[Math.floor(random() * kinds.length)]!;
    const version = ofTheModel.has(kind) ? 0 : 1 + Math.floor(random() * (versions + (random() < 0.1 ? 2 : 0)));
    const choices = values[kind];
    const value = choices && { value: choices[Math.floor(random() * choices.length)]! };
    return { id: `${name}-${at}-${kind}`, by: `person ${at % 7}`, kind, version, ...value };
  });
}
