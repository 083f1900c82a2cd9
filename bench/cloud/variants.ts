import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { LineProcess } from "../support/line-process";
import { type Operation, prepare } from "./work";

/** The services in one configuration, in a separate process. */
export interface Variant {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** CPU time that the services have used, in milliseconds. */
  cpuTime(): Promise<number>;
  close(): void;
}

/** @param bundle of `services.ts` */
export async function startVariant(name: string, bundle: string, sync: "synced" | "unsynced"): Promise<Variant> {
  const data = mkdtempSync(join(tmpdir(), "ringmaster-cloud-"));
  const services = new LineProcess(process.execPath, [bundle, data, sync]);
  const close = () => {
    services.kill();
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const { ports } = await services.receive<{ readonly ports: readonly number[] }>();
    const operations = await prepare(ports);
    const cpuTime = async () => {
      services.send({});
      return (await services.receive<{ readonly cpuMs: number }>()).cpuMs;
    };
    return { name, operations, cpuTime, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Bundles `services.ts` with the services of another checkout. @returns the bundle's path */
export async function bundleOf(checkout: string): Promise<string> {
  const outfile = join(__dirname, "cloud-services-before.js");
  await build({
    entryPoints: [resolve("bench/cloud/services.ts")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    logLevel: "error",
    external: ["classic-level"],
    plugins: [
      {
        name: "services of the checkout",
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\.\.\/\.\.\/local\// }, ({ path, importer }) =>
            importer === resolve("bench/cloud/services.ts")
              ? { path: resolve(checkout, path.slice("../../".length), "index.ts") }
              : undefined,
          ),
      },
    ],
  });
  return outfile;
}
