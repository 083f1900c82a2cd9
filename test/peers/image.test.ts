import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { describeRun } from "../../cli/run-description";
import { ensureBuild } from "../../scripts/build.js";
import { TestStack, toyCsv, toyJob, toySchema } from "../e2e/harness";
import { imageEnvironment, imageUser, type StagedImage, stageImage, whyNotStaged } from "../support/image-stage";

const { nativeFolder } = require("../../trainer-container/native/location") as { nativeFolder(library: "cpu"): string };

type Shown = ReturnType<typeof describeRun>;

/** Takes the place of `trainer.js` in a stack: runs the image's entry point in a container, and passes signals on. */
const trainerShim = (image: StagedImage): string => `
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const env = { ...process.env, ...${JSON.stringify({
  ...imageEnvironment(),
  HOME: "/home/trainer",
  TMPDIR: "/scratch",
  RINGMASTER_CACHE_DIR: "/scratch/shards",
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
})}, NODE_PATH: "" };
const [program, ...args] = ${JSON.stringify(image.container(["/usr/bin/env", "node", "--enable-source-maps", "/opt/ringmaster/trainer.js"]))};
const child = spawn(program, args, { stdio: "inherit", env });
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => child.kill(signal));
child.on("close", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
`;

const reason = whyNotStaged();
const title = reason ? `the trainer's image (skipped: ${reason})` : "the trainer's image";
(reason ? describe.skip : describe)(title, () => {
  const native = existsSync(nativeFolder("cpu")) ? nativeFolder("cpu") : undefined;
  let image: StagedImage;
  let bundles: string;
  beforeAll(() => {
    image = stageImage(native);
    // Next to the build, where the bundles find the packages that they leave external.
    const build = ensureBuild();
    bundles = mkdtempSync(path.join(path.dirname(build), "image-"));
    cpSync(build, bundles, { recursive: true });
    writeFileSync(path.join(bundles, "trainer.js"), trainerShim(image));
  }, 900_000);
  afterAll(() => {
    rmSync(bundles, { recursive: true });
    image.remove();
  });

  it("lets its user write to /scratch and to a /tmp of 64 MiB alone", () => {
    const script = `
      id -u
      for f in / /opt/ringmaster /usr /etc /home/trainer /scratch /tmp; do touch $f/x 2>/dev/null && echo "writes $f"; done
      head -c 70000000 /dev/zero > /tmp/large 2>/dev/null || echo "/tmp is full"
      wc -c < /tmp/large`;
    const [program, ...args] = image.container(["/bin/sh", "-c", script]);
    const { stdout } = spawnSync(program, args, { encoding: "utf8" });
    expect(stdout.trim().split(/\s*\n\s*/)).toEqual([
      String(imageUser),
      "writes /scratch",
      "writes /tmp",
      "/tmp is full",
      String(64 * 2 ** 20),
    ]);
  });

  it("trains to the same weights as the build on this machine, with two workers", async () => {
    // Without an installed binding only WebAssembly can be tried.
    const backends = native ? ["native"] : ["wasm"];
    const results: (readonly Shown[])[] = [];
    for (const stack of [new TestStack(), new TestStack(bundles)]) {
      try {
        await stack.up();
        const csv = stack.file("toy.csv", toyCsv(1_200));
        await stack.json(["datasets", "push", "toy", "--file", csv, "--schema", stack.file("schema.yaml", toySchema)]);
        const job = stack.file("job.yaml", toyJob(6, 2));
        const shown: Shown[] = [];
        for (const backend of backends)
          shown.push(await stack.json<Shown>(["submit", job, "--set", `resources.backend=${backend}`, "--wait"]));
        results.push(shown);
      } finally {
        await stack.remove();
      }
    }
    const [here = [], inImage] = results;
    expect(inImage).toMatchObject(here.map(({ weightsSha256 }) => ({ status: "completed", weightsSha256 })));
    for (const { weightsSha256, workers } of here)
      expect([workers.length, weightsSha256]).toEqual([2, expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });
});
