import { account, region } from "../account";
import type { Fields } from "../query-protocol";
import { ServiceError } from "../wire";
import type { Attribute } from "./deliver";

const arnPrefix = `arn:aws:sns:${region}:${account}:`;

export function invalid(reason: string): ServiceError {
  return new ServiceError("InvalidParameter", 400, `Invalid parameter: ${reason}`);
}

export function topicArn(name: string): string {
  return arnPrefix + name;
}

export function topicNameOf(arn: string | null): string | undefined {
  return arn?.startsWith(arnPrefix) ? arn.slice(arnPrefix.length) : undefined;
}

/** Reads the name of a standard topic. Names with a dot are refused, which includes FIFO topics (`.fifo`). */
export function readTopicName(fields: Fields): string {
  const name = fields.get("Name") ?? "";
  if (/^[\w-]{1,256}$/.test(name)) return name;
  throw invalid("Topic Name must be 1–256 letters, digits, hyphens and underscores; FIFO topics are not implemented");
}

export function readEndpoint(fields: Fields, ownPorts: readonly number[]): string {
  if (fields.get("Protocol") !== "http")
    throw invalid(`Protocol is ${fields.get("Protocol")}: the embedded SNS delivers to http endpoints only`);
  if (fields.has("Attributes.entry.1.key"))
    throw invalid("Attributes: the embedded SNS implements no subscription attributes");
  const endpoint = fields.get("Endpoint") ?? "";
  const { protocol, hostname, port: number } = URL.canParse(endpoint) ? new URL(endpoint) : new URL("none:");
  if (protocol === "http:" && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) {
    const port = Number(number) || 80;
    if (ownPorts.includes(port)) throw invalid(`Endpoint must not be port ${port}, which is the stack's own`);
    return endpoint;
  }
  throw invalid("Endpoint must be an http URL on this machine, such as http://127.0.0.1:8080/");
}

/** Reads `MessageAttributes.entry.N.…` of a Publish. */
export function readAttributes(fields: Fields): Readonly<Record<string, Attribute>> {
  const attributes: Record<string, Attribute> = {};
  for (let n = 1; fields.has(`MessageAttributes.entry.${n}.Name`); n += 1) {
    const of = `MessageAttributes.entry.${n}`;
    const Type = fields.get(`${of}.Value.DataType`) ?? "";
    const Value = fields.get(`${of}.Value.StringValue`);
    if (!/^(String|Number)/.test(Type) || Value === null)
      throw invalid(`MessageAttributes: ${Type} is not implemented; use String or Number`);
    attributes[fields.get(`${of}.Name`) ?? ""] = { Type, Value };
  }
  return attributes;
}
