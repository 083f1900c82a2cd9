import { account } from "../account";
import { type Fields, serveQuery, type Xml } from "../query-protocol";
import { ServiceStore, type StoredService, type StoredServiceOptions } from "../service";
import { ServiceError } from "../wire";
import type { Caller, Iam } from ".";
import { compilePolicy, type Policy, type PolicyDocument, type Role } from "./policy";

const namespace = "https://iam.amazonaws.com/doc/2010-05-08/";
const maxBytes = 64 * 1024;
const maxCharacters = 10_240;

/**
 * Creates Identity and Access Management for one machine: `PutRolePolicy` for the platform's roles. A policy applies to
 * all sessions of its role at once.
 */
export function createRolePolicies(iam: Iam, options: StoredServiceOptions): StoredService {
  const store = new ServiceStore<PolicyDocument>("iam", options);
  const { db } = store;
  const sizes = new Map<string, number>();
  const apply = (key: string, role: Role, name: string, document: PolicyDocument, policy: Policy): void => {
    role.inline.set(name, policy);
    sizes.set(key, JSON.stringify(document).length);
  };
  const ready = store.open(async () => {
    for await (const [key, document] of db.iterator()) {
      const [roleName = "", name = ""] = key.split("/");
      const role = iam.roles.get(roleName);
      if (role) apply(key, role, name, document, compilePolicy(document));
    }
  });

  async function putRolePolicy(fields: Fields, caller: Caller | undefined): Promise<Xml> {
    const roleName = required(fields, "RoleName", /^[\w+=,.@-]{1,64}$/);
    caller?.authorize({ action: "iam:PutRolePolicy", resource: `arn:aws:iam::${account}:role/${roleName}` });
    const name = required(fields, "PolicyName", /^[\w+=,.@-]{1,128}$/);
    const { document, policy } = readDocument(fields.get("PolicyDocument") ?? "");
    const role = iam.roles.get(roleName);
    if (!role) throw new ServiceError("NoSuchEntity", 404, `The role with name ${roleName} cannot be found.`);
    const key = `${roleName}/${name}`;
    const others = [...sizes].filter(([other]) => other.startsWith(`${roleName}/`) && other !== key);
    const total = others.reduce((sum, [, size]) => sum + size, JSON.stringify(document).length);
    if (total > maxCharacters) {
      const rule = `Maximum policy size of ${maxCharacters} bytes exceeded for role ${roleName}`;
      throw new ServiceError("LimitExceeded", 409, rule);
    }
    await db.put(key, document);
    apply(key, role, name, document, policy);
    return {};
  }

  return {
    signingName: "iam",
    ready,
    handle: (request, response, caller) =>
      serveQuery(request, response, { namespace, maxBytes }, async (action, fields) => {
        await ready;
        if (action === "PutRolePolicy") return putRolePolicy(fields, caller);
        throw new ServiceError(
          "InvalidAction",
          400,
          `The embedded IAM does not implement ${action}; it has PutRolePolicy.`,
        );
      }),
    close: () => store.close(),
  };
}

function readDocument(text: string): { readonly document: PolicyDocument; readonly policy: Policy } {
  try {
    const document = JSON.parse(text) as PolicyDocument;
    return { document, policy: compilePolicy(document) };
  } catch (error) {
    throw new ServiceError("MalformedPolicyDocument", 400, (error as Error).message);
  }
}

function required(fields: Fields, name: string, pattern: RegExp): string {
  const value = fields.get(name) ?? "";
  if (!pattern.test(value)) {
    throw new ServiceError("ValidationError", 400, `${name} is '${value}', but must match ${pattern.source}`);
  }
  return value;
}
