import type { ProblemKind } from "../sigv4/claim";
import { ServiceError } from "../wire";

interface Names {
  readonly json: string;
  readonly query: string;
  readonly s3: string;
  readonly httpStatus: number;
}

type Kind = ProblemKind | "mismatch" | "unknown-key" | "expired-token" | "digest";

const names: Readonly<Record<Kind, Names>> = {
  missing: {
    json: "MissingAuthenticationToken",
    query: "MissingAuthenticationToken",
    s3: "AccessDenied",
    httpStatus: 403,
  },
  incomplete: {
    json: "IncompleteSignatureException",
    query: "IncompleteSignature",
    s3: "AuthorizationHeaderMalformed",
    httpStatus: 403,
  },
  skewed: {
    json: "InvalidSignatureException",
    query: "SignatureDoesNotMatch",
    s3: "RequestTimeTooSkewed",
    httpStatus: 403,
  },
  expired: { json: "InvalidSignatureException", query: "SignatureDoesNotMatch", s3: "AccessDenied", httpStatus: 403 },
  mismatch: {
    json: "InvalidSignatureException",
    query: "SignatureDoesNotMatch",
    s3: "SignatureDoesNotMatch",
    httpStatus: 403,
  },
  "unknown-key": {
    json: "UnrecognizedClientException",
    query: "InvalidClientTokenId",
    s3: "InvalidAccessKeyId",
    httpStatus: 403,
  },
  "expired-token": { json: "ExpiredTokenException", query: "ExpiredToken", s3: "ExpiredToken", httpStatus: 400 },
  digest: {
    json: "InvalidSignatureException",
    query: "SignatureDoesNotMatch",
    s3: "XAmzContentSHA256Mismatch",
    httpStatus: 400,
  },
};

/** The request is not signed with a key of this stack. Each protocol has its own name for the reason. */
export class SignatureError extends ServiceError {
  override readonly name = "SignatureError";

  constructor(
    readonly kind: Kind,
    message: string,
  ) {
    super(names[kind].json, names[kind].httpStatus, message);
  }

  codeIn(protocol: "s3" | "query"): string {
    return names[this.kind][protocol];
  }
}
