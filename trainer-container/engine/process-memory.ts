import os from "node:os";

/** Returns the memory in bytes that this process may take: the machine's, or its container's. */
export function processMemory(): number {
  const total = os.totalmem();
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, total) : total;
}
