import type { NumericsRecord } from "./shapes";

/**
 * The numerics record of a run: everything outside code, data and seed that determines the bits of its weights. Two
 * runs of one commit, dataset version and seed have identical weights only if `numericsDifferences` is empty.
 */

export interface NumericsDifference {
  readonly field: string;
  readonly left: string;
  readonly right: string;
}

/**
 * Returns the fields that determine bits, as `path → value`. WebAssembly computes the same on every processor of an
 * architecture, so the CPU is omitted there. The native library selects kernels by CPU features, or runs on the named
 * GPU.
 */
export function numericsIdentity(record: NumericsRecord): Readonly<Record<string, string>> {
  const identity: Record<string, string> = {
    backend: record.backend,
    device: record.device,
    "threads.intraOp": String(record.threads.intraOp),
    "threads.interOp": String(record.threads.interOp),
    // Initial weights use V8's log, sqrt and cos, which a major version may change.
    "node.major": record.node.split(".")[0] ?? record.node,
    platform: record.platform,
    arch: record.arch,
  };
  for (const [name, version] of Object.entries(record.libraries)) identity[`libraries.${name}`] = version;
  for (const [name, value] of Object.entries(record.switches)) identity[`switches.${name}`] = value;
  if (record.backend === "native") identity["cpu.features"] = [...record.cpu.features].sort().join(" ");
  if (record.gpu) {
    identity["gpu.model"] = record.gpu.model;
    identity["gpu.driver"] = record.gpu.driver;
  }
  return Object.fromEntries(Object.entries(identity).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns why two records do not imply identical weights; empty if they do. */
export function numericsDifferences(left: NumericsRecord, right: NumericsRecord): readonly NumericsDifference[] {
  const a = numericsIdentity(left);
  const b = numericsIdentity(right);
  return [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .sort()
    .filter((field) => a[field] !== b[field])
    .map((field) => ({ field, left: a[field] ?? "absent", right: b[field] ?? "absent" }));
}
