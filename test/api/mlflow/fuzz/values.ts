import fc, { type Arbitrary } from "fast-check";
import type { Shape } from "../../../../api/mlflow/fields";
import { filterOf, orderOf, type Searched } from "./filters";
import { filePath } from "./paths";

/** The kinds of things that an operation's members name, as its path implies. */
export interface Sense {
  readonly searched: Searched;
  /** Whether `name` is that of something new. */
  readonly makes: boolean;
  /** Whether it deletes, renames or restores: what others name must not go by that. */
  readonly ends: boolean;
}

export function senseOf(method: string, path: string): Sense {
  const searched = path.includes("logged-models")
    ? "loggedModels"
    : path.includes("registered-models")
      ? "models"
      : path.includes("model-versions")
        ? "versions"
        : path.includes("experiments")
          ? "experiments"
          : "runs";
  return { searched, makes: /(experiments|registered-models)\/create$/.test(path), ends: endsThings(method, path) };
}

/** There are things for that, known as `doomed_…`. */
export function endsThings(method: string, path: string): boolean {
  return /\/(delete|restore|rename|update)$/.test(path) || (method === "DELETE" && path.endsWith("}"));
}

const keys = [
  "loss",
  "val loss",
  "depth",
  "a",
  "b/c",
  "team",
  "mlflow.runName",
  "mlflow.note.content",
  "mlflow.parentRunId",
];
const modelJson = JSON.stringify({
  run_id: "@{run_id}",
  artifact_path: "model",
  flavors: {},
  model_uuid: "m",
  utc_time_created: "now",
});
const sources = [
  "s3://b/1",
  "runs:/@{run_id}/model",
  "models:/@{model_id}",
  "models:/@{name}/1",
  "models:/@{name}@champion",
];

const mostly = (good: readonly unknown[], bad: readonly unknown[]): Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: fc.constantFrom(...bad) });

const ids: ReadonlySet<string> = new Set(["run_id", "experiment_id", "model_id", "name", "version"]);

/** Values that clients send, by the member's name; `@{run_id}` stands for a run's. */
function known(name: string, { searched, makes, ends }: Sense): Arbitrary<unknown> | undefined {
  if (ends && ids.has(name)) return fc.constant(`@{doomed_${name}}`);
  const singular = name.replace(/s$/, "");
  if (["run_id", "run_uuid", "source_run_id"].includes(name) || singular === "run_id") return fc.constant("@{run_id}");
  if (singular === "experiment_id") return fc.constant("@{experiment_id}");
  if (["experiment_name", "model_id", "version", "upload_id", "etag"].includes(name)) return fc.constant(`@{${name}}`);
  if (name === "name" && searched === "loggedModels") return fc.constant("a model");
  if (name === "name") return fc.constant(makes ? "@{fresh}" : "@{name}");
  if (name === "new_name") return fc.constant("@{fresh}");
  if (name === "alias") return mostly(["blue", "blue", "champion"], ["latest", "v1", "a/b"]);
  if (singular === "stage") return mostly(["Staging", "None", "Archived", "Production", "production"], ["Nowhere", ""]);
  if (/(^|_)key$/.test(name)) return fc.constantFrom(...keys);
  if (name === "filter") return filterOf(searched);
  if (name === "order_by") return orderOf(searched);
  if (name === "field_name") return orderOf(searched);
  if (name === "path" || name.endsWith("_path")) return filePath;
  if (name === "model_json") return mostly([modelJson], ["{}", "[]", "x"]);
  if (name === "source") return fc.constantFrom(...sources);
  if (name === "page_token") return mostly([""], ["@{page_token}", "x"]);
  if (["max_results", "num_parts", "expiration"].includes(name)) return mostly([1, 2, 100, "5"], [0, -1, 50_001]);
  if (name === "part_number") return mostly([1], [0, 2, 10_001]);
  if (["timestamp", "start_time", "end_time"].includes(name))
    return mostly([1, 1_700_000_000_000, "17"], [-1, 2 ** 53, 0.5]);
  if (["step", "start_step", "end_step"].includes(name)) return mostly([0, 1, 2, 100, "3", -5], [2 ** 53, 0.5]);
  return undefined;
}

const texts = fc.oneof(
  fc.constantFrom("a", "b", "FINISHED", "größer", ""),
  fc.string({ maxLength: 20, unit: "grapheme" }),
);

/** Values that keep a member's type. */
export function valuesFor(shape: Shape, name: string, sense: Sense): Arbitrary<unknown> {
  switch (shape.type) {
    case "list":
      return fc.array(valuesFor(shape.element, name, sense), { minLength: 1, maxLength: 3 });
    case "message":
      return objectOf(shape.members, sense, 0.97);
    case "enum":
      return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...shape.names) }, { weight: 1, arbitrary: fc.nat(5) });
    case "boolean":
      return fc.boolean();
    case "integer":
      return known(name, sense) ?? fc.oneof(fc.integer(), fc.integer().map(String));
    case "double":
      return fc.oneof(fc.double({ noNaN: true }), fc.constantFrom("NaN", "Infinity", "-Infinity", 0.5, "1e3"));
    case "text":
      return known(name, sense) ?? texts;
  }
}

/** @param share of the members that are there */
export function objectOf(
  members: Readonly<Record<string, Shape>>,
  sense: Sense,
  share: number,
): Arbitrary<Readonly<Record<string, unknown>>> {
  const each = Object.entries(members).map(([name, shape]) =>
    fc
      .tuple(fc.double({ min: 0, max: 1, noNaN: true }), valuesFor(shape, name, sense))
      .map(([chance, value]) => (chance <= share ? [[name, value] as const] : [])),
  );
  return fc.tuple(...each).map((found) => Object.fromEntries(found.flat()));
}
