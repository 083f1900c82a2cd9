import type * as z from "zod";

/** The shorter names of settings on the command line. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  maxVcpus: ["compute.cpu.maxVcpus", "compute.gpu.maxVcpus"],
  cpuInstanceClasses: ["compute.cpu.instanceClasses"],
  gpuInstanceClasses: ["compute.gpu.instanceClasses"],
};

/**
 * Replaces settings by CDK's context: `-c compute.gpu.maxVcpus=96`; lists have commas or are JSON. @returns the paths,
 * too
 */
export function withContext(
  settings: unknown,
  context: Readonly<Record<string, unknown>>,
  schema: z.ZodObject,
): { readonly settings: unknown; readonly overridden: ReadonlySet<string> } {
  let merged = settings;
  const overridden = new Set<string>();
  for (const [key, value] of Object.entries(context)) {
    for (const path of aliases[key] ?? [key]) {
      const parts = path.split(".");
      // The context also belongs to CDK and to plug-ins, so unknown names are skipped.
      if (!(parts[0]! in schema.shape)) continue;
      merged = setAt(merged, parts, readAs(schemaAt(schema, parts), value));
      overridden.add(path);
    }
  }
  return { settings: merged, overridden };
}

function setAt(target: unknown, [head, ...rest]: readonly string[], value: unknown): unknown {
  const object = typeof target === "object" && target !== null ? target : {};
  const old = (object as Record<string, unknown>)[head!];
  return { ...object, [head!]: rest.length === 0 ? value : setAt(old, rest, value) };
}

function readAs(schema: z.core.$ZodType | undefined, value: unknown): unknown {
  if (typeof value !== "string") return value;
  switch (schema?._zod.def.type) {
    case "number":
      return value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : value;
    case "array":
      return parsed(value) ?? value.split(",").map((item) => item.trim());
    case "string":
    case "enum":
    case "literal":
      return value;
    default:
      return parsed(value) ?? value;
  }
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** A setting's schema without wrappers; of a choice between objects, that of the first with the name. */
function schemaAt(schema: z.core.$ZodType, path: readonly string[]): z.core.$ZodType | undefined {
  const def = schema._zod.def as z.core.$ZodTypeDef & {
    readonly innerType?: z.core.$ZodType;
    readonly in?: z.core.$ZodType;
    readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
    readonly options?: readonly z.core.$ZodType[];
    readonly valueType?: z.core.$ZodType;
  };
  if (def.innerType) return schemaAt(def.innerType, path);
  const [head, ...rest] = path;
  if (head === undefined) return schema;
  if (def.options) return def.options.map((option) => schemaAt(option, path)).find((found) => found !== undefined);
  const next = def.shape?.[head] ?? def.valueType;
  return next && schemaAt(next, rest);
}
