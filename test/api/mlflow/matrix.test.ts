import type { Shape } from "../../../api/mlflow/fields";
import type { MlflowOperation } from "../../../api/mlflow/operation";
import { mlflowOperations } from "../../../api/mlflow/operations";
import { useTestApp } from "../../support/app";
import { allRows } from "../../support/rows";

type Names = Readonly<
  Record<"run" | "experiment" | "experimentName" | "model" | "loggedModel" | "version" | "upload", string>
>;

const file = "its/file.txt";
/** Values by a field's name; all other fields get a value of their type. */
function named(name: string, names: Names): unknown {
  if (/^(?:source_)?run_(?:id|uuid)$/.test(name)) return names.run;
  if (name === "run_ids") return [names.run];
  if (name === "experiment_id") return names.experiment;
  if (name === "experiment_ids") return [names.experiment];
  if (name === "experiment_name") return names.experimentName;
  if (name === "model_id") return names.loggedModel;
  if (name === "name") return names.model;
  if (name === "version") return names.version;
  if (name === "upload_id") return names.upload;
  if (name === "source") return `runs:/${names.run}/its`;
  if (name === "path" || name.endsWith("_path")) return file;
  if (name === "model_json") {
    return JSON.stringify({ artifact_path: "a", flavors: {}, utc_time_created: "x", run_id: names.run });
  }
  return { alias: "seen", new_name: "another", stage: "Archived", page_token: "", filter: "", order_by: [] }[name];
}

function sample(shape: Shape, name: string, names: Names): unknown {
  const known = named(name, names);
  if (known !== undefined) return known;
  switch (shape.type) {
    case "text":
      return "1";
    case "boolean":
      return true;
    case "enum":
      return shape.names[0];
    case "list":
      return [sample(shape.element, name.replace(/s$/, ""), names)];
    case "message":
      return Object.fromEntries(
        Object.entries(shape.members).map(([member, inner]) => [member, sample(inner, member, names)]),
      );
    default:
      return 1;
  }
}

/** Requests of operations that read by themselves. */
const raw: Readonly<Record<string, (names: Names) => { readonly query?: string; readonly body?: string }>> = {
  "POST /mlflow/runs/search": ({ experiment }) => ({ body: JSON.stringify({ experiment_ids: [experiment] }) }),
  "GET /get-artifact": ({ run }) => ({ query: `run_id=${run}&path=${file}` }),
  "GET /model-versions/get-artifact": ({ model, version }) => ({
    query: `name=${model}&version=${version}&path=file.txt`,
  }),
  "GET /mlflow/logged-models/{model_id}/artifacts/files": () => ({ query: `artifact_file_path=${file}` }),
  "POST /mlflow/upload-artifact": ({ run }) => ({ query: `run_uuid=${run}&path=${file}`, body: "theirs" }),
  "PUT /mlflow-artifacts/artifacts/*": () => ({ body: "theirs" }),
  "DELETE /mlflow-artifacts/artifacts/*": () => ({}),
  "GET /mlflow-artifacts/artifacts/*": () => ({}),
  "GET /mlflow-artifacts/presigned/*": () => ({}),
  "GET /mlflow/server-info": () => ({}),
};

const nameOf = ({ method, path }: MlflowOperation): string => `${method} ${path}`;

