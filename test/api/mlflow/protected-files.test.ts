import type { ArtifactOwner } from "../../../core/tracking/artifacts";
import { useTestApp } from "../../support/app";
import { createEvaluatedRun } from "../../support/evaluated-run";

const tree = "/api/2.0/mlflow-artifacts";

interface Target {
  readonly owner: ArtifactOwner;
  /** Path of the owner's files in the team's tree. */
  readonly folder: string;
  readonly path: string;
}
type Answer = { readonly status: number; readonly text: string };

describe("protected files", () => {
  const { platform, app, transfers } = useTestApp();
  const targets = new Map<string, Target>();
  const target = (name: string): Target => targets.get(name)!;

  beforeAll(async () => {
    await createEvaluatedRun(platform, "run-trained", { classes: ["a", "b"], labels: [0, 1], outputs: [0.1, 0.9] });
    const trained = { owner: { kind: "run", runId: "run-trained" }, folder: "1/run-trained/artifacts" } as const;
    targets.set("the weights of a training", { ...trained, path: "training/model/weights.safetensors" });

    for (const [name, path, source] of [
      ["a file of a version that was logged with a run", "model/weights.bin", "runs:/RUN/model"],
      [
        "a file of a version whose source is encoded",
        "model/weights.bin",
        "mlflow-artifacts:/0/RUN/artifacts/m%6Fdel?x=1",
      ],
      ["a file of a version that is one file", "model/weights.bin", "runs:/RUN/model/weights.bin"],
    ] as const) {
      const runId = await createRun();
      await put(`0/${runId}/artifacts/${path}`, "evaluated");
      await put(`0/${runId}/artifacts/plots/roc.png`, "a plot");
      await judged(name, { source: source.replace("RUN", runId), runId });
      targets.set(name, { owner: { kind: "run", runId }, folder: `0/${runId}/artifacts`, path });
    }

    const runId = await createRun();
    const logged = await json("/api/2.0/mlflow/logged-models", { experiment_id: "0", name: "m", source_run_id: runId });
    const modelId = logged.model.info.model_id;
    const folder = `0/models/${modelId}/artifacts`;
    await put(`${folder}/data/weights.bin`, "evaluated");
    await judged("original", { source: `models:/${modelId}`, loggedModelId: modelId });
    targets.set("a file of a logged model", {
      owner: { kind: "logged-model", modelId },
      folder,
      path: "data/weights.bin",
    });

    const copied = await createRun();
    await put(`0/${copied}/artifacts/model/weights.bin`, "evaluated");
    await register("first", { source: `runs:/${copied}/model`, runId: copied });
    await judged("copy", { source: "models:/first/1", runId: copied });
    targets.set("a file of a version whose copy was evaluated", {
      owner: { kind: "run", runId: copied },
      folder: `0/${copied}/artifacts`,
      path: "model/weights.bin",
    });
  });

  async function send(to: typeof app, method: string, path: string, body?: object | string): Promise<Answer> {
    const response = await to.request(path, {
      method,
      ...(typeof body === "object" ? { headers: { "content-type": "application/json" } } : {}),
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }
  async function json(path: string, body: object) {
    const { status, text } = await send(app, "POST", path, body);
    expect([status, text]).toEqual([status === 201 ? 201 : 200, text]);
    return JSON.parse(text);
  }
  const put = (path: string, body: string) => send(transfers, "PUT", `${tree}/artifacts/${path}`, body);
  const remove = (path: string) => send(transfers, "DELETE", `${tree}/artifacts/${path}`);
  const createRun = async (): Promise<string> =>
    (await json("/api/2.0/mlflow/runs/create", { experiment_id: "0" })).run.info.run_id;
  const register = (name: string, origin: object) => json("/api/v1/models/register", { name, metrics: {}, ...origin });
  async function judged(name: string, origin: object): Promise<void> {
    await register(name, origin);
    await json(`/api/v1/models/${encodeURIComponent(name)}/versions/1/judge`, {});
  }

  /** An upload whose parts are in the store, begun under a name that is free. */
  async function uploaded(): Promise<object> {
    const { upload_id, credentials } = await json(`${tree}/mpu/create/free`, { path: "f", num_parts: 1 });
    const { headers } = await fetch(credentials[0].url, { method: "PUT", body: "EVIL WEIGHTS" });
    return { upload_id, parts: [{ part_number: 1, etag: headers.get("etag"), url: credentials[0].url }] };
  }

  const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
  const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  const evil = "EVIL WEIGHTS";
  const attacks: Readonly<Record<string, (at: Target) => Promise<Answer>>> = {
    "a PUT": ({ folder, path }) => put(`${folder}/${path}`, evil),
    "a PUT through a function": ({ folder, path }) => send(app, "PUT", `${tree}/artifacts/${folder}/${path}`, evil),
    "a PUT of the pages' API": ({ folder, path }) =>
      send(app, "PUT", `/ajax-api/2.0/mlflow-artifacts/artifacts/${folder}/${path}`, evil),
    "a PUT through another prefix": ({ folder, path }) => put(`elsewhere/${folder}/${path}`, evil),
    "a PUT with two slashes": ({ folder, path }) => put(`${folder}//${path.replaceAll("/", "//")}`, evil),
    "a PUT with dots": ({ folder, path }) => put(`${folder}/%2e/${path}`, evil),
    "a PUT of an encoded path": ({ folder, path }) => put(`${folder}/${path.replaceAll("/", "%252F")}`, evil),
    "a PUT of encoded letters": ({ folder, path }) =>
      put(`${folder}/%${path.charCodeAt(0).toString(16)}${path.slice(1)}`, evil),
    "a PUT of a file below it": ({ folder, path }) => put(`${folder}/${path}/below`, evil),
    "a DELETE": ({ folder, path }) => remove(`${folder}/${path}`),
    "a DELETE of its directory": ({ folder, path }) => remove(`${folder}/${directoryOf(path)}/`),
    "a DELETE of all files of its owner": ({ folder }) => remove(folder),
    "a DELETE of the folder of its owner": ({ folder }) => remove(directoryOf(folder)),
    "a DELETE of its experiment": ({ folder }) => remove(folder.split("/")[0]!),
    "the begin of an upload in parts": ({ folder, path }) =>
      send(app, "POST", `${tree}/mpu/create/${folder}/${directoryOf(path)}`, { path: nameOf(path), num_parts: 1 }),
    "the end of an upload in parts": async ({ folder, path }) =>
      send(app, "POST", `${tree}/mpu/complete/${folder}/${directoryOf(path)}`, {
        path: `/home/me/${nameOf(path)}`,
        ...(await uploaded()),
      }),
  };
  /** Present for runs only. */
  const runAttacks: typeof attacks = {
    "an upload by a page": ({ owner, path }) =>
      send(app, "POST", `/api/2.0/mlflow/upload-artifact?run_uuid=${runIdOf(owner)}&path=${path}`, evil),
    "an upload by a page to an encoded path": ({ owner, path }) =>
      send(
        app,
        "POST",
        `/ajax-api/2.0/mlflow/upload-artifact?run_uuid=${runIdOf(owner)}&path=.%2F${path.replaceAll("/", "%252F")}`,
        evil,
      ),
    "the native API": async ({ owner, path }) => {
      const { sha256 } = await platform.objects.putContent(evil);
      return send(app, "POST", `/api/v1/runs/${runIdOf(owner)}/artifacts`, { artifacts: [{ path, sha256 }] });
    },
    "the native API, among others": async ({ owner, path }) => {
      const { sha256 } = await platform.objects.putContent(evil);
      const artifacts = ["free/a", path, "free/b"].map((each) => ({ path: each, sha256 }));
      return send(app, "POST", `/api/v1/runs/${runIdOf(owner)}/artifacts`, { artifacts });
    },
  };
  const runIdOf = (owner: ArtifactOwner): string => (owner.kind === "run" ? owner.runId : "");

  it.each([
    "the weights of a training",
    "a file of a version that was logged with a run",
    "a file of a version whose source is encoded",
    "a file of a version that is one file",
    "a file of a logged model",
    "a file of a version whose copy was evaluated",
  ])("are not changed by any request: %s", async (name) => {
    const { owner, path } = target(name);
    const before = await platform.artifacts.find(owner, path);
    expect(before).toBeDefined();
    const found: Record<string, unknown> = {};
    const tried = { ...attacks, ...(owner.kind === "run" ? runAttacks : {}) };
    for (const [attack, attempt] of Object.entries(tried)) {
      const { status, text } = await attempt(target(name));
      const body = text.startsWith("{") ? JSON.parse(text) : {};
      found[attack] = [status, body.error_code ?? body.error?.code];
      // In a directory with several owners' files, the first protected file is named.
      expect(JSON.stringify(body)).toMatch(/reserved for the output of the training|was evaluated/);
      expect(await platform.artifacts.find(owner, path)).toEqual(before);
    }
    const native = name.includes("training") ? "ARTIFACT_RESERVED" : "ARTIFACT_FROZEN";
    const expected = Object.keys(tried).map((attack) => [
      attack,
      [409, attack.startsWith("the native") ? native : "RESOURCE_CONFLICT"],
    ]);
    expect(found).toEqual(Object.fromEntries(expected));
    expect(await platform.artifacts.listAll(owner, "free")).toEqual([]);
  });

  it("include the path of a training's model: neither files nor a logged model are read in its place", async () => {
    const folder = "1/run-trained/artifacts";
    const at = (path: string): Target => ({ owner: { kind: "run", runId: "run-trained" }, folder, path });
    for (const [name, attack] of Object.entries({ ...attacks, ...runAttacks })) {
      if (name.includes("DELETE")) continue;
      const { status, text } = await attack(at("model/MLmodel"));
      expect([name, status, text]).toEqual([name, 409, expect.stringContaining("model/ is reserved for the output")]);
    }
    const model = { experiment_id: "1", name: "model" };
    const sourced = { ...model, source_run_id: "run-trained" };
    const other = (await json("/api/2.0/mlflow/logged-models", model)).model.info.model_id;
    for (const [path, body] of [
      ["logged-models", sourced],
      ["runs/outputs", { run_id: "run-trained", models: [{ model_id: other, step: 0 }] }],
    ] as const) {
      const { status, text } = await send(app, "POST", `/api/2.0/mlflow/${path}`, body);
      expect([path, status, text]).toEqual([path, 409, expect.stringContaining("model/ is reserved")]);
    }
    await json("/api/2.0/mlflow/logged-models", { ...sourced, name: "model2" });
    const version = { name: "own", source: "runs:/run-trained/model", run_id: "run-trained" };
    await json("/api/2.0/mlflow/registered-models/create", { name: "own" });
    const { text } = await send(app, "POST", "/api/2.0/mlflow/model-versions/create", version);
    expect(text).toContain("run run-trained is queued: only a completed run has a model to register");
  });

  it("leave the other files of a run to its clients", async () => {
    const { folder, owner } = target("a file of a version that was logged with a run");
    expect((await put(`${folder}/plots/roc.png`, "another plot")).status).toBe(200);
    expect((await put(`${folder}/model2/weights.bin`, "not evaluated")).status).toBe(200);
    expect((await remove(`${folder}/plots`)).status).toBe(200);
    const left = (await platform.artifacts.listAll(owner, "")).map(({ path }) => path);
    expect(left).toEqual(["model/weights.bin", "model2/weights.bin"]);
    expect((await put("1/run-trained/artifacts/notes.md", "notes")).status).toBe(200);
    expect((await put("1/run-trained/artifacts/exports/mlflow/MLmodel", evil)).status).toBe(409);
  });

  it("are all that lies among the exports, where content that is no manifest is not found", async () => {
    const { sha256 } = await platform.objects.putContent("no manifest");
    for (const name of ["run-trained/mlflow", sha256]) {
      expect((await put(`ringmaster-exports/${name}/MLmodel`, evil)).status).toBe(403);
      expect((await remove(`ringmaster-exports/${name}`)).status).toBe(403);
      expect((await send(transfers, "GET", `${tree}/artifacts/ringmaster-exports/${name}/MLmodel`)).status).toBe(404);
    }
  });

  it("are those of a deleted run, too", async () => {
    const runId = await createRun();
    await put(`0/${runId}/artifacts/a`, "kept");
    await json("/api/2.0/mlflow/runs/delete", { run_id: runId });
    for (const { status, text } of [
      await put(`0/${runId}/artifacts/a`, evil),
      await remove(`0/${runId}/artifacts/a`),
      await remove(`0/${runId}`),
    ]) {
      expect([status, text]).toEqual([409, expect.stringContaining("is deleted: restore it first")]);
    }
    await json("/api/2.0/mlflow/runs/restore", { run_id: runId });
    expect((await remove(`0/${runId}/artifacts/a`)).status).toBe(200);
  });

  it("are frozen in one instant: no request that is under way changes them after the version was judged", async () => {
    const runId = await createRun();
    const owner = { kind: "run", runId } as const;
    const at = (path: string) => `0/${runId}/artifacts/model/${path}`;
    await put(at("weights.bin"), "first");
    await register("raced", { source: `runs:/${runId}/model`, runId });
    let stopped = false;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      const answers: number[] = [];
      for (let i = 0; !stopped || i < 5; i += 1) answers.push((await put(at("weights.bin"), `${writer}-${i}`)).status);
      answers.push((await put(at(`new-${writer}`), "late")).status);
      return answers;
    });
    await json("/api/v1/models/raced/versions/1/judge", {});
    const judgedFiles = await platform.artifacts.listAll(owner, "model");
    stopped = true;
    const answers = await Promise.all(writers);
    expect(await platform.artifacts.listAll(owner, "model")).toEqual(judgedFiles);
    for (const each of answers) expect(each.at(-1)).toBe(409);
  });
});
