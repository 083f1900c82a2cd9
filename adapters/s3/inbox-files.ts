import { open } from "node:fs/promises";
import { CopyObjectCommand, GetObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import type { InboxFiles } from "../../core/datasets/inbox/shapes";
import { objectKeys, teamPrefix } from "../../core/object-keys";
import { listBucket, objects } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { copySource } from "./copy-object";
import { s3Client } from "./object-store";
import { isCutBody, isMissing, isPastEnd, isPreconditionFailure, withRetries } from "./service-errors";

const pieceBytes = 16 * 1024 * 1024;

export function createInboxFiles(client: S3Client, bucket: string, prefix: string): InboxFiles {
  const keyOf = (path: string): string => `${prefix}${objectKeys.inbox(path)}`;

  return {
    async fetch(path, etag, file) {
      const output = await open(file, "w");
      try {
        for (let at = 0; ; at += pieceBytes) {
          // A connection may break after the headers, when the client no longer retries.
          const piece = await withRetries(isCutBody, () => read(path, etag, at));
          if (piece === undefined) return false;
          await output.write(piece, 0, piece.byteLength, at);
          if (piece.byteLength < pieceBytes) return true;
        }
      } finally {
        await output.close();
      }
    },

    async announceAgain(path, etag) {
      try {
        await client.send(
          new CopyObjectCommand({
            Bucket: bucket,
            Key: keyOf(path),
            CopySource: copySource(bucket, keyOf(path)),
            CopySourceIfMatch: quoted(etag),
            MetadataDirective: "REPLACE", // S3 refuses a copy of an object onto itself that changes nothing.
            TaggingDirective: "REPLACE", // Copying tags would need an additional right.
            ServerSideEncryption: "AES256",
          }),
        );
        return true;
      } catch (error) {
        if (isMissing(error) || isPreconditionFailure(error)) return false;
        throw error;
      }
    },
  };

  /** Reads a piece, which is shorter at the end. Returns `undefined` if that content does not exist. */
  async function read(path: string, etag: string, at: number): Promise<Uint8Array | undefined> {
    try {
      const answer = await client.send(
        new GetObjectCommand({
          Bucket: bucket,
          Key: keyOf(path),
          IfMatch: quoted(etag),
          Range: `bytes=${at}-${at + pieceBytes - 1}`,
        }),
      );
      return (await answer.Body?.transformToByteArray()) ?? new Uint8Array(0);
    } catch (error) {
      if (isMissing(error) || isPreconditionFailure(error)) return undefined;
      if (isPastEnd(error)) return new Uint8Array(0);
      throw error;
    }
  }
}

/** Adds quotes to an ETag, which events contain without them. */
function quoted(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

export const inboxFiles = teamPort({
  uses: { s3: s3Client() },
  grants: { read: [objects("GetObject"), listBucket], write: [objects("PutObject")] },
  make: ({ s3 }, { config, team }) => createInboxFiles(s3, config.bucket, teamPrefix(team)),
});
