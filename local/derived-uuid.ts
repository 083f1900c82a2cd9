import { createHash } from "node:crypto";

export function derivedUuid(text: string): string {
  const digits = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
