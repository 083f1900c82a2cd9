import type { Warning } from "./shapes";

export type { Warning } from "./shapes";

/** Reads the warnings of a step's output. Outputs of earlier versions have only texts. */
export function warningsOf(output: unknown): readonly Warning[] {
  const { warnings } = (output ?? {}) as { readonly warnings?: unknown };
  if (!Array.isArray(warnings)) return [];
  return warnings.flatMap((one: string | Warning) => {
    if (typeof one === "string") return { code: "DATASET", message: one };
    return typeof one?.code === "string" && typeof one.message === "string"
      ? { code: one.code, message: one.message }
      : [];
  });
}
