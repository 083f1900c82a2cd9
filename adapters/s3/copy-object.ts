import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  type S3Client,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { mapLimited } from "../../core/each-limited";
import { CorruptObjectError } from "../../core/object-documents";
import type { ContentReference } from "../../core/shapes";
import { translated } from "./service-errors";

/** The maximum size that S3 copies in one request. */
const maxCopyBytes = 5 * 1024 ** 3;
const pieceBytes = 1024 ** 3;
const piecesAtOnce = 4;

export function copySource(bucket: string, key: string): string {
  return `${bucket}/${key.split("/").map(encodeURIComponent).join("/")}`;
}

export interface CopyOptions {
  /** Size of the largest object that is copied in one request. */
  readonly largest?: number;
  readonly condition?: { readonly IfNoneMatch?: "*" };
}

/**
 * Copies an object within the bucket, in the store itself.
 * @throws CorruptObjectError if the store copied other bytes than `from` states
 */
export async function copyObject(
  client: S3Client,
  bucket: string,
  from: ContentReference & { readonly key: string; readonly contentType: string },
  to: string,
  { largest = maxCopyBytes, condition = {} }: CopyOptions = {},
): Promise<void> {
  const CopySource = copySource(bucket, from.key);
  const target = { Bucket: bucket, Key: to };
  if (from.bytes <= largest) {
    const { CopyObjectResult } = await translated(to, () =>
      client.send(
        new CopyObjectCommand({
          ...target,
          CopySource,
          ContentType: from.contentType,
          MetadataDirective: "REPLACE",
          TaggingDirective: "REPLACE", // Copying tags would need an additional right.
          ServerSideEncryption: "AES256",
          ChecksumAlgorithm: "SHA256",
          ...condition,
        }),
      ),
    );
    const copied = CopyObjectResult?.ChecksumSHA256;
    if (copied === undefined || copied === Buffer.from(from.sha256, "hex").toString("base64")) return;
    throw new CorruptObjectError(to, `SHA-256 ${from.sha256}`, Buffer.from(copied, "base64").toString("hex"));
  }
  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({ ...target, ContentType: from.contentType, ServerSideEncryption: "AES256" }),
  );
  const upload = { ...target, UploadId };
  const size = Math.min(pieceBytes, largest);
  const starts = Array.from({ length: Math.ceil(from.bytes / size) }, (_, i) => i * size);
  try {
    const Parts = await mapLimited([...starts.entries()], piecesAtOnce, async ([i, start]) => {
      const PartNumber = i + 1;
      const end = Math.min(start + size, from.bytes) - 1;
      const command = new UploadPartCopyCommand({
        ...upload,
        CopySource,
        PartNumber,
        CopySourceRange: `bytes=${start}-${end}`,
      });
      const { CopyPartResult } = await translated(to, () => client.send(command));
      return { PartNumber, ETag: CopyPartResult?.ETag };
    });
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts }, ...condition }));
  } catch (error) {
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}
