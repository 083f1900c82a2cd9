import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";
import type { HttpRequest } from "@smithy/types";
import type { TemporaryKeys } from "../../local/iam/keys";

export interface Unsigned {
  readonly method?: string;
  /** Absolute. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly service: string;
}

export type Keys = Pick<TemporaryKeys, "accessKeyId" | "secretAccessKey"> & Partial<TemporaryKeys>;

function signerOf(service: string, keys: Keys): SignatureV4 {
  return new SignatureV4({
    credentials: keys,
    region: "us-east-1",
    service,
    sha256: Sha256,
    uriEscapePath: service !== "s3",
    applyChecksum: service === "s3",
  });
}

function requestOf({ method = "GET", url, headers = {}, body }: Unsigned): HttpRequest {
  const { protocol, hostname, port, host, pathname, searchParams } = new URL(url);
  const query = Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]));
  return {
    method,
    protocol,
    hostname,
    port: Number(port),
    path: pathname,
    query,
    headers: { host, ...headers },
    body,
  } as unknown as HttpRequest;
}

export async function sign(request: Unsigned, keys: Keys, signingDate = new Date()): Promise<Record<string, string>> {
  const { headers } = await signerOf(request.service, keys).sign(requestOf(request), { signingDate });
  return headers;
}

/** Makes a presigned URL with Amazon's own library. */
export async function presign(
  request: Unsigned,
  keys: Keys,
  { expiresIn = 900, signingDate = new Date() }: { readonly expiresIn?: number; readonly signingDate?: Date } = {},
): Promise<string> {
  const unsigned = requestOf({
    ...request,
    headers: { "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD", ...request.headers },
  });
  const { query } = await signerOf(request.service, keys).presign(unsigned, { expiresIn, signingDate });
  const url = new URL(request.url);
  url.search = "";
  for (const [name, values] of Object.entries(query ?? {}))
    for (const value of [values ?? ""].flat()) url.searchParams.append(name, value);
  return url.href.replaceAll("+", "%20");
}
