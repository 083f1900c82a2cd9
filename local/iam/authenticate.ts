import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { ChunkVerifier } from "../sigv4/chunks";
import { checkClaim, readClaim, type SignatureClaim, type SignatureProblem } from "../sigv4/claim";
import { setSignedPayload } from "../sigv4/payload";
import { signatureMatches, signingKey } from "../sigv4/verify";
import { readBody } from "../wire";
import type { Iam } from ".";
import type { Caller } from "./caller";
import { SignatureError } from "./signature-error";

/** The largest body that is read before the service receives the request: DynamoDB's limit, the largest except S3's. */
const maxBodyBytes = 16 * 1024 * 1024;
const digestPattern = /^[0-9a-f]{64}$/;

/**
 * Verifies the signature of a request. It also verifies the body, unless the service does so while it reads the body.
 *
 * @returns the caller, or `undefined` for the owner
 * @throws SignatureError
 */
export async function authenticate(iam: Iam, request: IncomingMessage): Promise<Caller | undefined> {
  const { method = "GET", url = "/", headers } = request;
  const signed = { method, url, headers };
  const claim = readClaim(signed);
  if ("kind" in claim) throw refusal(claim);
  // Comes first, so that an expired token is reported as such, even if the caller's clock is wrong.
  const { secretAccessKey, caller } = iam.identify(claim);
  const problem = checkClaim(signed, claim, iam.now);
  if (problem) throw refusal(problem);
  const isS3 = claim.scope[2] === "s3";
  const payload = await (isS3 ? s3Payload(request, claim, secretAccessKey) : wholePayload(request, claim));
  if (!(await signatureMatches(signed, claim, payload, secretAccessKey, isS3 ? "s3" : "standard"))) {
    throw new SignatureError(
      "mismatch",
      "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key (`ringmaster env` prints it) and signing method.",
    );
  }
  return caller;
}

function refusal({ kind, message }: SignatureProblem): SignatureError {
  return new SignatureError(kind, `The request cannot be accepted: ${message}.`);
}

/** Returns the payload of an S3 request. S3's bodies are large, so they are verified while they are stored. */
async function s3Payload(request: IncomingMessage, claim: SignatureClaim, secretAccessKey: string): Promise<string> {
  const payload = claim.payload ?? (claim.presigned ? "UNSIGNED-PAYLOAD" : "");
  if (digestPattern.test(payload)) setSignedPayload(request, { digest: payload });
  else if (/^STREAMING-AWS4-HMAC-SHA256-PAYLOAD(?:-TRAILER)?$/.test(payload)) {
    const key = await signingKey(secretAccessKey, claim);
    setSignedPayload(request, { chunks: new ChunkVerifier(claim, key, payload.endsWith("-TRAILER")) });
  } else if (payload !== "UNSIGNED-PAYLOAD" && payload !== "STREAMING-UNSIGNED-PAYLOAD-TRAILER") {
    const rule = "must be the body's SHA-256, UNSIGNED-PAYLOAD or a STREAMING- value that S3 has";
    throw new SignatureError("incomplete", `x-amz-content-sha256 is ${JSON.stringify(payload)}, but ${rule}.`);
  }
  return payload;
}

async function wholePayload(request: IncomingMessage, { payload }: SignatureClaim): Promise<string> {
  const body = await readBody(request, maxBodyBytes);
  const digest = hash("sha256", body, "hex");
  if (payload !== undefined && payload !== digest) {
    throw new SignatureError("digest", "The body does not match the x-amz-content-sha256 that was signed.");
  }
  setSignedPayload(request, { body });
  return digest;
}
