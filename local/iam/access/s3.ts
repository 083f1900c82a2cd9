import type { IncomingHttpHeaders } from "node:http";
import type { RequestContext } from "../conditions";
import type { Access } from "../policy";

export interface S3Request {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

const actions: Readonly<Record<string, string>> = {
  "service GET": "ListAllMyBuckets",
  "bucket PUT": "CreateBucket",
  "bucket GET list-type": "ListBucket",
  "bucket GET versions": "ListBucketVersions",
  "bucket PUT notification": "PutBucketNotification",
  "bucket GET uploads": "ListBucketMultipartUploads",
  "object PUT": "PutObject",
  "object PUT uploadId": "PutObject",
  "object GET": "GetObject",
  "object HEAD": "GetObject",
  "object DELETE": "DeleteObject",
  "object DELETE versionId": "DeleteObjectVersion",
  "object DELETE uploadId": "AbortMultipartUpload",
  "object POST uploads": "PutObject",
  "object POST uploadId": "PutObject",
};

const selectors = `list-type location uploads delete tagging uploadId acl accelerate analytics append attributes cors
  encryption intelligent-tiering inventory legal-hold lifecycle logging metrics notification object-lock
  ownershipControls policy policyStatus publicAccessBlock renameObject replication requestPayment restore retention
  select session torrent versioning versions website metadataTable abac max-directory-buckets`.split(/\s+/);

/**
 * Names the operation of a request: scope, method and the parameter that selects it. S3 also uses the name to find its
 * handler.
 */
export function operationName({ method, bucket, key, query }: Omit<S3Request, "headers">): string {
  const scope = bucket === "" ? "service" : key === "" ? "bucket" : "object";
  const ofVersion = method === "DELETE" && (query.get("versionId") ?? "null") !== "null" ? "versionId" : undefined;
  const selector = selectors.find((name) => query.has(name)) ?? ofVersion;
  return [scope, method, selector].filter((word) => word !== undefined).join(" ");
}

export function s3Accesses(request: S3Request): readonly Access[] {
  const { bucket, key, headers } = request;
  const operation = operationName(request);
  // The keys are in the body: see `deleteAccess`.
  if (operation === "bucket POST delete") return [];
  const action = `s3:${actions[operation] ?? `Unknown(${operation})`}`;
  const context = () => contextOf(request, operation);
  const resource = key === "" ? bucketArn(bucket) : objectArn(bucket, key);
  const source = headers["x-amz-copy-source"];
  if (typeof source !== "string") return [{ action, resource, context }];
  const [from = "", ...rest] = decodeURIComponent(source).replace(/^\//, "").split("?")[0]!.split("/");
  return [
    { action, resource, context },
    { action: "s3:GetObject", resource: objectArn(from, rest.join("/")) },
  ];
}

/** Returns the access of one key of `DeleteObjects`. S3 reports a refusal for the key, not for the request. */
export function deleteAccess(bucket: string, key: string, version: string | undefined): Access {
  const action = version === undefined ? "s3:DeleteObject" : "s3:DeleteObjectVersion";
  return { action, resource: objectArn(bucket, key) };
}

/**
 * Returns the access that S3 checks before it reports a missing object. A caller without it must not learn that the
 * object does not exist.
 */
export function listAccess(bucket: string): Access {
  return { action: "s3:ListBucket", resource: bucketArn(bucket) };
}

const bucketArn = (bucket: string): string => (bucket === "" ? "*" : `arn:aws:s3:::${bucket}`);
const objectArn = (bucket: string, key: string): string => `arn:aws:s3:::${bucket}/${key}`;

function contextOf({ query, headers }: S3Request, operation: string): RequestContext {
  const context: Record<string, string> = {};
  for (const name of ["prefix", "delimiter", "max-keys"]) {
    const value = query.get(name);
    if (operation.startsWith("bucket GET") && value !== null) context[`s3:${name}`] = value;
  }
  for (const name of ["if-none-match", "if-match"] as const) {
    const value = headers[name];
    if (typeof value === "string") context[`s3:${name}`] = value;
  }
  const creates = operation === "object PUT" || operation === "object POST uploadId";
  const prepares = operation === "object PUT uploadId" || operation === "object POST uploads";
  if (creates || prepares) context["s3:objectcreationoperation"] = String(creates);
  return context;
}
