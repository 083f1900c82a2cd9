import { createApp } from "../../../api/app";
import { registryOperations } from "../../../api/mlflow/operations";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";

const name = "secret";
const version = "1";

/** Requests of another team for each operation. The responses are those for missing things, or empty. */
const requested: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "GET /mlflow/registered-models/get": { name },
  "PATCH /mlflow/registered-models/update": { name, description: "theirs" },
  "POST /mlflow/registered-models/rename": { name, new_name: "theirs" },
  "DELETE /mlflow/registered-models/delete": { name },
  "POST /mlflow/registered-models/set-tag": { name, key: "a", value: "theirs" },
  "DELETE /mlflow/registered-models/delete-tag": { name, key: "secret" },
  "GET /mlflow/registered-models/get-latest-versions": { name },
  "POST /mlflow/registered-models/get-latest-versions": { name },
  "POST /mlflow/model-versions/create": { name, source: "s3://bucket/theirs" },
  "GET /mlflow/model-versions/get": { name, version },
  "PATCH /mlflow/model-versions/update": { name, version, description: "theirs" },
  "DELETE /mlflow/model-versions/delete": { name, version },
  "POST /mlflow/model-versions/transition-stage": { name, version, stage: "Archived" },
  "GET /mlflow/model-versions/get-download-uri": { name, version },
  "POST /mlflow/model-versions/set-tag": { name, version, key: "a", value: "theirs" },
  "DELETE /mlflow/model-versions/delete-tag": { name, version, key: "secret" },
  "POST /mlflow/registered-models/alias": { name, alias: "theirs", version },
  "DELETE /mlflow/registered-models/alias": { name, alias: "secret" },
  "GET /mlflow/registered-models/alias": { name, alias: "secret" },
};
const lists = ["GET /mlflow/registered-models/search", "GET /mlflow/model-versions/search"];

describe("another team and MLflow's registry", () => {
  let embedded: Embedded;
  let app: ReturnType<typeof createApp>;
  beforeAll(async () => {
    embedded = await startEmbedded();
    app = createApp(createTestPlatform(embedded).platform);
    const tags = [{ key: "secret", value: "1" }];
    await call("red", "POST /mlflow/registered-models/create", { name, description: "secret", tags });
    await call("red", "POST /mlflow/model-versions/create", { name, source: "s3://bucket/secret", tags });
    await call("red", "POST /mlflow/registered-models/alias", { name, alias: "secret", version });
  });
  afterAll(() => embedded.stop());

  async function call(team: string, route: string, fields: object) {
    const [method, path] = route.split(" ") as [string, string];
    const query = method === "GET" ? `?${new URLSearchParams(fields as Record<string, string>)}` : "";
    const response = await app.request(`/api/2.0${path}${query}`, {
      method,
      headers: { "content-type": "application/json", "x-ringmaster-team": team },
      ...(method === "GET" ? {} : { body: JSON.stringify(fields) }),
    });
    return { status: response.status, body: (await response.json()) as { readonly error_code?: string } };
  }

  it("are covered for every operation", () => {
    expect([...Object.keys(requested), ...lists, "POST /mlflow/registered-models/create"].sort()).toEqual(
      registryOperations.map(({ method, path }) => `${method} ${path}`).sort(),
    );
  });

  it.each(Object.entries(requested))("%s is as of what is nowhere", async (route, fields) => {
    const { status, body } = await call("blue", route, fields);
    expect([status, body.error_code]).toEqual([404, "RESOURCE_DOES_NOT_EXIST"]);
  });

  it.each(lists)("%s is empty", async (route) => {
    expect(await call("blue", route, {})).toEqual({ status: 200, body: {} });
  });

  it("may have a model of the same name, which is another", async () => {
    expect((await call("blue", "POST /mlflow/registered-models/create", { name })).status).toBe(200);
    expect((await call("blue", "GET /mlflow/model-versions/get", { name, version })).status).toBe(404);
    expect((await call("red", "GET /mlflow/registered-models/get", { name })).body).toMatchObject({
      registered_model: {
        description: "secret",
        latest_versions: [{ version: "1", current_stage: "None" }],
        tags: [{ key: "secret", value: "1" }],
        aliases: [{ alias: "secret", version: "1" }],
      },
    });
  });
});
