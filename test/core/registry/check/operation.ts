export const operationKinds = [
  "register",
  "pass",
  "fail",
  "approve",
  "reject",
  "promote",
  "roll-back",
  "stage",
  "alias",
  "unalias",
  "tag",
  "untag",
  "semver",
  "delete",
  "restore",
  "delete-model",
  "restore-model",
  "create",
  "policy",
  "traffic",
  "no-traffic",
] as const;
export type OperationKind = (typeof operationKinds)[number];

export interface Operation {
  /** Also the reason that history keeps, by which an entry is known. */
  readonly id: string;
  readonly by: string;
  readonly kind: OperationKind;
  /** The version that is meant; 0 where it is the model. */
  readonly version: number;
  /** Stage, alias, tag's value, semver, which of `policies`, or whether a canary that gets a part is tested. */
  readonly value?: string;
}

/** The subject of a verdict. The history's reason has it, because nothing else shows what its judge saw. */
export interface About {
  /** 0: none. */
  readonly champion: number;
  readonly rules: number;
}

export const reasonOf = (id: string, { champion, rules }: About): string => `${id}|${champion}/${rules}`;

export function readReason(reason: string): { readonly id: string; readonly about?: About } {
  // The registry adds to a promotion's reason that the policy approved it.
  const [given = ""] = reason.split("; approved by the policy");
  const [id = "", about] = given.split("|");
  if (about === undefined) return { id };
  const [champion, rules] = about.split("/").map(Number);
  return { id, about: { champion: champion!, rules: rules! } };
}

/** A policy that operations set; thresholds tell two rules apart. */
export interface Policy {
  readonly threshold: number;
  readonly required: number;
  readonly approvers: readonly string[];
  readonly notTheSubmitter: boolean;
}

export const policies: Readonly<Record<string, Policy>> = {
  one: { threshold: 0.5, required: 1, approvers: [], notTheSubmitter: false },
  none: { threshold: 0.5, required: 0, approvers: [], notTheSubmitter: false },
  two: { threshold: 0.5, required: 2, approvers: [], notTheSubmitter: true },
  named: { threshold: 0.6, required: 2, approvers: ["person 0", "person 1", "person 2"], notTheSubmitter: false },
  other: { threshold: 0.6, required: 1, approvers: ["person 3", "person 4"], notTheSubmitter: true },
};
