import * as z from "zod";
import type { Deployment } from "../../adapters/platform";
import { createApp } from "../../api/app";
import { firstProblems } from "../../api/http/first-problems";
import { internalError } from "../../local/dynamodb/errors";
import { useTestApp } from "../support/app";

it("says that the disk is full, where a store says so", async () => {
  const error = internalError(new Error("IO error: /data/dynamodb/000003.log: No space left on device"));
  const registry = { list: () => Promise.reject(error) };
  const logger = { log: () => undefined, with: () => logger };
  const forTeam = () => ({ registry });
  const deployment = { forTeam, logger, clock: { now: () => 0 } } as unknown as Deployment;
  const response = await createApp(deployment).request("/api/v1/models");
  expect(response.status).toBe(507);
  expect(((await response.json()) as { error: unknown }).error).toMatchObject({
    code: "STORAGE_FULL",
    message: expect.stringMatching(
      /disk that holds the tables is full; nothing of it was stored.*send the request again/,
    ),
  });
});

describe("the limits of a request", () => {
  const { app } = useTestApp();
  let runId: string;
  beforeAll(async () => {
    const made = await send("/api/2.0/mlflow/runs/create", '{"experiment_id":"0"}');
    runId = (JSON.parse(made.text) as { run: { info: { run_id: string } } }).run.info.run_id;
  });

  async function send(path: string, body: string, method = "POST") {
    const response = await app.request(path, { method, headers: { "content-type": "application/json" }, body });
    return { status: response.status, text: await response.text() };
  }

  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const inObjects = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const list = (length: number, element: string) => `[${`${element},`.repeat(length - 1)}${element}]`;
  const shapes = Array.from({ length: 90_000 }, (_, i) => `{"k${i}":${i}}`).join(",");

  const bodies: readonly (readonly [string, (member: string) => string, string])[] = [
    ["5,000 levels of lists", (member) => `{"${member}":${nested(5_000)}}`, "at most 24 levels deep"],
    ["5,000 levels of objects", (member) => `{"${member}":${inObjects(5_000)}}`, "at most 24 levels deep"],
    ["25 levels", (member) => `{"${member}":${nested(24)}}`, "at most 24 levels deep"],
    ["8 MB of numbers", (member) => `{"${member}":${list(4_000_000, "0")}}`, "at most 100000 elements in one list"],
    ["lists of lists", (member) => `{"${member}":${list(400, list(1_000, "0"))}}`, "at most 310000 values"],
    ["90,000 kinds of objects", (member) => `{"${member}":[${shapes}]}`, "at most 80000 members in all its objects"],
    ["a text of 2 MB", (member) => `{"${member}":"${"x".repeat(2_000_000)}"}`, "at most 1048576 characters"],
  ];

  it.each(bodies)("MLflow's operations refuse %s by the name of the limit", async (_, body, rule) => {
    for (const member of ["metrics", "unknown"]) {
      for (const path of ["runs/log-batch", "runs/search"]) {
        const { status, text } = await send(`/api/2.0/mlflow/${path}`, body(member));
        expect([status, JSON.parse(text).error_code]).toEqual([400, "INVALID_PARAMETER_VALUE"]);
        expect(text).toContain(rule);
      }
    }
    // Old clients send their JSON as a JSON text.
    const { status } = await send("/api/2.0/mlflow/runs/log-batch", JSON.stringify(body("metrics")));
    expect(status).toBe(400);
  });

  it.each(bodies)("native operations refuse %s by the name of the limit", async (_, body, rule) => {
    for (const path of [`/runs/${runId}/metrics`, "/training-runs"]) {
      const { status, text } = await send(`/api/v1${path}`, body("series"));
      expect([status, JSON.parse(text).error.code]).toEqual([400, "INVALID_INPUT"]);
      expect(text).toContain(rule);
    }
  });

  it.each(['"x"', "true", "null", "0.5", '""'])(
    "a hundred thousand times %s is answered with a hundred problems",
    async (wrong) => {
      const column = list(100_000, wrong);
      const body = `{"series":[{"metric":"a","steps":${column},"values":${column}}]}`;
      const { status, text } = await send(`/api/v1/runs/${runId}/metrics`, body);
      expect(status).toBe(400);
      expect((JSON.parse(text) as { error: { details: { problems: unknown[] } } }).error.details.problems).toHaveLength(
        100,
      );
    },
  );

  it("takes a hundred thousand points in one call", async () => {
    const column = list(100_000, "1");
    const steps = `[${Array.from({ length: 100_000 }, (_, i) => i).join(",")}]`;
    const body = `{"series":[{"metric":"a","steps":${steps},"values":${column}}]}`;
    expect((await send(`/api/v1/runs/${runId}/metrics`, body)).status).toBe(200);
  });

  it("shows a refused value of 300,000 numbers in a thousand characters", async () => {
    const wrong = list(3, list(100_000, "1.5"));
    const { status, text } = await send("/api/2.0/mlflow/runs/log-batch", `{"run_id":${wrong}}`);
    expect(status).toBe(400);
    expect(text).toContain("Invalid value [[1.5,1.5,");
    expect(text.length).toBeLessThan(2_000);
  });

  it("refuses page parameters and documents in texts that are too deep", async () => {
    const page = await app.request(`/api/v1/pages/compare?runs=${nested(4_000)}`);
    expect(page.status).toBe(400);
    const token = encodeURIComponent(Buffer.from(`{"offset":${nested(4_000)}}`).toString("base64"));
    const search = await app.request(`/api/2.0/mlflow/registered-models/search?page_token=${token}`);
    expect(search.status).toBe(400);
    const model = JSON.stringify({ run_id: runId, model_json: inObjects(5_000) });
    expect((await send("/api/2.0/mlflow/runs/log-model", model)).status).toBe(400);
  });
});

describe("the first problems of a document", () => {
  const schema = z.strictObject({
    name: z.string().max(3),
    items: z.array(z.strictObject({ id: z.int(), tags: z.record(z.string().min(2), z.string()).optional() })).max(200),
    served: z.union([z.number(), z.array(z.number()).max(3), z.object({ a: z.array(z.int()) })]).optional(),
  });

  it.each<[string, unknown, readonly string[]]>([
    ["nothing of what keeps it", { name: "a", items: [{ id: 1, tags: { ab: "x" } }], served: { a: [1] } }, []],
    ["the member of a list", { name: "a", items: [{ id: 1 }, { id: "x" }] }, ["items[1].id"]],
    ["a list that is too long, and nothing in it", { name: "a", items: Array(201).fill(0) }, ["items"]],
    ["a key that is not known", { name: "a", items: [], more: 1 }, ["more"]],
    ["a key of a mapping", { name: "a", items: [{ id: 1, tags: { a: 1 } }] }, ["items[0].tags.a", "items[0].tags.a"]],
    ["a form of several", { name: "abcd", items: [], served: [1, 2, 3, 4] }, ["name", "served"]],
    ["another kind of value", [], [""]],
  ])("are %s", (_, value, paths) => {
    expect(firstProblems(schema, value).map(({ path }) => path)).toEqual(paths);
  });

  it("end at a hundred", () => {
    expect(firstProblems(schema, { name: "a", items: Array(150).fill({ id: "x" }) })).toHaveLength(100);
  });
});
