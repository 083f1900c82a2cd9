import type { Template } from "aws-cdk-lib/assertions";

/** A role of a template, with all rights of its policies as `action resource`, sorted. */
export interface SynthesizedRole {
  readonly logicalId: string;
  readonly trust: readonly string[];
  readonly managed: readonly string[];
  /** The rights of its policies, including managed policies of the template. A denied right begins with `not`. */
  readonly rights: readonly string[];
  readonly boundary: readonly string[] | undefined;
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Principal?: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly Statement: readonly Statement[];
}

export function rolesOf(template: Template): readonly SynthesizedRole[] {
  const roles = template.findResources("AWS::IAM::Role");
  const managedPolicies = template.findResources("AWS::IAM::ManagedPolicy");
  const policies = [...Object.values(template.findResources("AWS::IAM::Policy")), ...Object.values(managedPolicies)];
  const managedOf = (reference: unknown): readonly Document[] => {
    const policy = managedPolicies[textOf(reference).replace(/^<(.*)>$/, "$1")];
    return policy ? [policy["Properties"]["PolicyDocument"] as Document] : [];
  };
  const rightsIn = (documents: readonly Document[]) =>
    documents.flatMap(({ Statement }) => Statement.flatMap(rightsOf)).sort();
  return Object.entries(roles).map(([logicalId, { Properties }]) => {
    const attached = policies.filter((policy) =>
      ((policy["Properties"]["Roles"] ?? []) as readonly unknown[]).some((role) => textOf(role) === `<${logicalId}>`),
    );
    const inline = (Properties["Policies"] ?? []) as readonly { readonly PolicyDocument: Document }[];
    const managed = (Properties["ManagedPolicyArns"] ?? []) as readonly unknown[];
    const boundary: unknown = Properties["PermissionsBoundary"];
    const documents = [
      ...managed.flatMap(managedOf),
      ...attached.map((policy) => policy["Properties"]["PolicyDocument"] as Document),
      ...inline.map((policy) => policy.PolicyDocument),
    ];
    const trust = (Properties["AssumeRolePolicyDocument"] as Document).Statement;
    return {
      logicalId,
      trust: trust
        .flatMap(({ Principal }) =>
          Object.values(Principal ?? {})
            .flat()
            .map(textOf),
        )
        .sort(),
      managed: managed.map(textOf).sort(),
      rights: rightsIn(documents),
      boundary: boundary === undefined ? undefined : rightsIn(managedOf(boundary)),
    };
  });
}

function rightsOf({ Effect, Action, Resource }: Statement): readonly string[] {
  const sign = Effect === "Deny" ? "not " : "";
  return [Action]
    .flat()
    .flatMap((action) => [Resource].flat().map((resource) => `${sign}${action} ${textOf(resource)}`));
}

/** Converts CloudFormation's functions to text: references to `<Name>`, and attributes to `<Name.Arn>`. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const [[name, argument]] = Object.entries(value as Record<string, unknown>) as [[string, unknown]];
  switch (name) {
    case "Ref":
      return `<${argument}>`;
    case "Fn::GetAtt":
      return `<${(argument as readonly string[]).join(".")}>`;
    case "Fn::Sub":
      return String(argument).replace(/\$\{([\w:]+)\}/g, "<$1>");
    case "Fn::Join": {
      const [separator, parts] = argument as [string, readonly unknown[]];
      return parts.map(textOf).join(separator);
    }
    default:
      return `<${name} ${JSON.stringify(argument)}>`;
  }
}
