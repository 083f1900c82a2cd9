import { type Document, isMap, parse } from "yaml";
import { type DataSource, dataSourceOf, dataSourceSchema } from "../datasets/data-source";
import { InvalidInputError, type Problem } from "../errors";
import { type Job, jobSchema } from "../runs/job";
import { parseFeatureView } from "../views/view-file";
import { parseYamlInput } from "../yaml-input";

/** A job file's content: the job, and the data that becomes a version of its dataset first. */
export interface JobFile {
  readonly job: Job;
  readonly dataSource?: DataSource;
}

/** The schema of a job file. The data's source is no part of the job: its version is. */
const jobFileSchema = jobSchema.safeExtend({ data_source: dataSourceSchema.optional() }).refine(() => false, {
  path: ["dataset"],
  when: ({ value }) => hasVersionAndSource(value),
  error: "must be the dataset's NAME where data_source is given, whose version the run uses",
});

function hasVersionAndSource(value: unknown): boolean {
  const { dataset, data_source: source } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return source !== undefined && typeof dataset === "string" && dataset.includes("@");
}

/**
 * Reads a job file.
 *
 * @param overrides `path=value` pairs, as in `--set resources.workers=3`; values are YAML
 * @param readView reads the file of a view that the job names, whose content becomes a part of the job
 * @throws InvalidInputError with every problem: line, path, value, rule
 */
export function parseJobFile(
  fileName: string,
  text: string,
  overrides: readonly string[] = [],
  readView?: (file: string) => string,
): JobFile {
  const settings = overrides.map(parseOverride);
  const { value } = parseYamlInput(fileName, text, jobFileSchema, (document) => {
    for (const { path, value } of settings) set(document, path, value);
    const view = document.getIn(["features", "view"]);
    if (readView && typeof view === "string") {
      document.setIn(["features", "view"], document.createNode(parseFeatureView(readView(view), view)));
    }
  });
  const { data_source: source, ...job } = value;
  return { job, ...(source === undefined ? {} : { dataSource: dataSourceOf(source) }) };
}

function parseOverride(text: string): { readonly path: readonly string[]; readonly value: unknown } {
  const at = text.indexOf("=");
  const path = text.slice(0, at).split(".");
  if (at < 1 || path.some((part) => part === ""))
    throw badOverride(text, "must be PATH=VALUE, e.g. resources.workers=3");
  try {
    return { path, value: parse(text.slice(at + 1)) };
  } catch (cause) {
    throw badOverride(text, "must have a YAML value after the =", cause);
  }
}

/** Creates sections that the file omits. A plain value on the path is an error of its own. */
function set(document: Document, path: readonly string[], value: unknown): void {
  for (let depth = 1; depth < path.length; depth += 1) {
    const section = path.slice(0, depth);
    const node: unknown = document.getIn(section, true);
    if (node === undefined || node === null) document.setIn(section, document.createNode({}));
    else if (!isMap(node))
      throw badOverride(`${path.join(".")}=…`, `cannot be set: ${section.join(".")} is not a mapping`);
  }
  document.setIn(path, value);
}

function badOverride(text: string, rule: string, cause?: unknown): InvalidInputError {
  const problems: readonly Problem[] = [{ path: "--set", value: text, rule }];
  return new InvalidInputError("the override is not valid", problems, cause);
}
