import type { PolicyDocument, PolicyStatement } from "../../platform/permissions";
import { type Condition, compileCondition, list, patternOf, type RequestContext } from "./conditions";

/** What a request asks to do. */
export interface Access {
  /** `s3:GetObject` */
  readonly action: string;
  /** An ARN; `*` where the action knows none. */
  readonly resource: string;
  /** Made only where a policy asks for it. */
  readonly context?: () => RequestContext;
}

/** What one policy says of an access; undefined: nothing. */
export type Policy = (access: Access) => "allow" | "deny" | undefined;

interface Compiled {
  readonly deny: boolean;
  readonly actions: readonly RegExp[];
  readonly resources: readonly RegExp[];
  readonly conditions: readonly Condition[];
}

/**
 * A policy, ready to be asked. A deny wins over every allow. No policy variables, `NotAction`, `NotResource` or principals: nobody here writes them.
 * @throws Error for what is not understood
 */
export function compilePolicy(document: PolicyDocument): Policy {
  const statements = document.Statement.map(compileStatement);
  return (access) => {
    let answer: "allow" | undefined;
    let context: RequestContext | undefined;
    for (const { deny, actions, resources, conditions } of statements) {
      if (!actions.some((action) => action.test(access.action))) continue;
      if (!resources.some((resource) => resource.test(access.resource))) continue;
      if (conditions.length > 0) {
        context ??= access.context?.() ?? {};
        const given = context;
        if (!conditions.every((condition) => condition(given))) continue;
      }
      if (deny) return "deny";
      answer = "allow";
    }
    return answer;
  };
}

function compileStatement(statement: PolicyStatement): Compiled {
  const known = new Set(["Sid", "Effect", "Action", "Resource", "Condition"]);
  const unknown = Object.keys(statement).filter((key) => !known.has(key));
  if (unknown.length > 0) throw new Error(`The embedded IAM does not know the policy element ${unknown.join(", ")}.`);
  const { Effect, Action, Resource, Condition = {} } = statement;
  if (Effect !== "Allow" && Effect !== "Deny") throw new Error(`Effect is ${Effect}, but must be Allow or Deny.`);
  return {
    deny: Effect === "Deny",
    // Actions know no case, resources do.
    actions: list(Action).map((action) => patternOf(action, "i")),
    resources: list(Resource).map((resource) => patternOf(resource)),
    conditions: Object.entries(Condition).map(([operator, keys]) => compileCondition(operator, keys)),
  };
}

/** Combines policies that add rights to each other, as a role's do. The function sees policies that are added to the list later. */
export function unionOf(policies: () => Iterable<Policy>): Policy {
  return (access) => {
    let answer: "allow" | undefined;
    for (const policy of policies()) {
      const one = policy(access);
      if (one === "deny") return "deny";
      answer ??= one;
    }
    return answer;
  };
}

/**
 * Whether the policies allow an access together: a role's own, its boundary, and where the session has one, the session's as well.
 * @returns the decision, and whether somebody denied it in so many words
 */
export function decide(
  policies: readonly Policy[],
  access: Access,
): { readonly allowed: boolean; readonly denied: boolean } {
  const answers = policies.map((policy) => policy(access));
  const denied = answers.includes("deny");
  return { denied, allowed: !denied && answers.length > 0 && answers.every((answer) => answer === "allow") };
}
