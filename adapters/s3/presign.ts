import type { GetObjectCommand, PutObjectCommand, S3Client, UploadPartCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { teamIncomingPrefix, teamPrefix } from "../../core/object-keys";

/**
 * The maximum validity of a URL in seconds. Long enough for a shard over a slow connection, and short enough to limit
 * the use of a stolen URL.
 */
const maxUrlSeconds = 900;

/**
 * Presigns every URL that the platform issues. It is valid for one method, one key under the team's prefixes, and at
 * most fifteen minutes.
 *
 * @param signedHeaders headers that the sender must send as signed; the SDK would move them into the query, where they
 * have no effect
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
  // The type of the union matches none of the overloads.
  const signed = command as GetObjectCommand;
  // The SDK would sign the checksum of an empty body into the query, and S3 would refuse every other body.
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
