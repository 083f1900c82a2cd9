import { GetObjectCommand, PutObjectCommand, type S3Client, type UploadPartCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { objectKeys, teamIncomingPrefix, teamPrefix } from "../../core/object-keys";
import type { ContentReference } from "../../core/shapes";
import { objects } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { s3Client } from "./object-store";

/** Maximum seconds of a URL: enough for a shard over a slow connection, and little use of a stolen URL. */
const maxUrlSeconds = 900;

/**
 * Presigns every URL that the platform issues. It is valid for one method, one key under the team's prefixes, and at
 * most fifteen minutes.
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

interface ContentUrls {
  /** Returns a URL for an upload. Headers and length are signed and must be sent unchanged: no other content fits. */
  forUpload(
    content: ContentReference,
  ): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }>;
  /**
   * Returns a URL for a download.
   * @param as the headers of the store's answer. By default the content is a file to save, which no browser displays.
   */
  forDownload(sha256: string, as?: DownloadedAs): Promise<string>;
}

interface DownloadedAs {
  readonly contentType: string;
  readonly disposition: string;
  /** The validity of the URL, at most 15 minutes. */
  readonly seconds?: number;
}

/** Data goes directly to and from the bucket, and clients need no credentials for it. */
export function createContentUrls(client: S3Client, bucket: string, team: string): ContentUrls {
  const keyOf = (sha256: string): string => `${teamPrefix(team)}${objectKeys.content(sha256)}`;
  return {
    async forUpload({ sha256, bytes }) {
      const headers = { "x-amz-checksum-sha256": Buffer.from(sha256, "hex").toString("base64") };
      const command = new PutObjectCommand({
        Bucket: bucket,
        Key: keyOf(sha256),
        ChecksumSHA256: headers["x-amz-checksum-sha256"],
        ContentLength: bytes,
      });
      return { url: await presign(client, team, command, { signedHeaders: Object.keys(headers) }), headers };
    },
    forDownload(sha256, as = { contentType: "application/octet-stream", disposition: "attachment" }) {
      const command = new GetObjectCommand({
        Bucket: bucket,
        Key: keyOf(sha256),
        ResponseContentType: as.contentType,
        ResponseContentDisposition: as.disposition,
      });
      return presign(client, team, command, { seconds: as.seconds });
    },
  };
}

/** URLs of contents. A signed URL has the rights of the role that signed it. */
export const contentUrls = teamPort({
  uses: { s3: s3Client() },
  grants: { download: [objects("GetObject")], upload: [objects("PutObject")] },
  make: ({ s3 }, { config, team }) => createContentUrls(s3, config.bucket, team),
});
