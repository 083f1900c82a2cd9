import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type GpuReading, GpuSampler } from "../../../trainer-container/telemetry/gpu-sampler";
import { temporaryFolder } from "../../support/temporary-folder";

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("the sampler of a GPU", () => {
  const directory = temporaryFolder("gpu-sampler");
  const { PATH } = process.env;
  let sampler: GpuSampler | undefined;

  beforeEach(() => {
    process.env["PATH"] = `${directory}:${PATH}`;
  });
  afterEach(() => {
    sampler?.close();
    process.env["PATH"] = PATH;
    rmSync(path.join(directory, "nvidia-smi"), { force: true });
  });

  /** Returns the first reading of a command that prints the text. */
  async function readingOf(text: string): Promise<GpuReading | undefined> {
    writeFileSync(path.join(directory, "output"), text);
    const commands = [`echo "$@" > ${directory}/arguments`, `cat ${directory}/output`, "exec sleep 600"];
    writeFileSync(path.join(directory, "nvidia-smi"), ["#!/bin/sh", ...commands].join("\n"), { mode: 0o755 });
    const started = new GpuSampler("GPU-1");
    sampler = started;
    let reading: GpuReading | undefined;
    await until(() => {
      reading = started.read();
      return reading !== undefined;
    });
    return reading;
  }

  it("gives the mean utilization and the largest memory since the previous reading", async () => {
    const reading = await readingOf("80, 1024\n100, 4096\n0, 2048\n");
    expect(reading).toEqual({ utilization: 0.6, memoryBytes: 4_096 * 2 ** 20 });
    expect(sampler?.read()).toBeUndefined();
    expect(readFileSync(path.join(directory, "arguments"), "utf8").trim()).toBe(
      "--query-gpu=utilization.gpu,memory.used --format=csv,noheader,nounits -i GPU-1 -l 1",
    );
  });

  it("ignores lines that are not two numbers in range", async () => {
    const hostile = [
      "[N/A], [N/A]",
      "No devices were found",
      "101, 5",
      "-1, 5",
      "1e1, 5",
      "NaN, Infinity",
      "50, 99999999",
      "50, 5, 7",
      "\u001b[2J\u000050, 5",
      "9".repeat(100_000),
      "",
    ];
    const reading = await readingOf([...hostile, "50, 5", "unfinished"].join("\n"));
    expect(reading).toEqual({ utilization: 0.5, memoryBytes: 5 * 2 ** 20 });
  });

  it("has no readings where there is no such command", async () => {
    process.env["PATH"] = directory;
    sampler = new GpuSampler("0");
    await new Promise((resolve) => setImmediate(resolve));
    expect(sampler.read()).toBeUndefined();
  });
});
