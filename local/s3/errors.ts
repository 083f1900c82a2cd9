import { AccessDenied } from "../iam/caller";
import { isDiskFull } from "../storage/space";

export class S3Error extends Error {
  readonly code: string;
  readonly httpStatus: number;
  readonly extra: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    httpStatus: number,
    code: string,
    message: string,
    options: {
      readonly extra?: Readonly<Record<string, string>>;
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "S3Error";
    this.code = code;
    this.httpStatus = httpStatus;
    this.extra = options.extra ?? {};
    this.headers = options.headers ?? {};
  }
}

export const noSuchBucket = (bucket: string) =>
  new S3Error(404, "NoSuchBucket", "The specified bucket does not exist", { extra: { BucketName: bucket } });

export const noSuchKey = (key: string) =>
  new S3Error(404, "NoSuchKey", "The specified key does not exist.", { extra: { Key: key } });

export const noSuchUpload = (uploadId: string) =>
  new S3Error(
    404,
    "NoSuchUpload",
    "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
    { extra: { UploadId: uploadId } },
  );

export const preconditionFailed = (condition: string) =>
  new S3Error(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold", {
    extra: { Condition: condition },
  });

export const notImplemented = (what: string) =>
  new S3Error(501, "NotImplemented", `The embedded S3 does not implement ${what}.`);

export const invalidArgument = (message: string, name: string, value: string) =>
  new S3Error(400, "InvalidArgument", message, { extra: { ArgumentName: name, ArgumentValue: value } });

export const invalidRequest = (message: string) => new S3Error(400, "InvalidRequest", message);

export const malformedXml = (detail: string) =>
  new S3Error(
    400,
    "MalformedXML",
    `The XML you provided was not well-formed or did not validate against our published schema (${detail})`,
  );

export const accessDenied = (message: string) => new S3Error(403, "AccessDenied", message);

/**
 * Converts any thrown value to an answer. A full disk has its own error, because the user can correct it. Its status is
 * 507, because the SDKs retry a 503 and a retry does not help.
 */
export function toS3Error(error: unknown, dataDirectory: string): S3Error {
  if (error instanceof S3Error) return error;
  if (error instanceof AccessDenied) return accessDenied(error.message);
  if (isDiskFull(error)) {
    const { code = "ENOSPC" } = error as NodeJS.ErrnoException;
    return new S3Error(
      507,
      "ServiceUnavailable",
      `The disk that holds ${dataDirectory} is full (${code}), so the object was not stored and nothing of it was kept. Free some space there, or start with another data directory (--data), then send the request again.`,
      { cause: error },
    );
  }
  const detail = error instanceof Error ? error.message : String(error);
  return new S3Error(500, "InternalError", `We encountered an internal error. Please try again. (${detail})`, {
    cause: error,
  });
}
