import { createHash } from "node:crypto";

export const contentOf = (key: string): string => `${key} ${createHash("sha256").update(key).digest("hex").repeat(20)}`;
