import { createHash } from "node:crypto";

/** Returns the content of a key: about 1.3 KB. */
export const contentOf = (key: string): string => `${key} ${createHash("sha256").update(key).digest("hex").repeat(20)}`;
