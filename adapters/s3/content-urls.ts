import { GetObjectCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { objectKeys, teamPrefix } from "../../core/platform/object-keys";

/** Long enough for a shard over a slow line, short enough to be of no use to a thief. */
const expirySeconds = 900;

export interface ContentUrls {
  /** Headers must be sent as they are: they are signed, and make the store refuse other content. */
  forUpload(sha256: string): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }>;
  /** @param as what the store is to say that it is, whatever it was put in as */
  forDownload(sha256: string, as?: DownloadedAs): Promise<string>;
}

/** Headers of the store's answer. */
export interface DownloadedAs {
  readonly contentType: string;
  readonly disposition: string;
  /** For how long the URL is good; 15 minutes unless said. */
  readonly seconds?: number;
}

/** Presigned URLs to a team's content store, so that data goes straight to the bucket and clients need no credentials for it. */
export function createContentUrls(client: S3Client, bucket: string, team: string): ContentUrls {
  const keyOf = (sha256: string): string => `${teamPrefix(team)}${objectKeys.content(sha256)}`;
  return {
    async forUpload(sha256) {
      const checksum = Buffer.from(sha256, "hex").toString("base64");
      const url = await getSignedUrl(
        client,
        new PutObjectCommand({ Bucket: bucket, Key: keyOf(sha256), ChecksumSHA256: checksum }),
        { expiresIn: expirySeconds, unhoistableHeaders: new Set(["x-amz-checksum-sha256"]) },
      );
      return { url, headers: { "x-amz-checksum-sha256": checksum } };
    },
    forDownload: (sha256, as) =>
      getSignedUrl(
        client,
        new GetObjectCommand({
          Bucket: bucket,
          Key: keyOf(sha256),
          ...(as && { ResponseContentType: as.contentType, ResponseContentDisposition: as.disposition }),
        }),
        { expiresIn: as?.seconds ?? expirySeconds },
      ),
  };
}
