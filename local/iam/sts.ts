import { account } from "../account";
import { type Fields, serveQuery, type Xml } from "../query-protocol";
import type { Service } from "../service";
import { ServiceError } from "../wire";
import type { Caller, Iam } from ".";
import { AccessDenied, userIdOf } from "./caller";
import { compilePolicy, type PolicyDocument } from "./policy";

const namespace = "https://sts.amazonaws.com/doc/2011-06-15/";
const maxBodyBytes = 64 * 1024;
const maxPolicyLength = 2_048;
/** The duration of a session in seconds: minimum, maximum, maximum when one role assumes another, and default. */
const duration = { min: 900, max: 43_200, chained: 3_600, standard: 3_600 };

export function createSts(iam: Iam): Service {
  return {
    signingName: "sts",
    handle: (request, response, caller) =>
      serveQuery(request, response, { namespace, maxBytes: maxBodyBytes }, (action, fields) =>
        perform(iam, action, fields, caller),
      ),
    close: async () => undefined,
  };
}

function perform(iam: Iam, action: string, fields: Fields, caller: Caller | undefined): Xml {
  switch (action) {
    case "GetCallerIdentity": {
      const arn = caller?.arn ?? `arn:aws:iam::${account}:root`;
      return { Arn: arn, UserId: caller?.userId ?? account, Account: account };
    }
    case "AssumeRole":
      return assumeRole(iam, fields, caller);
    default:
      throw new ServiceError("InvalidAction", 400, `The embedded STS does not implement ${action}.`);
  }
}

function assumeRole(iam: Iam, fields: Fields, caller: Caller | undefined): Xml {
  const arn = required(fields, "RoleArn");
  const name = required(fields, "RoleSessionName");
  if (!/^[\w+=,.@-]{2,64}$/.test(name)) throw invalid("RoleSessionName", "must be 2 to 64 letters, digits and _+=,.@-");
  const role = arn.startsWith(`arn:aws:iam::${account}:role/`) ? iam.roles.get(arn.split("/").at(-1) ?? "") : undefined;
  const access = { action: "sts:AssumeRole", resource: arn };
  if (caller) {
    caller.authorize(access);
    if (!role?.trusts.includes(caller.role.name))
      throw new AccessDenied(caller.arn, access, "the role does not trust it");
  } else if (!role) throw new AccessDenied(`arn:aws:iam::${account}:root`, access, "there is no such role");
  const seconds = Number(fields.get("DurationSeconds") ?? duration.standard);
  const maxSeconds = caller ? duration.chained : duration.max;
  if (!(seconds >= duration.min && seconds <= maxSeconds)) {
    throw invalid(
      "DurationSeconds",
      `must be from ${duration.min} to ${maxSeconds} for this caller, but is ${seconds}`,
    );
  }
  const expiresAt = iam.now + seconds * 1_000;
  const policy = sessionPolicyOf(fields);
  const keys = iam.issue({ role: role.name, name, expiresAt, ...(policy ? { policy } : {}) });
  return {
    Credentials: {
      AccessKeyId: keys.accessKeyId,
      SecretAccessKey: keys.secretAccessKey,
      SessionToken: keys.sessionToken,
      Expiration: new Date(expiresAt).toISOString(),
    },
    AssumedRoleUser: {
      AssumedRoleId: userIdOf(name),
      Arn: `arn:aws:sts::${account}:assumed-role/${role.name}/${name}`,
    },
    PackedPolicySize: String(Math.ceil((100 * (fields.get("Policy")?.length ?? 0)) / maxPolicyLength)),
  };
}

function sessionPolicyOf(fields: Fields): PolicyDocument | undefined {
  const text = fields.get("Policy");
  if (text === null) return undefined;
  if (text.length > maxPolicyLength) throw invalid("Policy", `must have at most ${maxPolicyLength} characters`);
  try {
    const document = JSON.parse(text) as PolicyDocument;
    compilePolicy(document);
    return document;
  } catch (error) {
    throw new ServiceError("MalformedPolicyDocument", 400, (error as Error).message);
  }
}

function required(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (!value) throw invalid(name, "must be given");
  return value;
}

function invalid(name: string, rule: string): ServiceError {
  return new ServiceError("ValidationError", 400, `${name} ${rule}`);
}
