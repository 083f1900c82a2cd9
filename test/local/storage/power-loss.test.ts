import { join, resolve } from "node:path";
import { buildSync } from "esbuild";
import { losePower, unavailable } from "../../support/power-loss/rounds";
import { seededRandom } from "../../support/random";
import { rounds } from "../../support/rounds";
import { temporaryFolder } from "../../support/temporary-folder";

const root = resolve(__dirname, "../../..");
const reason = unavailable();
if (reason !== undefined) process.stdout.write(`The simulated power loss is skipped: ${reason}.\n`);

(reason === undefined ? describe : describe.skip)("a power loss", () => {
  const directory = temporaryFolder("ringmaster-power");
  const workload = join(directory, "workload.js");
  const options = {
    ...{ rounds: rounds(3, 30), writes: 40, workload, source: join(root, "test/support/power-loss/sync-trace.c") },
    random: seededRandom(1),
  };
  beforeAll(() => {
    buildSync({
      entryPoints: [join(root, "test/support/power-loss/workload.ts")],
      outfile: workload,
      bundle: true,
      platform: "node",
      external: ["classic-level"],
      logLevel: "error",
    });
  });

  it("loses no acknowledged write, and leaves stores that open", async () => {
    const { acknowledged, lost, refused } = await losePower(options);
    expect(acknowledged).toBeGreaterThan(100);
    expect({ lost, refused }).toEqual({ lost: [], refused: [] });
  });

  it("is found to lose writes if the disk ignores syncs", async () => {
    const { lost, refused } = await losePower({ ...options, rounds: 2, ignoreSyncs: true });
    expect(lost.length + refused.length).toBeGreaterThan(0);
  });
});
