import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Command, Option } from "commander";
import type { GlobalOptions } from "../context";
import { exitCodes, printJson } from "../output";

/** The exports of `scripts/native.js`. */
interface NativeScript {
  ensureNative(options: { readonly library: "cpu" | "gpu" }): Promise<{ readonly backend: "native" | "wasm" }>;
  describe(result: object): string;
}

/** The script lies next to the bundles in the package, and in `scripts/` above them in the checkout. */
const script = [join(__dirname, "native.js"), join(__dirname, "..", "..", "scripts", "native.js")].find(existsSync);

export function addNativeCommand(program: Command): void {
  program
    .command("native")
    .description("install the native TensorFlow library into the user cache; it trains faster than WebAssembly")
    .addOption(new Option("--library <kind>", "library for this device").choices(["cpu", "gpu"]).default("cpu"))
    .action(async (_options: unknown, command: Command) => {
      const { json, library } = command.optsWithGlobals<GlobalOptions & { library: "cpu" | "gpu" }>();
      const { ensureNative, describe } = createRequire(__filename)(script!) as NativeScript;
      const result = await ensureNative({ library });
      if (json) printJson(result);
      else process.stdout.write(`${describe(result)}\n`);
      if (result.backend !== "native") process.exitCode = exitCodes.failed;
    });
}
