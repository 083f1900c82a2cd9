/**
 * What the registry should do, said a second time and otherwise: one operation after another upon a small state. It shares no code with
 * `core/registry`.
 */
export type OperationKind = "register" | "pass" | "fail" | "approve" | "reject" | "promote" | "roll-back";

export interface Operation {
  /** Also the reason that history keeps, by which an entry is known. */
  readonly id: string;
  readonly by: string;
  readonly kind: OperationKind;
  /** The version that is meant; of a registration and a rollback 0. */
  readonly version: number;
}

export interface ReferenceVersion {
  readonly stage: "none" | "staging" | "production" | "archived";
  readonly passed?: boolean;
  readonly decision?: "approved" | "rejected";
}

export interface ReferenceState {
  readonly production?: number;
  /** Former champions, the latest last. */
  readonly former: readonly number[];
  /** By number, from 1. */
  readonly versions: readonly ReferenceVersion[];
}

export type Outcome =
  | { readonly kind: "changed"; readonly state: ReferenceState; readonly version: number }
  | { readonly kind: "nothing" }
  | { readonly kind: "refused"; readonly code: string };

export const emptyState: ReferenceState = { former: [], versions: [] };

export function step(state: ReferenceState, { kind, version }: Operation): Outcome {
  const { production, former } = state;
  if (kind === "register") return changed(state, state.versions.length + 1, { stage: "none" });
  if (kind === "roll-back") {
    const target = former.at(-1);
    if (target === undefined) return refused("NOTHING_TO_ROLL_BACK");
    const champion = { stage: "production", passed: true, decision: "approved" } as const;
    return changed(
      dethroned({ ...state, production: target, former: former.slice(0, -1) }, production),
      target,
      champion,
    );
  }
  const found = state.versions[version - 1];
  if (found === undefined) return refused("MODEL_VERSION_NOT_FOUND");
  const champion = production === version;
  switch (kind) {
    case "pass":
    case "fail": {
      const passed = kind === "pass";
      if (champion) return changed(state, version, { ...found, passed });
      return changed(state, version, { stage: passed ? "staging" : "none", passed });
    }
    case "approve":
    case "reject": {
      const decision = kind === "approve" ? "approved" : "rejected";
      if (found.decision === decision) return { kind: "nothing" };
      if (found.decision !== undefined) return refused("ALREADY_DECIDED");
      if (!found.passed) return refused("GATE_NOT_PASSED");
      if (decision === "approved") return changed(state, version, { ...found, decision });
      const without = { ...state, former: former.filter((each) => each !== version) };
      return changed(without, version, { ...found, decision, stage: "archived" });
    }
    case "promote": {
      if (champion) return { kind: "nothing" };
      if (!found.passed) return refused("GATE_NOT_PASSED");
      if (found.decision !== "approved") return refused("NOT_APPROVED");
      const others = former.filter((each) => each !== version);
      const next = {
        ...state,
        production: version,
        former: production === undefined ? others : [...others, production],
      };
      return changed(dethroned(next, production), version, { ...found, stage: "production" });
    }
  }
}

const refused = (code: string): Outcome => ({ kind: "refused", code });

function changed(state: ReferenceState, version: number, next: ReferenceVersion): Outcome {
  const versions = [...state.versions];
  versions[version - 1] = next;
  return { kind: "changed", state: { ...state, versions }, version };
}

function dethroned(state: ReferenceState, version: number | undefined): ReferenceState {
  if (version === undefined) return state;
  const versions = [...state.versions];
  versions[version - 1] = { ...versions[version - 1]!, stage: "archived" };
  return { ...state, versions };
}
