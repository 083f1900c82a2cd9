import type { Readable } from "node:stream";
import { GetObjectCommand, paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";
import { InvalidInputError } from "../../core/errors";
import { withIdleLimit } from "./idle-limit";
import type { RemoteFile } from "./remote-file";

/**
 * Lists the object, or all under the prefix, without names that begin with a dot or an underscore. @throws
 * InvalidInputError
 */
export async function listS3Files(source: string, client = createS3Client()): Promise<readonly RemoteFile[]> {
  const [, bucket = "", key = ""] = /^s3:\/\/([^/]+)\/?(.*)$/i.exec(source) ?? [];
  const refused = (rule: string, cause?: unknown) =>
    new InvalidInputError("the source cannot be used", [{ path: "source", value: source, rule }], cause);
  const keys: string[] = [];
  try {
    for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: key })) {
      for (const { Key = "", Size = 0 } of page.Contents ?? []) if (Size > 0) keys.push(Key);
    }
  } catch (cause) {
    const { name, message } = cause as Error;
    throw refused(`must be readable with your AWS credentials: ${name}: ${message}`, cause);
  }
  const prefix = key === "" || key.endsWith("/") ? key : `${key}/`;
  const selected = keys.includes(key)
    ? [key]
    : keys.filter((one) => one.startsWith(prefix) && !/(^|\/)[._]/.test(one.slice(prefix.length)));
  if (selected.length === 0) throw refused("must be an object or a prefix with objects");
  const folder = keys.includes(key) ? key.slice(0, key.lastIndexOf("/") + 1) : prefix;
  return selected.map((one) => ({
    name: one.slice(folder.length),
    async open(from, tag) {
      const command = new GetObjectCommand({
        Bucket: bucket,
        Key: one,
        IfMatch: tag,
        Range: from > 0 ? `bytes=${from}-` : undefined,
      });
      const { response, body } = await withIdleLimit(
        (abortSignal) => client.send(command, { abortSignal }),
        (answer) => answer.Body as Readable,
      );
      return { body: body(), tag: response.ETag, bytes: from + (response.ContentLength ?? 0) };
    },
  }));
}

export function createS3Client(): S3Client {
  return new S3Client({ forcePathStyle: process.env["AWS_ENDPOINT_URL"] !== undefined });
}
