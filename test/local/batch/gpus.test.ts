import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { listGpus } from "../../../local/batch/gpus";
import { temporaryFolder } from "../../support/temporary-folder";
import { useBatchCloud } from "./cloud";

const cloud = useBatchCloud({ gpus: ["GPU-a", "GPU-b"] });
const directory = temporaryFolder("gpus");

describe("jobs on a machine with two GPUs", () => {
  const requiring = (gpus: number, line: string) => ({
    containerOverrides: {
      command: [line],
      resourceRequirements: gpus === 0 ? [] : [{ type: "GPU" as const, value: String(gpus) }],
    },
  });
  const device = `echo "device $CUDA_VISIBLE_DEVICES"`;
  const held = `${device}; while [ ! -e ${directory}/go ]; do sleep 0.05; done`;

  it("see one each; a third waits for a free one", async () => {
    const pair = await cloud.submit("", { ...requiring(1, held), arrayProperties: { size: 2 } });
    for (const child of [0, 1]) await cloud.until(`${pair}:${child}`, "RUNNING");
    const third = await cloud.submit("", requiring(1, device));
    const without = await cloud.ended(await cloud.submit("", { ...requiring(0, device), jobQueue: "spot" }));
    expect(cloud.output(without)).toEqual(["device "]);
    expect((await cloud.job(third)).status).toBe("RUNNABLE");
    writeFileSync(path.join(directory, "go"), "");
    const children = await Promise.all([0, 1].map((child) => cloud.ended(`${pair}:${child}`)));
    expect(children.flatMap((job) => cloud.output(job)).sort()).toEqual(["device GPU-a", "device GPU-b"]);
    const [line = ""] = cloud.output(await cloud.ended(third));
    expect(["device GPU-a", "device GPU-b"]).toContain(line);
  });

  it("are nodes of a gang, each with GPUs of its own", async () => {
    const container = { image: "sh", command: [`${device}; sleep 0.3`], vcpus: 1, memory: 64 };
    const nodeProperties = { numNodes: 2, mainNode: 0, nodeRangeProperties: [{ targetNodes: "0:", container }] };
    const jobDefinition = await cloud.define({ jobDefinitionName: "gang", type: "multinode", nodeProperties });
    const containerOverrides = { resourceRequirements: requiring(1, "").containerOverrides.resourceRequirements };
    const nodeOverrides = { nodePropertyOverrides: [{ targetNodes: "0:", containerOverrides }] };
    const id = await cloud.submit("", { jobDefinition, nodeOverrides });
    await cloud.ended(id);
    const nodes = await Promise.all([0, 1].map((node) => cloud.ended(`${id}#${node}`)));
    expect(nodes.flatMap((job) => cloud.output(job)).sort()).toEqual(["device GPU-a", "device GPU-b"]);
  });

  it("see all that they require, and never start if the machine has fewer", async () => {
    const both = await cloud.ended(await cloud.submit("", requiring(2, device)));
    expect(cloud.output(both)).toEqual(["device GPU-a,GPU-b"]);
    const three = await cloud.submit("", { ...requiring(3, device), jobQueue: "spot" });
    await cloud.ended(await cloud.submit("", requiring(1, device)));
    expect(await cloud.job(three)).toMatchObject({
      status: "RUNNABLE",
      statusReason: expect.stringContaining("JOB_RESOURCE_REQUIREMENT"),
    });
  });
});

describe("the list of GPUs", () => {
  const command = path.join(directory, "nvidia-smi");
  const environment = { PATH: `${directory}:${process.env["PATH"]}` };
  const uuid = "GPU-7d1c1d0e-1f0a-4c52-9d3b-0a1b2c3d4e5f";

  it("is what nvidia-smi lists, without lines that are no devices", () => {
    const lines = [uuid, "No devices were found", "GPU-x;rm -rf /", "", "MIG-1-2"];
    writeFileSync(command, `#!/bin/sh\nprintf '%s\\n' ${lines.map((line) => `'${line}'`).join(" ")}\n`, {
      mode: 0o755,
    });
    expect(listGpus(environment)).toEqual([uuid, "MIG-1-2"]);
    rmSync(command);
  });

  it("is what CUDA_VISIBLE_DEVICES shows", () => {
    expect(listGpus({ ...environment, CUDA_VISIBLE_DEVICES: `1, ${uuid}` })).toEqual(["1", uuid]);
    expect(listGpus({ ...environment, CUDA_VISIBLE_DEVICES: "-1" })).toEqual([]);
  });

  it("is empty without nvidia-smi, and where it fails", () => {
    expect(listGpus({ PATH: path.join(directory, "none") })).toEqual([]);
    writeFileSync(command, "#!/bin/sh\nexit 9\n", { mode: 0o755 });
    expect(listGpus(environment)).toEqual([]);
  });
});