describe("the matrix of MLflow's operations and another team's ids", () => {
  const { embedded, app, transfers } = useTestApp();
  let theirs: Names;
  let nothing: Names;
  let before: ReadonlyMap<string, string>;

  beforeAll(async () => {
    theirs = await furnish();
    nothing = {
      run: "0".repeat(32),
      experiment: "77777",
      experimentName: "no-experiment",
      model: "no-model",
      loggedModel: `m-${"0".repeat(32)}`,
      version: "1",
      upload: `${"0".repeat(8)}-0000-4000-8000-${"0".repeat(12)}.none`,
    };
    before = await rows("red");
    expect(before.size).toBeGreaterThan(10);
  });

  async function furnish(): Promise<Names> {
    const made = async (method: string, path: string, body: object | string): Promise<Record<string, never>> => {
      const response = await transfersOr(path).request(`/api/2.0${path}`, {
        method,
        headers: {
          "x-ringmaster-team": "red",
          ...(typeof body === "object" ? { "content-type": "application/json" } : {}),
        },
        body: typeof body === "object" ? JSON.stringify(body) : body,
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text}`);
      return text === "" ? {} : JSON.parse(text);
    };
    // Ids count up in each team: this one's is past those that the other team's requests make.
    for (let i = 0; i < 40; i += 1) await made("POST", "/mlflow/experiments/create", { name: `filler ${i}` });
    const experimentName = "their-experiment";
    const { experiment_id } = await made("POST", "/mlflow/experiments/create", { name: experimentName });
    const experiment = String(experiment_id);
    const { run } = await made("POST", "/mlflow/runs/create", { experiment_id });
    const runId = (run as unknown as { info: { run_id: string } }).info.run_id;
    const { model } = await made("POST", "/mlflow/logged-models", { experiment_id, name: "m", source_run_id: runId });
    const loggedModel = (model as unknown as { info: { model_id: string } }).info.model_id;
    const owned = "their-model";
    await made("PUT", `/mlflow-artifacts/artifacts/${experiment}/${runId}/artifacts/${file}`, "secret");
    await made("PUT", `/mlflow-artifacts/artifacts/${experiment}/models/${loggedModel}/artifacts/${file}`, "secret");
    await made("POST", "/mlflow/registered-models/create", { name: owned });
    const source = `mlflow-artifacts:/${experiment}/${runId}/artifacts/its`;
    await made("POST", "/mlflow/model-versions/create", { name: owned, source, run_id: runId });
    const { upload_id } = await made("POST", `/mlflow-artifacts/mpu/create/${experiment}`, { path: "f", num_parts: 1 });
    return {
      run: runId,
      experiment,
      experimentName,
      model: owned,
      loggedModel,
      version: "1",
      upload: String(upload_id),
    };
  }

  function transfersOr(path: string): typeof app {
    return path.startsWith("/mlflow-artifacts/artifacts/") || path.includes("artifact?") ? transfers : app;
  }

  async function ask(team: string, operation: MlflowOperation, names: Names) {
    const { method, path, version = 2, fields } = operation;
    const own = raw[nameOf(operation)]?.(names);
    // A new record must not have the name of one of the owner's.
    const known = /(?:experiments|registered-models)\/create$/.test(path) ? { ...names, model: "another" } : names;
    const values = Object.fromEntries(
      Object.entries(fields ?? {}).map(([name, field]) => [name, sample(field.shape, name, known)]),
    );
    const at = path
      .replaceAll(/\{(\w+)\}/g, (_, name: string) => String(named(name, names) ?? "seen"))
      .replace(/\*$/, `${names.experiment}/${names.run}/artifacts/${path.includes("/mpu/") ? "its" : file}`);
    const search = own
      ? own.query
      : method === "GET"
        ? new URLSearchParams(
            Object.entries(values).flatMap(([name, value]) =>
              [value].flat().map((one): [string, string] => [name, String(one)]),
            ),
          ).toString()
        : "";
    const body = own ? own.body : method === "GET" ? undefined : JSON.stringify(values);
    const url = `${version === "page" ? "" : `/api/${version}.0`}${at}${search ? `?${search}` : ""}`;
    const response = await transfersOr(path).request(url, {
      method,
      headers: { "x-ringmaster-team": team, "content-type": "application/json" },
      body,
    });
    return { status: response.status, text: await response.text() };
  }

  async function rows(team: string): Promise<ReadonlyMap<string, string>> {
    const kept = [...(await allRows(embedded))].filter(
      ([, text]) =>
        text.includes(`TEAM#${team}#`) || Object.values(theirs).some((one) => one.length > 8 && text.includes(one)),
    );
    return new Map(kept);
  }

  /** Without the names that were requested, and what differs in each answer. */
  function plain({ status, text }: { readonly status: number; readonly text: string }, names: Names): unknown {
    const parts = Object.entries(names)
      .filter(([name]) => name !== "version")
      .map(([, value]) => value)
      .sort((a, b) => b.length - a.length);
    const same = parts.reduce((changed, part) => changed.replaceAll(new RegExp(`\\b${part}\\b`, "g"), "…"), text);
    return [
      status,
      same.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,}|\d{10,}|X-Amz-[^"&]*|(?<="experiment_id":")\d+/g, "#"),
    ];
  }

  it("has a request for each operation that reads by itself", () => {
    const own = mlflowOperations.filter(({ fields }) => fields === undefined).map(nameOf);
    expect(own.filter((name) => raw[name] === undefined)).toEqual([]);
  });

  it("reaches the owner's things with the same requests", async () => {
    const reads = mlflowOperations.filter(({ method, path }) => method === "GET" && !path.includes("search"));
    const answers = [];
    for (const operation of reads) answers.push([nameOf(operation), (await ask("red", operation, theirs)).status]);
    const missed = answers.filter(([, status]) => Number(status) >= 400).map(([name]) => name);
    expect(missed).toEqual(["GET /mlflow/registered-models/alias"]);
  });

  it.each(mlflowOperations.map((operation) => [nameOf(operation), operation] as const))(
    "%s answers another team as if the ids were nobody's",
    async (_, operation) => {
      const given = await ask("blue", operation, theirs);
      const absent = await ask("blue", operation, nothing);
      expect(given.text).not.toContain("secret");
      // The second request finds what the first one made.
      if (given.status === 200 && absent.status === 400 && absent.text.includes("RESOURCE_ALREADY_EXISTS")) return;
      expect(plain(given, theirs)).toEqual(plain(absent, nothing));
    },
  );

  it.each(["x", "9", "é", "a/", "%"])("no operation fails on names of 3,000 times %j", async (letter) => {
    const long = letter.repeat(3_000);
    const names = Object.fromEntries(Object.keys(theirs).map((name) => [name, long])) as Names;
    const failed = [];
    for (const operation of mlflowOperations) {
      const { status, text } = await ask("blue", operation, names);
      if (status >= 500) failed.push([nameOf(operation), status, text.slice(0, 200)]);
    }
    expect(failed).toEqual([]);
  });

  it("no request of another team has changed, added or removed a row of the owner's", async () => {
    const after = await rows("red");
    for (const [key, text] of before) expect([key, after.get(key)]).toEqual([key, text]);
    expect([...after.keys()].filter((key) => !before.has(key) && key.includes("TEAM#red#"))).toEqual([]);
  });
});
