import type { Thing } from "../../fuzz/knowledge";

/** The app itself, or a server by its address. */
export interface Requested {
  request(path: string, init: RequestInit): Response | Promise<Response>;
}

/** An experiment with runs, files, a logged model and a registered one with two versions, made through the protocol itself. */
export async function furnish(app: Requested, round: number): Promise<readonly Thing[]> {
  const call: Call = async (path, body) =>
    JSON.parse(await taken(app, "POST", `/api/2.0/mlflow/${path}`, JSON.stringify(body)));
  const experiment_name = `experiment ${round}`;
  const { experiment_id } = await call("experiments/create", {
    name: experiment_name,
    tags: [{ key: "team", value: "a" }],
  });
  const things: Thing[] = [];
  for (const i of [0, 1]) {
    const { run } = await call("runs/create", { experiment_id, start_time: i, tags: [{ key: "team", value: "a" }] });
    const { run_id } = (run as unknown as { readonly info: { readonly run_id: string } }).info;
    const metrics = [0, 1, 2].flatMap((step) => [
      { key: "loss", value: step === 2 ? "NaN" : 1 / (step + 1), timestamp: step, step },
      { key: "val loss", value: step, timestamp: step, step },
    ]);
    await call("runs/log-batch", { run_id, metrics, params: [{ key: "depth", value: "3" }] });
    for (const path of ["model/MLmodel", "a/file.txt"]) await upload(app, run_id, path);
    things.push({ experiment_id, experiment_name, run_id });
  }
  const { run_id } = things[0]!;
  const { model } = await call("logged-models", {
    experiment_id,
    name: "a model",
    source_run_id: run_id,
    params: [{ key: "depth", value: "3" }],
    tags: [{ key: "team", value: "a" }],
  });
  const { model_id } = (model as unknown as { readonly info: { readonly model_id: string } }).info;
  const name = `model ${round}`;
  await call("registered-models/create", { name, tags: [{ key: "team", value: "a" }] });
  for (const version of ["1", "2"]) {
    await call("model-versions/create", { name, source: `runs:/${String(run_id)}/model`, run_id });
    things.push({ experiment_id, run_id, model_id, tag_key: "team", name, version });
  }
  await call("registered-models/alias", { name, alias: "blue", version: "2" });
  await call("model-versions/create", {
    name,
    source: `mlflow-artifacts:/${String(experiment_id)}/${String(run_id)}/artifacts/model`,
    run_id,
  });
  things.push({ experiment_id, run_id, model_id, tag_key: "team", name, version: "3" });
  const ofModel = `${String(experiment_id)}/models/${model_id}/artifacts`;
  await taken(app, "PUT", `/api/2.0/mlflow-artifacts/artifacts/${ofModel}/model/MLmodel`, "there");
  const parts = await begun(app, `${String(experiment_id)}/${String(run_id)}/artifacts`);
  return [...things, { experiment_id, run_id, ...parts }, ...(await doomed(call, round))];
}

type Call = (path: string, body: object) => Promise<Readonly<Record<string, never>>>;

/** For those who delete, rename and restore. */
async function doomed(call: Call, round: number): Promise<readonly Thing[]> {
  const name = `doomed ${round}`;
  const { experiment_id } = await call("experiments/create", { name });
  const { run } = await call("runs/create", { experiment_id });
  const { model } = await call("logged-models", { experiment_id, tags: [{ key: "team", value: "a" }] });
  await call("registered-models/create", { name });
  await call("registered-models/create", { name: `${name} too` });
  for (const _ of [1, 2]) await call("model-versions/create", { name, source: "s3://b/1" });
  const { run_id } = (run as unknown as { readonly info: { readonly run_id: string } }).info;
  const { model_id } = (model as unknown as { readonly info: { readonly model_id: string } }).info;
  const ids = { doomed_experiment_id: experiment_id, doomed_run_id: run_id, doomed_model_id: model_id };
  return [
    { ...ids, doomed_tag_key: "team", doomed_name: name, doomed_version: "1" },
    { ...ids, doomed_tag_key: "team", doomed_name: name, doomed_version: "2" },
    { doomed_name: `${name} too` },
  ];
}

/** An upload in parts of which the only part has been sent. */
async function begun(app: Requested, path: string): Promise<Thing> {
  const requested = JSON.stringify({ path: "parts.bin", num_parts: 1 });
  const text = await taken(app, "POST", `/api/2.0/mlflow-artifacts/mpu/create/${path}`, requested);
  const { upload_id, credentials } = JSON.parse(text) as {
    readonly upload_id: string;
    readonly credentials: readonly { readonly url: string }[];
  };
  const sent = await fetch(credentials[0]!.url, { method: "PUT", body: "there" });
  return { upload_id, etag: sent.headers.get("etag") };
}

async function upload(app: Requested, run: string, path: string): Promise<void> {
  const query = `run_uuid=${run}&path=${encodeURIComponent(path)}`;
  await taken(app, "POST", `/api/2.0/mlflow/upload-artifact?${query}`, "there");
}

async function taken(app: Requested, method: string, path: string, body: string): Promise<string> {
  const response = await app.request(path, { method, headers: { "content-type": "application/json" }, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text}`);
  return text;
}

/** Ids and names in an answer. */
export function thingsIn(answer: unknown, depth = 5): readonly Thing[] {
  if (answer === null || typeof answer !== "object" || depth === 0) return [];
  const members = answer as Readonly<Record<string, unknown>>;
  const thing: Record<string, unknown> = {};
  for (const key of ["run_id", "experiment_id", "model_id", "upload_id"]) {
    if (typeof members[key] === "string" && members[key] !== "") thing[key] = members[key];
  }
  const isModel = typeof members["name"] === "string" && members["creation_timestamp"] !== undefined;
  if (isModel && members["model_id"] === undefined) {
    thing["name"] = members["name"];
    if (typeof members["version"] === "string") thing["version"] = members["version"];
  }
  const inside = Object.values(members)
    .slice(0, 10)
    .flatMap((member) => thingsIn(member, depth - 1))
    .slice(0, 4);
  return Object.keys(thing).length > 0 ? [thing, ...inside] : inside;
}
