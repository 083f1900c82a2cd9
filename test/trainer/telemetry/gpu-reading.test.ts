import { readGpu } from "../../../trainer-container/telemetry/gpu-reading";

describe("readGpu", () => {
  it("reads the device's utilisation and memory", async () => {
    const requested: string[] = [];
    const reading = await readGpu("GPU-1", async (command, args) => {
      requested.push(command, ...args);
      return "87, 40536\n";
    });
    expect(reading).toEqual({ utilization: 0.87, memoryBytes: 40_536 * 1_048_576 });
    expect(requested.slice(-2)).toEqual(["-i", "GPU-1"]);
  });

  it.each([
    ["nothing known", async () => "[N/A], [N/A]\n"],
    ["another answer", async () => "No devices were found\n"],
    [
      "no such command",
      async () => {
        throw new Error("ENOENT");
      },
    ],
  ])("says nothing where there is nothing to say: %s", async (_case, command) => {
    expect(await readGpu("0", command)).toBeUndefined();
  });
});
