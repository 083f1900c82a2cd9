import { type Condition, compileCondition, list, patternOf, type RequestContext } from "./conditions";

export interface PolicyDocument {
  readonly Version: "2012-10-17";
  readonly Statement: readonly PolicyStatement[];
}

interface PolicyStatement {
  readonly Effect: "Allow" | "Deny";
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  /** Operator → condition key → values. */
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

export interface Access {
  readonly action: string;
  /** An ARN, or `*` for an action without resources. */
  readonly resource: string;
  /** Builds the condition keys. It is called only if a policy has conditions. */
  readonly context?: () => RequestContext;
}

export type Policy = (access: Access) => "allow" | "deny" | undefined;

export interface Role {
  readonly name: string;
  readonly policy: Policy;
  /** The names of the roles that may assume it. */
  readonly trusts: readonly string[];
  /** The maximum rights of the role, whatever its policies allow. */
  readonly boundary?: Policy;
  readonly inline: Map<string, Policy>;
}

interface Compiled {
  readonly deny: boolean;
  readonly actions: readonly RegExp[];
  readonly resources: readonly RegExp[];
  readonly conditions: readonly Condition[];
}

/**
 * Compiles a policy. A deny overrides every allow. Policy variables, `NotAction`, `NotResource` and principals are not
 * implemented, because the platform's policies do not use them.
 * @throws Error for an element that is not implemented
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
        const values = context;
        if (!conditions.every((condition) => condition(values))) continue;
      }
      if (deny) return "deny";
      answer = "allow";
    }
    return answer;
  };
}

function compileStatement(statement: PolicyStatement): Compiled {
  const fields = new Set(["Sid", "Effect", "Action", "Resource", "Condition"]);
  const unknown = Object.keys(statement).filter((key) => !fields.has(key));
  if (unknown.length > 0) throw new Error(`The embedded IAM does not know the policy element ${unknown.join(", ")}.`);
  const { Effect, Action, Resource, Condition = {} } = statement;
  if (Effect !== "Allow" && Effect !== "Deny") throw new Error(`Effect is ${Effect}, but must be Allow or Deny.`);
  return {
    deny: Effect === "Deny",
    // Actions are case-insensitive, resources are not.
    actions: list(Action).map((action) => patternOf(action, "i")),
    resources: list(Resource).map((resource) => patternOf(resource)),
    conditions: Object.entries(Condition).map(([operator, keys]) => compileCondition(operator, keys)),
  };
}

/**
 * Combines policies that add rights, like those of a role. The result includes policies that are added to the list
 * later.
 */
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
 * Decides whether the role's policies, its boundary and the session's policy (if any) allow an access together.
 * @returns the decision, and whether a policy denied the access explicitly
 */
export function decide(
  policies: readonly Policy[],
  access: Access,
): { readonly allowed: boolean; readonly denied: boolean } {
  const answers = policies.map((policy) => policy(access));
  const denied = answers.includes("deny");
  return { denied, allowed: !denied && answers.length > 0 && answers.every((answer) => answer === "allow") };
}
