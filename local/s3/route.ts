import { operationName } from "../iam/access/s3";
import type { Call } from "./call";
import { notImplemented, S3Error } from "./errors";
import { createBucket, listBuckets, putBucketNotification } from "./operations/buckets";
import { completeMultipartUpload } from "./operations/complete";
import { copyObject } from "./operations/copy";
import { deleteObject, deleteObjects } from "./operations/delete";
import { getObject, headObject } from "./operations/get";
import { listObjectsV2, listObjectVersions } from "./operations/list";
import {
  abortMultipartUpload,
  createMultipartUpload,
  listMultipartUploads,
  uploadPart,
  uploadPartCopy,
} from "./operations/multipart";
import { putObject } from "./operations/put";

export type Operation = (call: Call) => Promise<void>;

export const operations: Readonly<Record<string, Operation>> = {
  "service GET": listBuckets,
  "bucket PUT": createBucket,
  "bucket GET list-type": listObjectsV2,
  "bucket GET versions": listObjectVersions,
  "bucket PUT notification": putBucketNotification,
  "bucket GET uploads": listMultipartUploads,
  "bucket POST delete": deleteObjects,
  "object PUT": putObject,
  "object PUT copy": copyObject,
  "object PUT uploadId": uploadPart,
  "object PUT uploadId copy": uploadPartCopy,
  "object GET": getObject,
  "object HEAD": headObject,
  "object DELETE": deleteObject,
  "object DELETE versionId": deleteObject,
  "object DELETE uploadId": abortMultipartUpload,
  "object POST uploads": createMultipartUpload,
  "object POST uploadId": completeMultipartUpload,
};

export function route(call: Call): Operation {
  const { request, query, bucket, key } = call;
  const method = request.method ?? "GET";
  const copy = method === "PUT" && request.headers["x-amz-copy-source"] !== undefined ? " copy" : "";
  const name = operationName({ method, bucket, key, query }) + copy;
  const versionId = query.get("versionId");
  if (versionId !== null && versionId !== "null" && operations[name] !== deleteObject) {
    throw notImplemented("object versions");
  }
  const operation = operations[name];
  if (operation) return operation;
  if (["GET", "HEAD", "PUT", "POST", "DELETE"].includes(method)) throw notImplemented(`this operation (${name})`);
  throw new S3Error(405, "MethodNotAllowed", "The specified method is not allowed against this resource.");
}
