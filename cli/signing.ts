import type { Credentials } from "../adapters/signer";
import type { OutgoingRequest } from "../client/transport";
import { RingmasterError } from "../core/errors";

export interface SigningScope {
  readonly region: string;
  /** `execute-api` for API Gateway. */
  readonly service: string;
  /** Milliseconds since the epoch; AWS accepts signatures of the last five minutes. */
  readonly now: number;
}

export class NoCredentialsError extends RingmasterError {
  constructor(host: string, cause: unknown) {
    super(
      `${host} requires signed requests, but no AWS credentials were found: sign in (aws sso login, AWS_PROFILE, AWS_ACCESS_KEY_ID), or set RINGMASTER_TOKEN if the API accepts tokens`,
      { code: "NO_CREDENTIALS", httpStatus: 401, cause },
    );
  }
}

export function isOnThisMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
}

/** Signs with the AWS credentials of the environment. The SDK is loaded for the first signature. */
export function createSigner(
  baseUrl: string,
): ((request: OutgoingRequest) => Promise<Readonly<Record<string, string>>>) | undefined {
  const { hostname } = new URL(baseUrl);
  if (isOnThisMachine(hostname)) return undefined;
  let session: Promise<{ readonly credentials: () => Promise<Credentials>; readonly region: string }> | undefined;
  return async (request) => {
    session ??= findCredentials(hostname);
    const { credentials, region } = await session;
    const scope = { region, service: "execute-api", now: Date.now() };
    return signRequest(request, await credentials(), scope);
  };
}

/** Signs a request with AWS Signature Version 4: every given header and the host. @returns the headers to send */
export async function signRequest(
  { method, url, headers, body }: OutgoingRequest,
  credentials: Credentials,
  { region, service, now }: SigningScope,
): Promise<Readonly<Record<string, string>>> {
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    import("@smithy/signature-v4"),
    import("@smithy/core/checksum"),
  ]);
  const signer = new SignatureV4({ credentials, region, service, sha256: Sha256, applyChecksum: false });
  const { protocol, hostname, pathname: path, searchParams, host } = url;
  const query = Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]));
  const request = { method, protocol, hostname, path, query, headers: { host, ...headers }, body };
  const { host: _, ...signed } = (await signer.sign(request, { signingDate: new Date(now) })).headers;
  return signed;
}

async function findCredentials(hostname: string) {
  const { STSClient } = await import("@aws-sdk/client-sts");
  const { config } = new STSClient({});
  // A custom domain does not contain the region, so the environment determines it.
  const inName = /\.execute-api\.([a-z0-9-]+)\.amazonaws\./.exec(hostname)?.[1];
  try {
    await config.credentials();
    return { credentials: config.credentials, region: inName ?? (await config.region()) };
  } catch (cause) {
    throw new NoCredentialsError(hostname, cause);
  }
}
