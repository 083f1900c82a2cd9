import { stringify } from "yaml";
import type { DataContract } from "./rules";

/**
 * Writes a contract as YAML, one rule on each line, without the values that are defaults.
 *
 * @param comment first line
 */
export function contractText({ rules }: DataContract, comment: string): string {
  const lines = rules.map((rule) => {
    const { severity, tolerance, ...rest } = rule as typeof rule & { readonly tolerance?: number };
    const stated = {
      ...rest,
      ...(tolerance === undefined || tolerance === 0 ? {} : { tolerance }),
      ...(severity === "block" ? {} : { severity }),
    };
    return `  - ${stringify(stated, { collectionStyle: "flow", lineWidth: 0 }).trim()}`;
  });
  const list = lines.length === 0 ? "rules: []" : `rules:\n${lines.join("\n")}`;
  return `# ${comment.replaceAll(/\s+/g, " ")}\n${list}\n`;
}
