import type { Operation, OperationKind } from "./reference";

/** Versions 1 to `versions`, which passed; all but the last were approved, and promoted one after another. */
export function preparedOperations(versions: number, name: string): readonly Operation[] {
  const numbers = Array.from({ length: versions }, (_, at) => at + 1);
  const each = (kind: OperationKind, upTo: number): readonly Operation[] =>
    numbers.slice(0, upTo).map((version) => ({
      id: `${name}-${kind}-${version}`,
      by: "prepare",
      kind,
      version: kind === "register" ? 0 : version,
    }));
  return [
    ...each("register", versions),
    ...each("pass", versions),
    ...each("approve", versions - 1),
    ...each("promote", versions - 1),
  ];
}

const weights: Readonly<Record<OperationKind, number>> = {
  register: 1,
  pass: 3,
  fail: 2,
  approve: 4,
  reject: 2,
  promote: 8,
  "roll-back": 5,
};
const kinds = (Object.keys(weights) as OperationKind[]).flatMap((kind) =>
  Array<OperationKind>(weights[kind]).fill(kind),
);

/** Mostly promotions, rollbacks and approvals; one person in ten asks for a version that is not there. */
export function drawOperations(
  random: () => number,
  count: number,
  versions: number,
  name: string,
): readonly Operation[] {
  return Array.from({ length: count }, (_, at) => {
    const kind = kinds[Math.floor(random() * kinds.length)]!;
    const free = kind === "register" || kind === "roll-back";
    const version = free ? 0 : 1 + Math.floor(random() * (versions + (random() < 0.1 ? 2 : 0)));
    return { id: `${name}-${at}-${kind}`, by: `person ${at % 7}`, kind, version };
  });
}
