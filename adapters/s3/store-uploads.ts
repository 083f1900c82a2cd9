import { createReadStream } from "node:fs";
import { CorruptObjectError } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import type { ObjectStore, UploadPort } from "../../core/ports";

export function createStoreUploads(objects: ObjectStore): UploadPort {
  return {
    async missing(references) {
      const missing: string[] = [];
      for (const reference of references) {
        const claim = (await objects.hasContent(reference)) && (await objects.claimContent(reference.sha256));
        if (typeof claim !== "number") missing.push(reference.sha256);
      }
      return missing;
    },

    async put(reference, source) {
      const stored =
        "bytes" in source
          ? await objects.putContent(source.bytes)
          : await objects.putContentStream(() => createReadStream(source.path));
      if (stored.sha256 !== reference.sha256) {
        const was = `SHA-256 ${reference.sha256}`;
        throw new CorruptObjectError(objectKeys.content(reference.sha256), was, stored.sha256);
      }
    },
  };
}
