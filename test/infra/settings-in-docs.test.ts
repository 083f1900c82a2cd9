import { readFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { jobSchema } from "../../core/runs/job";
import { schema } from "../../infra/config/schema";
import { repository } from "./synthesized";

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

function has(at: JsonSchema, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  const choices = [...(at.anyOf ?? []), ...(at.oneOf ?? [])];
  if (choices.some((choice) => has(choice, [name, ...rest]))) return true;
  const next = Object.entries(at.properties ?? {}).flatMap(([key, value]) => {
    if (name === `${key}[]`) return value.items ?? [];
    return name === key || name === "*" ? value : [];
  });
  return next.some((one) => has(one, rest));
}

const jsonSchemaOf = (type: z.ZodType): JsonSchema =>
  z.toJSONSchema(type, { io: "input", unrepresentable: "any" }) as JsonSchema;
const schemas = [jsonSchemaOf(schema), jsonSchemaOf(jobSchema)];
const sections = schemas.flatMap(({ properties }) => Object.keys(properties ?? {}));

/**
 * Returns the names of settings on a page: in code quotes, dotted, and beginning with a section of the configuration or
 * of the job.
 */
function settingsIn(page: string): readonly string[] {
  const text = readFileSync(path.join(repository, page), "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) => code!.split(", "));
  const named = quoted.flatMap((code) => /^([a-zA-Z]+(?:\[\])?(?:\.[a-zA-Z*]+)+)(?::.*)?$/.exec(code)?.[1] ?? []);
  return named.filter((name) => sections.includes(name.split(/[.[]/)[0]!));
}

describe("settings that the documentation names", () => {
  it.each(["README.md", "docs/deploy.md", "docs/operations.md", "docs/security.md", "docs/jobs.md", "docs/gates.md"])(
    "%s: exist",
    (page) => {
      const unknown = settingsIn(page).filter((name) => !schemas.some((one) => has(one, name.split("."))));
      expect(unknown).toEqual([]);
    },
  );

  it("are found, and distinguished from others", () => {
    expect(settingsIn("docs/deploy.md")).toEqual(
      expect.arrayContaining(["compute.*.maxVcpus", "teams[].monthlyBudgetUsd", "network.zoneNames"]),
    );
    const [config] = schemas;
    expect(has(config!, ["compute", "gpu", "maxVcpus"])).toBe(true);
    expect(has(config!, ["compute", "gpu", "gpusPerInstance"])).toBe(false);
    expect(has(config!, ["teams[]", "weight"])).toBe(true);
  });
});
