import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { describeRun } from "../../cli/run-description";
import { TestStack, toyCsv, toyJob, toySchema } from "./harness";

type Shown = ReturnType<typeof describeRun>;

interface FollowedEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: { readonly metrics: readonly { readonly points: readonly { readonly step: number }[] }[] };
}

async function* eventsOf(response: Response): AsyncGenerator<FollowedEvent> {
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const [id, event, data] = ["id", "event", "data"].map(field);
      if (event !== undefined) yield { ...(id === undefined ? {} : { id }), event, data: JSON.parse(data!) };
    }
  }
}

/** Two teams on one deployment with the same names for everything, through the commands that a person types. */
describe("two teams with the same dataset and the same model", () => {
  const stack = TestStack.of("vision");
  const as = <T>(team: string, ...args: string[]) => stack.json<T>(["--team", team, ...args], [0, 2]);
  const runs = new Map<string, Shown>();

  beforeAll(async () => {
    await stack.up();
  });
  afterAll(() => stack.remove());

  it("each trains on its own data, from the same names to the same version numbers", async () => {
    const job = stack.file("job.yaml", toyJob(6));
    const schema = stack.file("schema.yaml", toySchema);
    for (const [team, rows] of [
      ["vision", 1_200],
      ["audio", 900],
    ] as const) {
      const csv = stack.file(`${team}.csv`, toyCsv(rows));
      expect(await as(team, "datasets", "push", "toy", "--file", csv, "--schema", schema)).toMatchObject({
        created: true,
        version: 1,
        rowCount: rows,
      });
      const { runId } = await as<{ runId: string }>(team, "submit", job);
      runs.set(team, await as<Shown>(team, "runs", "watch", runId));
    }
    const [vision, audio] = [runs.get("vision")!, runs.get("audio")!];
    expect(vision.failure ?? audio.failure).toBeUndefined();
    expect([vision, audio].map(({ outcome }) => outcome?.decision)).toEqual(["registered", "registered"]);
    expect(vision.weightsSha256).not.toBe(audio.weightsSha256);
    expect(vision.metrics.map(({ metric }) => metric)).toContain("train/loss");
  }, 240_000);

  it("an identical run of the other team reuses nothing of the first one's", async () => {
    const csv = join(stack.directory, "vision.csv");
    const schema = join(stack.directory, "schema.yaml");
    await as("sound", "datasets", "push", "toy", "--file", csv, "--schema", schema);
    const { runId } = await as<{ runId: string }>("sound", "submit", join(stack.directory, "job.yaml"));
    const run = await as<Shown>("sound", "runs", "watch", runId);
    expect(run.reused).toEqual([]);
    expect(run.weightsSha256).toBe(runs.get("vision")!.weightsSha256);
  });

  it("neither sees, ends or decides about the other's", async () => {
    const { runId } = runs.get("vision")!;
    expect(await as("audio", "runs", "show", runId)).toMatchObject({ error: { code: "RUN_NOT_FOUND" } });
    expect(await as("audio", "runs", "cancel", runId)).toMatchObject({ error: { code: "RUN_NOT_FOUND" } });
    const listed = await as<{ runs: { runId: string }[] }>("audio", "runs", "list");
    expect(listed.runs.map((run) => run.runId)).toEqual([runs.get("audio")!.runId]);
    expect(await as("audio", "models", "approve", "toy", "1", "--wait")).toMatchObject({ stage: "production" });
    expect(await as("vision", "models", "show", "toy")).toMatchObject({
      versions: [{ runId, stage: "staging", approvals: [] }],
    });
    expect(await as("vision", "models", "resolve", "toy")).toMatchObject({ error: { code: "NO_CHAMPION" } });
    expect(await as("audio", "models", "resolve", "toy")).toMatchObject({
      version: 1,
      artifactUri: expect.stringContaining("/teams/audio/cas/sha256/"),
    });
    expect(await as("nobody", "models", "list")).toEqual({ models: [] });
  });

  it("follows a live run by events, across a cut line, to its end", async () => {
    const job = join(stack.directory, "job.yaml");
    const refused = "evaluation.thresholds.accuracy=1.1"; // ends without a person
    const { runId } = await as<{ runId: string }>("audio", "submit", job, "--no-cache", "--set", refused);
    const { api } = await stack.json<{ api: string }>(["status"]);
    const ask = (headers: Record<string, string>) =>
      fetch(`${api}/api/v1/training-runs/${runId}/metrics?metric=train/loss`, {
        headers: { "x-ringmaster-team": "audio", ...headers },
      });
    const steps: number[] = [];
    let lastId = "";
    let ended = false;
    for (let cuts = 0; !ended; cuts += 1) {
      const response = await ask({ accept: "text/event-stream", "last-event-id": lastId });
      for await (const { id, event, data } of eventsOf(response)) {
        if (event === "metrics") steps.push(...data.metrics[0]!.points.map(({ step }) => step));
        if (event === "end") expect(data).toMatchObject({ status: "completed" });
        lastId = id ?? lastId;
        ended = event === "end";
        if (event === "metrics" && cuts < 2) break; // hangs up
      }
    }
    const { points } = (await (await ask({})).json()) as { points: { step: number }[] };
    expect(steps).toEqual(points.map(({ step }) => step));
    expect((await ask({ accept: "text/event-stream", "last-event-id": lastId })).status).toBe(204);
  });

  it("refuses hooks to this machine, unless the stack was started to allow them", async () => {
    for (const url of ["http://127.0.0.1:9/", "http://localhost:9/", "https://[::1]/"]) {
      const { code, stderr } = await stack.run("notify", "set", "--url", url);
      expect([url, code, stderr]).toEqual([url, 2, expect.stringMatching(/--allow-loopback-hooks|no public address/)]);
    }
    const { code, stderr } = await stack.run("up", "--detach", "--allow-loopback-hooks");
    expect([code, stderr]).toEqual([2, expect.stringContaining("refuses hooks to this machine")]);
  });
});

it("refuses a token's name, lifetime or scope that is none, with every problem at once", async () => {
  const stack = new TestStack();
  try {
    const { code, stderr } = await stack.run("tokens", "create", "--expires", "10y", "--scope", "read,admin");
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /name.*1–200 printable ASCII.*--expires.*at most 366d.*--scope.*must be a list of read, write, approve/s,
      ),
    ]);
    for (const lifetime of ["0d", "367d", "8785h", "1.5d", "-1d", "never"]) {
      const refused = await stack.run("tokens", "create", "ann", `--expires=${lifetime}`);
      expect([lifetime, refused.code]).toEqual([lifetime, 2]);
    }
    expect(existsSync(join(stack.data, "tokens"))).toBe(false);
  } finally {
    await stack.remove();
  }
});

it("does not touch data of another layout", async () => {
  const stack = new TestStack();
  try {
    mkdirSync(join(stack.data, "dynamodb"), { recursive: true });
    const { code, stderr } = await stack.run("up", "--detach", "--port", "0", "--api-port", "0");
    expect(code).toBe(1);
    expect(stderr).toMatch(/holds data of layout unknown.*No data was changed.*--data DIRECTORY/s);
    expect(readdirSync(join(stack.data, "dynamodb"))).toEqual([]);
    expect(existsSync(join(stack.data, "s3"))).toBe(false);
  } finally {
    await stack.remove();
  }
});
