import { GetObjectCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { teamPrefix } from "../../core/object-keys";
import type { PointerStore } from "../../core/registry/pointer";
import { listBucket, objects } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { s3Client } from "./object-store";
import { attemptsOf, isConflict, isMissing, isPreconditionFailure, readError } from "./service-errors";

/** Small JSON documents, each put conditional on the ETag that the writer has read (`If-Match`, `If-None-Match: *`). */
export function createPointerStore(client: S3Client, bucket: string, prefix: string): PointerStore {
  const at = (key: string) => ({ Bucket: bucket, Key: `${prefix}${key}` });

  async function find(key: string) {
    try {
      const { Body, ETag = "" } = await client.send(new GetObjectCommand(at(key)));
      return { body: (await Body?.transformToString()) ?? "", tag: ETag };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw readError(key, error);
    }
  }

  return {
    find,
    async put(key, body, tag) {
      const condition = tag === undefined ? { IfNoneMatch: "*" } : { IfMatch: tag };
      try {
        await client.send(
          new PutObjectCommand({
            ...at(key),
            Body: body,
            ContentType: "application/json",
            ServerSideEncryption: "AES256",
            ...condition,
          }),
        );
        return true;
      } catch (error) {
        if (!isPreconditionFailure(error) && !isConflict(error) && !isMissing(error)) throw error;
        // The client's first attempt may have succeeded and lost only the answer.
        return attemptsOf(error) > 1 && (await find(key))?.body === body;
      }
    },
  };
}

export const pointers = teamPort({
  uses: { s3: s3Client() },
  grants: { read: [objects("GetObject"), listBucket], write: [objects("PutObject")] },
  make: ({ s3 }, { config, team }) => createPointerStore(s3, config.bucket, teamPrefix(team)),
});
