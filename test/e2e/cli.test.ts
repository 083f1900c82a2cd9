import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { InboxReport } from "../../core/datasets/inbox/shapes";
import type { DatasetVersion } from "../../core/datasets/shapes";
import { sha256 } from "../../core/digest";
import type { DriftReport } from "../../core/drift/shapes";
import type { RunDetails } from "../../core/runs/shapes";
import { TestStack, toyCsv, toyJob, toySchema, until } from "./harness";
import { killPushes } from "./push-kills";

describe("the command line", () => {
  const stack = TestStack.of("clerks");
  beforeAll(() => stack.up());
  afterAll(() => stack.remove());

  it("shows a version whole or not at all if its push is killed, and a repetition makes the same version", async () => {
    const killed = await killPushes(stack);
    expect(killed.length).toBeGreaterThan(0);
    // Most of the command's life is work in the folder, so that of twenty kills some interrupt it.
    if (killed.length >= 20) expect(killed.some(({ left }) => left.length > 0)).toBe(true);
    for (const { visible, lacking, repeated, undisturbed, folders } of killed) {
      expect([repeated, lacking, folders]).toEqual([undisturbed, [], []]);
      expect([[], [undisturbed]]).toContainEqual(visible);
    }
  });

  describe("runs artifacts get", () => {
    const contents = new Map<string, Buffer>([
      ["empty.txt", Buffer.alloc(0)],
      ["note.txt", Buffer.from("a line\nand ünïcödé\n")],
      ["deep/er/weights.bin", randomBytes(7_654_321)],
    ]);
    let runId = "";

    beforeAll(async () => {
      for (const [name, content] of contents) {
        mkdirSync(join(stack.directory, "files", name, ".."), { recursive: true });
        writeFileSync(join(stack.directory, "files", name), content);
      }
      const made = await stack.as<{ run: { runId: string } }>("ada", "POST", "/runs", { experiment: "files" });
      runId = made.body.run.runId;
      const put = await stack.run("runs", "artifacts", "put", runId, join(stack.directory, "files"), "--path", "kept");
      expect(put).toMatchObject({ code: 0, stderr: "" });
    });

    function emptyDirectory(name: string): string {
      const directory = join(stack.directory, name);
      mkdirSync(directory);
      return directory;
    }
    const get = (name: string, file: string, ...rest: readonly string[]) =>
      stack.run("runs", "artifacts", "get", runId, name, "--output", file, ...rest);

    it("writes every file byte by byte, and nothing next to it", async () => {
      const directory = emptyDirectory("whole");
      for (const [name, content] of contents) {
        const file = join(directory, "got");
        const { code, stdout } = await get(`kept/${name}`, file);
        expect([name, code, stdout.startsWith(file)]).toEqual([name, 0, true]);
        expect([name, readFileSync(file).equals(content)]).toEqual([name, true]);
        expect(readdirSync(directory)).toEqual(["got"]);
      }
    });

    it.each([
      ["in a directory that does not exist", () => join(stack.directory, "absent", "got"), "ENOENT"],
      ["below a file", () => join(stack.directory, "files", "note.txt", "got"), "ENOTDIR"],
      ["that is a directory", () => join(stack.directory, "files"), "not a regular file"],
    ])("refuses a target %s", async (_case, target, reason) => {
      const before = readdirSync(stack.directory, { recursive: true });
      const { code, stderr } = await get("kept/note.txt", target());
      expect(code).toBe(2);
      expect(stderr).toContain(target());
      expect(stderr).toContain(reason);
      expect(stderr).toContain("--output");
      expect(readdirSync(stack.directory, { recursive: true })).toEqual(before);
    });

    it.each([
      ["other bytes than the digest says", 200, "other bytes", "digest"],
      ["an error", 503, "busy", "503"],
      ["fewer bytes than announced", 200, undefined, "could not be read to its end"],
    ])("keeps the old file where the store gives %s", async (_case, status, body, reason) => {
      const content = contents.get("note.txt")!;
      const server = createServer((request, response) => {
        if (!request.url?.startsWith("/api/")) {
          response.writeHead(status, body === undefined ? { "content-length": "100" } : {});
          if (body !== undefined) response.end(body);
          else response.write("a line", () => response.destroy());
          return;
        }
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/content`;
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ path: "note.txt", url, sha256: sha256(content), bytes: content.length }));
      }).listen(0, "127.0.0.1");
      try {
        await new Promise((listening) => server.once("listening", listening));
        const directory = emptyDirectory(`damaged-${reason.replaceAll(" ", "-")}`);
        const file = join(directory, "got");
        const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const fresh = await get("note.txt", file, "--api", api);
        expect([fresh.code, existsSync(file)]).toEqual([1, false]);
        expect(fresh.stderr).toContain(reason);
        writeFileSync(file, "an earlier download");
        expect((await get("note.txt", file, "--api", api)).code).toBe(1);
        expect(readFileSync(file, "utf8")).toBe("an earlier download");
        expect(readdirSync(directory)).toEqual(["got"]);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  });

  describe("up over a running stack", () => {
    const up = (...options: readonly string[]) => stack.run("up", "--detach", ...options);
    const portsOf = async () => {
      const running = await stack.json<{ endpoint: string; api: string; pid: number }>(["status"]);
      return { ...running, port: new URL(running.endpoint).port, apiPort: new URL(running.api).port };
    };

    it("prints it where no port, the same ports, or port 0 is given", async () => {
      const { pid, api, endpoint, port, apiPort } = await portsOf();
      for (const options of [[], ["--port", port, "--api-port", apiPort], ["--port", "0", "--api-port", "0"]]) {
        const { code, stdout } = await up(...options);
        expect([code, stdout]).toEqual([0, expect.stringContaining(`API ${api}, AWS endpoint ${endpoint}`)]);
        expect(stdout).toContain(`pid ${pid}`);
      }
    });

    it.each(["--port", "--api-port"] as const)("refuses another %s and names both", async (option) => {
      const before = await portsOf();
      const { code, stdout, stderr } = await up(option, "4999");
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`${option} is "4999"`);
      expect(stderr).toContain(`listens on ${option === "--port" ? before.port : before.apiPort}`);
      expect(stderr).toContain(`ringmaster down --data ${stack.data}`);
      expect(await portsOf()).toEqual(before);
    });

    it("refuses --auth where calls need no token", async () => {
      const { code, stderr } = await up("--auth");
      expect(code).toBe(2);
      expect(stderr).toMatch(/--auth .*without a token.*ringmaster down/);
      expect(existsSync(join(stack.data, "tokens"))).toBe(false);
    });
  });

  it("warns of duplicates and leakage at the push, in the dataset, while the run is watched, and on its page", async () => {
    const [head, ...rows] = toyCsv(120).split("\n");
    const csv = stack.file("leaky.csv", [head, ...rows, ...rows].join("\n"));
    const schema = stack.file("schema.yaml", toySchema);
    const duplicates = "50.0 % of the rows repeat another row in every column";
    const leakage = "of the test rows are also in the training split";
    const pushed = await stack.run("datasets", "push", "leaky", "--file", csv, "--schema", schema);
    expect(pushed.stdout).toMatch(new RegExp(`^warning: ${duplicates}.*\\nwarning: .*${leakage}`, "m"));
    const { version } = await stack.json<{ version: DatasetVersion }>(["datasets", "show", "leaky"]);
    expect(version.warnings?.map(({ code }) => code)).toEqual(["DUPLICATE_ROWS", "LEAKED_TEST_ROWS"]);
    const { stdout } = await stack.run("datasets", "show", "leaky");
    expect(stdout).toContain(`warning: ${duplicates}`);
    expect(stdout).toMatch(/^created 2\d{3}-.* by \S.*\nfiles +ringmaster lineage dataset leaky@1$/m);
    expect(stdout).toMatch(/MAX +HISTOGRAM/);

    const job = stack.file("leaky.yaml", toyJob(1));
    const waited = await stack.run("submit", job, "--wait", "--set", "dataset=leaky");
    expect(waited.stdout).toContain(`warning: ${duplicates}`);
    const runId = /run-[0-9a-f]{16}/.exec(waited.stdout)![0];
    expect((await stack.run("runs", "show", runId)).stdout).toMatch(new RegExp(`^warning +${duplicates}`, "m"));
    const shown = await stack.json<{ warnings: object[] }>(["runs", "show", runId]);
    expect(shown.warnings).toEqual(version.warnings);
    const page = join(stack.directory, "leaky.html");
    await stack.run("runs", "page", runId, "--html", page);
    expect(readFileSync(page, "utf8")).toContain(duplicates);
  });

  it("names the rare values where stratifying leaves a split without rows", async () => {
    const csv = stack.file("ids.csv", `x,y\n${Array.from({ length: 200 }, (_, i) => `${i / 2},${i}`).join("\n")}\n`);
    const schema = stack.file(
      "ids.yaml",
      "columns:\n  - { name: x, type: float }\n  - { name: y, type: int, role: label }\n",
    );
    const { code, stderr } = await stack.run("datasets", "push", "ids", "--file", csv, "--schema", schema);
    expect(code).toBe(2);
    expect(stderr).toContain("leaves validation and test without rows: the split is stratified");
    expect(stderr).toContain("0 has 1 row, 1 has 1 row, 2 has 1 row, and 197 more values");
    expect(stderr).toContain("set split.stratifyBy");
  });

  it("says on Ctrl-C that a run continues, and how to watch and to cancel it", async () => {
    const csv = stack.file("toy.csv", toyCsv(300));
    await stack.json(["datasets", "push", "toy", "--file", csv, "--schema", stack.file("schema.yaml", toySchema)]);
    const job = stack.file("job.yaml", toyJob(10_000));
    const isRunId = /^run-[0-9a-f]{16}$/m;

    const submit = stack.start("submit", job, "--wait");
    const runId = await until("the run's id", async () => {
      expect(submit.output.stderr).toBe("");
      return isRunId.exec(submit.output.stdout)?.[0];
    });
    submit.child.kill("SIGINT");
    const hints = new RegExp(
      `${runId} continues.*\n.*ringmaster runs watch ${runId}\n.*ringmaster runs cancel ${runId}\n`,
    );
    expect(await submit.ended).toMatchObject({ code: 130, stderr: expect.stringMatching(hints) });

    const watch = stack.start("runs", "watch", runId);
    await until("a line about the run", async () => watch.output.stdout || undefined);
    watch.child.kill("SIGINT");
    expect(await watch.ended).toMatchObject({ code: 130, stderr: expect.stringMatching(hints) });

    expect((await stack.json<{ status: string }>(["runs", "show", runId])).status).toBe("running");
    await stack.json(["runs", "cancel", runId]);
    await until("the end", async () => {
      const { status } = await stack.json<{ status: string }>(["runs", "show", runId]);
      return status === "killed" ? status : undefined;
    });
  }, 240_000);

  it("makes a version of the data that a job names, once, and runs on it", async () => {
    mkdirSync(join(stack.directory, "sourced", "data"), { recursive: true });
    stack.file("sourced/data/a.csv", toyCsv(300));
    const named = (source: string) => toyJob(1).replace("dataset: toy", `dataset: sourced\ndata_source: ${source}`);
    const job = stack.file("sourced/job.yaml", named("data/*.csv"));
    const submit = (...more: readonly string[]) =>
      stack.json<{ runId: string; dataset: { name: string; version: number } }>(["submit", job, ...more]);

    const unlabelled = await stack.run("submit", job);
    expect(unlabelled).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--label is required: there is no .*schema/),
    });
    stack.file("sourced/job.yaml", named("{ path: data/*.csv, label: label }"));
    const first = await submit();
    expect(first.dataset).toMatchObject({ name: "sourced", version: 1 });
    stack.file("sourced/data/b.csv", toyCsv(30));
    const { stderr } = await stack.run("submit", job);
    expect(stderr).toMatch(/^sourced@2 \(new version\)$/m);

    // Each source of a group is pushed once.
    stack.file("sourced/job.yaml", named("{ path: data/a.csv, schema: data/sourced.schema.yaml }"));
    const group = await stack.json<{ runs: { run: typeof first }[] }>([
      ...["submit", job, "--set", "model.hidden=[4],[8]", "--set", "seed=1"],
    ]);
    for (const verb of ["list", "search"]) {
      const { stdout: shown } = await stack.run("runs", verb);
      for (const name of ["model.hidden=[4]", "model.hidden=[8]"]) expect(shown).toContain(`  ${name}  `);
    }
    // The rows are those of the first file.
    expect(group.runs.map(({ run }) => run.dataset.version)).toEqual([1, 1]);
    const lineage = await stack.run("lineage", "dataset", "sourced@1");
    const newest = await stack.run("lineage", "dataset", "sourced");
    // The run that uses the version may complete between the two calls.
    const [files] = newest.stdout.split("used by");
    expect((await stack.run("lineage", "dataset", "sourced@latest")).stdout).toContain(files);
    expect(lineage.stdout).toMatch(/file [0-9a-f]{12} {2}a\.csv, rows 0–299/);

    mkdirSync(join(stack.directory, "sourced", "parts", "year=2026"), { recursive: true });
    stack.file("sourced/parts/year=2026/a.csv", toyCsv(300));
    const parts = join(stack.directory, "sourced", "parts");
    const script = ["--transform", "prepare.py of commit 3f2a1c"];
    await stack.json(["datasets", "push", "parts", "--file", parts, "--label", "label", ...script]);
    const { stdout: made } = await stack.run("lineage", "dataset", "parts@1");
    expect(made).toContain("year=2026/a.csv, made by prepare.py of commit 3f2a1c, rows 0–299");

    // The price of a later month happens to be whole: it stays a float, as the newest version has it.
    const month = (name: string, price: (i: number) => number) => {
      const rows = Array.from({ length: 60 }, (_, i) => `${price(i)},${"abc"[i % 3]},${i % 2 ? "yes" : "no"}`);
      stack.file(`sourced/${name}.csv`, `price,shop,sold\n${rows.join("\n")}\n`);
      const file = join(stack.directory, "sourced", `${name}.csv`);
      return stack.run("datasets", "push", "months", "--file", file, "--label", "sold");
    };
    expect((await month("january", (i) => i / 4)).code).toBe(0);
    expect(await month("february", (i) => i)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^months@2/) });
    stack.file(
      "sourced/march.schema.yaml",
      readFileSync(join(stack.directory, "sourced", "february.schema.yaml"), "utf8").replace("float", "int"),
    );
    expect((await month("march", (i) => 2 * i)).stdout).toMatch(
      /those of months@2, which no run has read: column price was float and is int/,
    );

    const before = await stack.json<{ datasets: unknown[] }>(["datasets", "list"]);
    const wrong = stack.file(
      "sourced/wrong.yaml",
      named("{ path: 's3://ada:secret@bucket/a.csv' }")
        .replace("dataset: sourced", "dataset: fresh@1")
        .replace("seed: 3", "seed: x"),
    );
    const refused = await stack.run("submit", wrong);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/line 2: dataset.*line 3: data_source\.path is "s3:\/\/ada:\*\*\*@bucket.*seed/s),
    });
    expect(refused.stderr).not.toContain("secret");
    const trigger = await stack.run("triggers", "create", "--on", "dataset:sourced", "--job", job);
    expect(trigger).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/data_source must be left out of a trigger's job/),
    });
    const odd = `${named("{ path: data/*.csv, label: label }").replace("dataset: sourced", "dataset: odd")}\ndrop: [nope]\n`;
    const unknown = await stack.run("submit", stack.file("sourced/odd.yaml", odd));
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/drop\.0 is "nope", but must be a feature column/),
    });
    expect(await stack.json(["datasets", "list"])).toEqual(before);
  }, 240_000);

  it("measures the drift between two versions, with a page, and fails on request", async () => {
    const schema = stack.file("drift.yaml", toySchema);
    const push = (name: string, text: string) =>
      stack.json(["datasets", "push", "drift", "--file", stack.file(name, text), "--schema", schema]);
    await push("before.csv", toyCsv(400));
    await push(
      "after.csv",
      toyCsv(400).replace(/^(-?[0-9.]+),/gm, (_all, x: string) => `${Number(x) + 1},`),
    );
    const page = join(stack.directory, "drift.html");
    const report = await stack.json<DriftReport>(["datasets", "drift", "drift@1", "drift@2", "--html", page]);
    expect(report).toMatchObject({ severity: "critical", rows: { baseline: 400, current: 400 }, schema: [] });
    expect(report.columns.filter(({ severity }) => severity).map(({ column }) => column)).toEqual(["x1"]);
    expect(readFileSync(page, "utf8")).toMatch(/<h1>drift@2 against drift@1<\/h1>.*critical.*distribution of x1/s);
    const failing = await stack.run("datasets", "drift", "drift@1", "drift@2", "--fail-on", "warning");
    expect(failing).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/critical drift\n(.*\n)+.*x1 +\S* *feature +critical/),
    });
    const equal = await stack.run("datasets", "drift", "drift@2", "drift@2", "--fail-on", "warning");
    expect(equal).toMatchObject({ code: 0, stdout: expect.stringContaining("no drift") });
    const refused = await stack.run("datasets", "drift", "drift@1", "drift", "--psi", "-1", "--level", "much");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/--level.*--psi/s) });
    expect((await stack.run("datasets", "drift", "drift@1", "drift@9")).code).toBe(2);
  });

  it("stores features by file and by event, joins them with labels, and reads them", async () => {
    const view = stack.file(
      "spend.yaml",
      "name: spend\nowner: growth\nentities: [customer]\neventTime: at\ncreationTime: known\n" +
        "columns: {customer: int, at: timestamp, known: timestamp, spend: float}\nsteps:\n  - {kind: log, column: spend}\n" +
        "  - {kind: window, column: spend, aggregate: sum, over: 2000d, name: total}\n",
    );
    const rows = stack.file(
      "spend.csv",
      "customer,at,known,spend\n1,2026-01-01,,10\n1,2026-01-05,2026-01-10,20\n2,2026-01-02,,\n",
    );
    const ingest = () => stack.json<{ created: boolean }>(["views", "ingest", "spend", "--file", rows]);
    const get = async (customer: number) => {
      const read = ["views", "get", "spend", "--entity", `customer=${customer}`];
      return (await stack.json<{ features: { spend: number | null } }>(read)).features.spend;
    };
    expect((await stack.run("views", "push", view)).stdout).toBe("spend@1: new version, 3 features\n");
    expect((await stack.run("views", "push", view)).stdout).toBe("spend@1: already exists, 3 features\n");
    expect((await stack.run("views", "show", "spend")).stdout).toContain(
      "event time at; creation time known; TTL none",
    );
    expect([await ingest(), await ingest()]).toMatchObject([{ created: true }, { created: false }]);
    expect(await get(1)).toBeNull();
    expect((await stack.run("views", "materialize", "spend")).stdout).toBe("spend: 1 batch added\n");
    expect((await stack.run("views", "materialize", "spend")).stdout).toBe("spend: already up to date\n");
    expect(await get(1)).toBe(20);
    // An older row is stored offline, and is not the latest one.
    const sent = stack.file(
      "sent.jsonl",
      '{"customer": 1, "at": "2026-01-03T00:00:00Z", "spend": 15}\n{"customer": 3, "at": "2026-01-03T00:00:00Z", "spend": 30}\n',
    );
    expect((await stack.run("views", "send", "spend", "--file", sent)).stdout).toBe("spend: 2 rows accepted\n");
    await until("the event", async () => ((await get(3)) === 30 ? true : undefined));
    const read = ["views", "get", "spend", "--entity", "customer=1"];
    expect(await stack.json(read)).toMatchObject({ features: { spend: 20, total: 45 } });
    expect(await get(1)).toBe(20);
    const labels = stack.file(
      "labels.csv",
      "customer,when,y\n1,2026-01-02,a\n1,2026-01-09,b\n1,2026-01-10,c\n2,2026-01-09,d\n9,2026-01-09,e\n,2026-01-09,f\n",
    );
    const output = join(stack.directory, "training.csv");
    const joined = (...options: readonly string[]) =>
      stack.run("views", "join", labels, "--views", "spend", "-o", output, ...options);
    expect(await joined("--time", "when")).toMatchObject({ code: 0, stdout: `${output}: 6 rows with 3 features\n` });
    expect(
      readFileSync(output, "utf8")
        .trim()
        .split("\n")
        .map((line) => line.split(",").slice(0, 4).join()),
    ).toEqual([
      "customer,when,y,spend",
      ...["1,2026-01-02,a,10.0", "1,2026-01-09,b,15.0", "1,2026-01-10,c,20.0", "2,2026-01-09,d,"],
      ...["9,2026-01-09,e,", ",2026-01-09,f,"],
    ]);
    expect(await joined("--time", "y")).toMatchObject({ code: 2, stderr: expect.stringContaining("column y, row 1") });
    const more = stack.file("more.csv", "customer,at,known,spend,color\n4,2026-01-01,,1,red\n");
    expect(await stack.run("views", "ingest", "spend", "--file", more)).toMatchObject({
      ...{ code: 0, stdout: expect.stringContaining("1 row stored") },
      stderr: `${more}: columns that spend lacks are not stored: color\n`,
    });
    const future = stack.file("future.csv", "customer,at,known,spend\n4,2026-01-01,,1\n5,2999-01-01,,1\n");
    expect(await stack.run("views", "ingest", "spend", "--file", future)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('column at, row 2 is "2999-01-01T00:00:00.000Z", but must not lie in the future'),
    });
    expect(await stack.run("views", "show", "gone")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("gone"),
    });
  });

  it("predicts an entity by the features that its training rows were joined with", async () => {
    const lines = toyCsv(240).split("\n").slice(1);
    const rows = lines.map((line, customer) => [customer, "2026-01-01", ...line.split(",")]);
    const view = (more = "") =>
      stack.file(
        "visits.yaml",
        `name: visits\nentities: [customer]\neventTime: at\n${more}` +
          "columns: {customer: int, at: timestamp, x1: float, x2: float, colour: string}\n" +
          "steps: [{kind: log, column: x1, offset: 3}]\n",
      );
    const stored = ["customer,at,x1,x2,colour", ...rows.map(([id, at, x1, x2, , colour]) => [id, at, x1, x2, colour])];
    const labels = ["customer,when,label", ...rows.map((row) => [row[0], "2026-02-01", row[6]])];
    const training = join(stack.directory, "training.parquet");
    const steps = "{kind: standardize, column: x1_log}, {kind: number, column: x2}, {kind: one-hot, column: colour}";
    const column = (name: string, type: string, more = "") => `  - {name: ${name}, type: ${type}${more}}\n`;
    const schema = stack.file(
      "visits.schema.yaml",
      `columns:\n${column("customer", "int", ", role: ignore")}${column("when", "timestamp", ", role: ignore")}` +
        `${column("x1", "float", ", role: ignore")}${column("x1_log", "float")}${column("x2", "float")}` +
        `${column("colour", "string", ", nullable: true")}${column("label", "int", ", role: label")}`,
    );
    const file = (name: string, written: readonly (string | readonly unknown[])[]) =>
      stack.file(name, `${written.map((line) => String(line)).join("\n")}\n`);
    await stack.json(["views", "push", view()]);
    await stack.json(["views", "ingest", "visits", "--file", file("visits.csv", stored)]);
    const late = await stack.run("views", "materialize", "visits", "--timeout", "0");
    expect([0, 1]).toContain(late.code);
    if (late.code === 1) expect(late.stderr).toMatch(/has 0 of 1 batches of visits after 0 s; repeat the command/);
    expect((await stack.run("views", "materialize", "visits")).code).toBe(0);
    const asOf = ["--views", "visits", "--time", "when", "-o", training];
    await stack.json(["views", "join", file("labels.csv", labels), ...asOf]);
    const pushed = await stack.json<{ schema: readonly object[] }>(
      ["datasets", "push", "visits", "--file", training, "--schema", schema], // biome-ignore format: a command
    );
    expect(pushed.schema).toContainEqual(expect.objectContaining({ from: { view: "visits@1", feature: "x1_log" } }));

    const plan = stack.file("planned.yaml", `${toyJob(6)}features: { plan: [${steps}] }\n`);
    stack.file("visits-plan.yaml", `name: visits-plan\nsteps: [${steps}]\n`);
    const viewed = stack.file("viewed.yaml", `${toyJob(6)}features: { plan: visits-plan.yaml }\n`);
    const settings = ["dataset=visits", "evaluation.thresholds={}", "evaluation.slices=[]"];
    const entity = ["--entity", "customer=7"];
    interface Predicted {
      readonly predictions: readonly { readonly label: number; readonly probabilities: readonly object[] }[];
    }
    for (const [model, job] of [
      ["planned", plan],
      ["viewed", viewed],
    ] as const) {
      const set = [...settings, `registerAs=${model}`].flatMap((setting) => ["--set", setting]);
      const submitted = await stack.run("submit", job, "--wait", ...set);
      expect([submitted.code, submitted.stderr]).toEqual([expect.any(Number), ""]);
      await stack.json(["models", "approve", model, "1", "--reason", "right", "--wait"]);
      const online = await stack.json<Predicted>(["models", "predict", model, ...entity]);
      const [, , x1, x2, , colour] = rows[7]!;
      const row = { x1_log: Math.log(Number(x1) + 3), x2: Number(x2), colour };
      const given = stack.file("given.json", JSON.stringify([row]));
      const offline = await stack.json<Predicted>(["models", "predict", `${model}/1`, "--file", given]);
      expect(online.predictions).toEqual(offline.predictions);
      expect(online.predictions[0]!.probabilities).toHaveLength(3);
    }

    const predict = (...rest: readonly string[]) => stack.run("models", "predict", "planned", ...rest);
    const out = join(stack.directory, "predicted.csv");
    // A value that a row has stays.
    const some = file("some.csv", ["customer,x2", "7,0.5", "8,0.5"]);
    const log = ["--file", some, "--out", out, "--log"];
    expect((await predict(...log)).stdout).toMatch(/predictions of 2 rows .*\n2 rows logged, 0 already logged\n$/);
    expect((await predict(...log)).stdout).toMatch(/\n0 rows logged, 2 already logged\n$/);
    expect((await predict(...entity, "--log")).stdout).toMatch(/^row 1: \d .*\n1 rows logged, 0 already logged\n$/);
    expect((await predict(...entity, "--log")).stdout).toMatch(/\n0 rows logged, 1 already logged\n$/);
    const served = await stack.json<{ batches: readonly { rows: number }[] }>(["models", "inferences", "planned"]);
    expect(served.batches.map((batch) => batch.rows)).toEqual([2, 1]);
    const refusals = [
      [["--entity", "customer=999"], /rows\[0\]\.x1_log has no value in visits@1 for \{"customer":999\}/],
      [["--entity", "shop=1"], /with a column of customer/],
      [["--file", file("none.csv", ["x2", "1"]), "--out", out], /row 1\.customer must be given, as int/],
      [
        ["--file", file("bad.csv", ["customer", "1.5"]), "--out", out],
        /row 1\.customer is "1.5", but must be given, as int/,
      ],
    ] as const;
    expect(await Promise.all(refusals.map(([wrong]) => predict(...wrong)))).toEqual(
      refusals.map(([, text]) => expect.objectContaining({ code: 2, stderr: expect.stringMatching(text) })),
    );

    expect((await stack.run("views", "show", "visits")).stdout).toMatch(
      /visits@1 +visits@1 +planned\/1 production, viewed\/1 production/,
    );
    const { runId, ...resolved } = await stack.json<{ runId: string }>(["models", "resolve", "planned"]);
    expect(resolved).toMatchObject({
      views: [{ view: "visits@1", entities: ["customer"], columns: ["x1_log", "x2", "colour"] }],
    });
    expect((await stack.run("models", "resolve", "planned")).stdout).toMatch(
      /^COLUMN +TYPE +NULLABLE +FROM +\n(?:.*\n)*x1_log +float +no +visits@1, x1_log/m,
    );
    for (const reference of ["planned@1", "planned/1", "planned@champion", "planned@latest"]) {
      expect((await stack.run("lineage", "model", reference)).stdout).toMatch(/view visits@1 +.*x1_log/);
    }
    for (const command of ["lineage model planned@none", "models export planned@none --format onnx"]) {
      const unknown = { code: 2, stderr: expect.stringContaining('"planned@none", but must name an alias of planned') };
      expect(await stack.run(...command.split(" "))).toMatchObject(unknown);
    }
    const shown = await stack.run("runs", "show", runId);
    expect(shown.stdout).toMatch(
      /importance of columns: loss of accuracy.*\n+column +loss of accuracy\s+(colour|x1_log|x2) +0\.\d/i,
    );
    const page = join(stack.directory, "run.html");
    await stack.run("runs", "page", runId, "--html", page);
    expect(readFileSync(page, "utf8")).toMatch(/Importance of columns.*aria-label="importance of columns"/s);

    // Without a column it is a new generation: the models in production get no new rows.
    const changed = view("ttl: 7d\n");
    writeFileSync(changed, readFileSync(changed, "utf8").replace("x2: float, ", ""));
    const refused = await stack.run("views", "push", changed);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/in production, planned\/1 \(visits@1\), /),
    });
    const allowed = await stack.run("views", "push", changed, "--allow-incompatible");
    expect(allowed).toMatchObject({ code: 0, stderr: expect.stringContaining("models in production use earlier") });
    expect((await predict(...entity)).stderr).toContain("visits@1 gets no new rows since visits@2");
  }, 600_000);

  it("checks rows against a data contract at the push, in the inbox, in a run, and on request", async () => {
    const schema = stack.file("guarded-schema.yaml", toySchema);
    const good = stack.file("good.csv", toyCsv(300));
    const bad = stack.file("bad.csv", toyCsv(310).replace(/^[^x].*$/m, "99,1,1,violet,1"));
    const push = (file: string) => stack.run("datasets", "push", "guarded", "--file", file, "--schema", schema);
    expect(await push(good)).toMatchObject({ code: 0 });
    const inferred = await stack.run("datasets", "infer-contract", "guarded@1");
    const contract = stack.file("contract.yaml", inferred.stdout.replaceAll(", severity: warn", ""));
    const page = join(stack.directory, "contract.html");
    const validate = (...rest: readonly string[]) => stack.run("datasets", "validate", ...rest);
    expect(await validate("guarded", "--contract", contract)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^guarded@1: passed \(300 rows, \d+ rules, no violation\)$/m),
    });
    const local = await validate("--file", bad, "--schema", schema, "--contract", contract, "--html", page);
    expect(local).toMatchObject({ code: 3, stdout: expect.stringMatching(/block: x1 must be between/) });
    expect(readFileSync(page, "utf8")).toMatch(/colour must be one of.*row 1: colour = violet/s);

    expect((await stack.run("datasets", "contract", "set", "guarded", "--file", contract)).code).toBe(0);
    const blocked = await push(bad);
    expect(blocked.code).toBe(3);
    expect(blocked.stdout).toMatch(
      /blocked \(310 rows, .*2 violations\)\nblock: x1 .*\n {2}row 1: x1 = "99.0"\nblock: colour/,
    );
    expect(blocked.stderr).toMatch(/violates 2 rules of the data contract \(revision 1\).*row 1: colour = "violet"/);
    const json = await stack.run("--json", "datasets", "push", "guarded", "--file", bad, "--schema", schema);
    expect([json.code, JSON.parse(json.stdout).error]).toMatchObject([
      3,
      { code: "DATA_CONTRACT_VIOLATED", details: { revision: 1, violations: [{ columns: ["x1"], rows: 1 }, {}] } },
    ]);
    expect(await validate("guarded")).toMatchObject({ code: 0 });
    expect((await stack.json<{ versions: object[] }>(["datasets", "show", "guarded"])).versions).toHaveLength(1);

    const s3 = stack.client(S3Client);
    const Body = readFileSync(bad, "utf8");
    await s3.send(new PutObjectCommand({ Bucket: "ringmaster-data", Key: "teams/clerks/inbox/guarded/bad.csv", Body }));
    const strict = stack.file("strict.yaml", "rules:\n  - {rule: range, column: x1, maximum: 1, name: low}\n");
    expect((await stack.run("datasets", "contract", "set", "guarded", "--file", strict)).code).toBe(0);
    const job = stack.file("guarded.yaml", toyJob(1));
    const run = await stack.run("submit", job, "--wait", "--set", "dataset=guarded");
    expect(run.code).toBe(1);
    const runId = /run-[0-9a-f]{16}/.exec(run.stdout)![0];
    const { run: failed } = await stack.json<RunDetails>(["runs", "show", runId]);
    expect(failed.failure).toMatchObject({ code: "DATA_CONTRACT_VIOLATED", phase: "ValidateDataset" });
    expect(failed.failure!.message).toMatch(/low: x1 must be at most 1: \d+ rows \(.* %\), first row 2: x1 = /);
    await stack.run("runs", "page", runId, "--html", page);
    expect(readFileSync(page, "utf8")).toMatch(/Data contract, revision 2: blocked.*row 2: x1 = /s);
    const refused = await until("the refusal", async () => {
      const { reports } = await stack.json<{ reports: readonly InboxReport[] }>(["datasets", "inbox", "guarded"]);
      return reports.find(({ status }) => status === "refused");
    });
    expect(refused).toMatchObject({
      code: "DATA_CONTRACT_VIOLATED",
      nextStep: expect.stringContaining("contract set"),
    });

    for (const wrong of [["--file", bad], ["guarded@2"], ["none"], ["guarded@1", "--file", bad, "--schema", schema]]) {
      expect([wrong, (await validate(...wrong)).code]).toEqual([wrong, 2]);
    }
  }, 240_000);

  it("counts what each team stores, and deletes no young content", async () => {
    interface Collected {
      readonly dryRun: boolean;
      readonly cycle: number;
      readonly teams: Readonly<Record<string, { objects: number; bytes: number }>>;
      readonly deleted: { objects: number };
    }
    const file = stack.file("stored.csv", toyCsv(200));
    await stack.json(["datasets", "push", "stored", "--file", file, "--schema", stack.file("s.yaml", toySchema)]);
    const counted = await stack.json<Collected>(["gc", "--dry-run"]);
    expect(counted).toMatchObject({ dryRun: true, deleted: { objects: 0 } });
    expect(counted.teams["clerks"]!.objects).toBeGreaterThan(1);
    const first = await stack.json<Collected>(["gc"]);
    expect(first).toMatchObject({ dryRun: false, deleted: { objects: 0 } });
    expect(first.teams["clerks"]).toEqual(counted.teams["clerks"]);
    const second = await stack.run("gc");
    expect(second).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/clerks +\d+ .*\n(.*\n)*.*deleted: 0 B in 0 objects/s),
    });
    expect((await stack.run("status")).stdout).toMatch(/stored by team clerks: .* in \d+ objects/);
  });
});
