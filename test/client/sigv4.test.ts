import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import type { HashConstructor } from "@smithy/types";
import { signRequest } from "../../client/sigv4";

const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const now = Date.parse("2015-08-30T12:36:00Z");

/** From AWS's own test suite for Signature Version 4. */
it.each([
  ["get-vanilla", "https://example.amazonaws.com/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
  [
    "get-vanilla-query-order-key-case",
    "https://example.amazonaws.com/?Param2=value2&Param1=value1",
    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  ],
])("%s", (_name, url, signature) => {
  const request = { method: "GET", url: new URL(url), headers: {}, body: undefined };
  const { authorization } = signRequest(request, credentials, { region: "us-east-1", service: "service", now });
  expect(authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  );
});

class Sha256 {
  readonly #hash;
  constructor(secret?: string | Uint8Array) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret);
  }
  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

it.each([
  ["a read", "GET", "/live/api/v1/models", undefined, {}],
  ["a query", "GET", "/live/api/v1/training-runs?nextToken=a%2Bb%3D%3D&limit=5&metric=train/loss", undefined, {}],
  ["names that must be encoded", "GET", "/live/api/v1/training-runs/run%2F1%20%C3%A4!*'()/metrics", undefined, {}],
  [
    "a body and headers",
    "POST",
    "/live/api/v1/training-runs",
    '{"job":{"notes":"ä"}}',
    { "content-type": "application/json", "idempotency-key": "a  b " },
  ],
] as const)("signs %s as AWS's own signer does", async (_name, method, path, body, headers) => {
  const url = new URL(`https://abc.execute-api.eu-central-1.amazonaws.com${path}`);
  const withSession = { ...credentials, sessionToken: "session" };
  const ours = signRequest({ method, url, headers, body }, withSession, {
    region: "eu-central-1",
    service: "execute-api",
    now,
  });
  const signer = new SignatureV4({
    credentials: withSession,
    region: "eu-central-1",
    service: "execute-api",
    sha256: Sha256 as unknown as HashConstructor,
    applyChecksum: false,
  });
  const theirs = await signer.sign(
    {
      method,
      protocol: "https:",
      hostname: url.host,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host, ...headers },
      body,
    } as unknown as Parameters<typeof signer.sign>[0],
    { signingDate: new Date(now) },
  );
  expect(ours["authorization"]).toBe(
    (theirs as unknown as { headers: Record<string, string> }).headers["authorization"],
  );
});
