import type { GetObjectCommand, PutObjectCommand, S3Client, UploadPartCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { teamIncomingPrefix, teamPrefix } from "../../core/object-keys";

/** Seconds. Long enough for a shard over a slow line, short enough to limit what a stolen URL is good for. */
export const maxUrlSeconds = 900;

/**
 * Signs every URL that the platform gives out: for one method, one key under the team's prefixes, and fifteen minutes at most.
 *
 * @param signedHeaders which the sender must send as they were signed; the SDK would move them into the query, where they bind nothing
 */
export async function presign(
  client: S3Client,
  team: string,
  command: GetObjectCommand | PutObjectCommand | UploadPartCommand,
  {
    seconds = maxUrlSeconds,
    signedHeaders = [],
  }: { readonly seconds?: number; readonly signedHeaders?: string[] } = {},
): Promise<string> {
  const { Key = "" } = command.input;
  if (!Key.startsWith(teamPrefix(team)) && !Key.startsWith(teamIncomingPrefix(team)))
    throw new Error(`${Key} is not a key of team ${team}`);
  // The union of the commands is none of the overloads.
  const signed = command as GetObjectCommand;
  // Signed into the query, the checksum of the body that is not there yet would make S3 refuse every other body.
  signed.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { readonly headers: Record<string, string> };
      for (const name of Object.keys(headers)) {
        if (/^x-amz-(?:sdk-)?checksum-/i.test(name) && !signedHeaders.includes(name.toLowerCase()))
          delete headers[name];
      }
      return next(args);
    },
    { step: "build", priority: "low", name: "noChecksumOfNothing", override: true },
  );
  return getSignedUrl(client, signed, {
    expiresIn: Math.min(seconds, maxUrlSeconds),
    unhoistableHeaders: new Set(signedHeaders),
  });
}
