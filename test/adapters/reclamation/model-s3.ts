import {
  CopyObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { sha256 } from "../../../core/digest";
import type { ReclamationWorld } from "../../core/reclamation/world";

const failure = (name: string, httpStatusCode: number) =>
  new S3ServiceException({ name, $fault: "client", $metadata: { httpStatusCode }, message: name });

const checksumOf = (body: string): string => Buffer.from(sha256(body), "hex").toString("base64");

/** Serves the requests of a writer of content from the world's objects. */
export function createModelS3(world: ReclamationWorld, turn: () => Promise<void>): S3Client {
  const send = async (command: unknown): Promise<unknown> => {
    await turn();
    if (command instanceof HeadObjectCommand) {
      const found = world.stored.get(command.input.Key!);
      if (!found) throw failure("NotFound", 404);
      const { body, modified, version } = found;
      return {
        ...{ ContentLength: body.length, LastModified: new Date(modified), VersionId: version },
        ...{ ChecksumSHA256: checksumOf(body), ContentType: "text/plain" },
      };
    }
    if (command instanceof PutObjectCommand) {
      const { Key, Body, IfNoneMatch } = command.input;
      if (IfNoneMatch === "*" && world.stored.has(Key!)) throw failure("PreconditionFailed", 412);
      world.put(Key!, Buffer.from(Body as Uint8Array).toString());
      return {};
    }
    if (command instanceof CopyObjectCommand) {
      const { Key, CopySource = "" } = command.input;
      const found = world.stored.get(CopySource.slice(CopySource.indexOf("/") + 1));
      if (!found) throw failure("NoSuchKey", 404);
      world.put(Key!, found.body);
      return { CopyObjectResult: { ChecksumSHA256: checksumOf(found.body) } };
    }
    throw new Error("the model does not serve this command");
  };
  return { send } as unknown as S3Client;
}
