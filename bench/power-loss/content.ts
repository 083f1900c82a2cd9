import { createHash } from "node:crypto";

/** What is stored under a key: about 1.3 KB. */
export const contentOf = (key: string): string => `${key} ${createHash("sha256").update(key).digest("hex").repeat(20)}`;
