import type { Credentials } from "../../adapters/signer";
import { RingmasterError } from "../../core/errors";
import { signRequest } from "../signing";

/** The place of AWS's endpoints, and the caller. */
export interface AwsConnection {
  readonly credentials: Credentials;
  readonly region: string;
  /** One endpoint for all services, such as AWS_ENDPOINT_URL. */
  readonly endpoint?: string;
}

/** A service that this command calls without an SDK of its own. */
interface Service {
  /** The name in the signature. */
  readonly name: string;
  /** A service with one endpoint for all regions. */
  readonly global?: boolean;
}

/** AWS refused a request. `code` is AWS's own, such as `AccessDeniedException`. */
export class AwsRefusalError extends RingmasterError {
  constructor(
    what: string,
    readonly awsCode: string,
    message: string,
  ) {
    super(`AWS refused ${what}: ${awsCode}${message ? `: ${message}` : ""}`, { code: "AWS_REFUSED", httpStatus: 502 });
  }
}

/** Calls an operation of the protocol AWS JSON 1.1. `target` is the header `X-Amz-Target`. */
export async function callJson<T>(
  connection: AwsConnection,
  service: Service,
  target: string,
  body: object,
): Promise<T> {
  const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": target };
  const { ok, text } = await send(connection, service, headers, JSON.stringify(body));
  const answer = JSON.parse(text || "{}") as T & {
    readonly __type?: string;
    readonly message?: string;
    Message?: string;
  };
  if (ok) return answer;
  const code = (answer.__type ?? "UnknownError").split("#").at(-1)!;
  throw new AwsRefusalError(target.split(".").at(-1)!, code, answer.message ?? answer.Message ?? "");
}

/** Calls an operation of the query protocol and returns its XML. */
export async function callQuery(
  connection: AwsConnection,
  service: Service,
  parameters: Readonly<Record<string, string>> & { readonly Action: string },
): Promise<string> {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const { ok, text } = await send(connection, service, headers, new URLSearchParams(parameters).toString());
  if (ok) return text;
  const element = (name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? "";
  throw new AwsRefusalError(parameters.Action, element("Code") || "UnknownError", element("Message"));
}

async function send(
  { credentials, region, endpoint }: AwsConnection,
  { name, global = false }: Service,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const china = region.startsWith("cn-");
  const host = `${global ? name : `${name}.${region}`}.amazonaws.com${china ? ".cn" : ""}`;
  const url = new URL(endpoint ?? `https://${host}`);
  const scope = { region: global && !china ? "us-east-1" : region, service: name, now: Date.now() };
  const request = { method: "POST", url, headers, body };
  const signed = await signRequest(request, credentials, scope);
  try {
    const response = await fetch(url, { method: "POST", headers: signed, body, signal: AbortSignal.timeout(30_000) });
    return { ok: response.ok, text: await response.text() };
  } catch (cause) {
    throw new RingmasterError(`${url.host} does not respond: ${(cause as Error).message}. Check the network`, {
      code: "AWS_UNREACHABLE",
      httpStatus: 503,
      cause,
    });
  }
}
