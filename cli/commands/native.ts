import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { InvalidInputError } from "../../core/errors";
import { wholeNumber } from "../command";
import type { GlobalOptions } from "../context";
import { exitCodes, printJson } from "../output";

interface NativeScript {
  ensureNative(options: {
    readonly library: "cpu" | "gpu";
    readonly timeoutSeconds: number;
  }): Promise<{ readonly backend: "native" | "wasm" }>;
  describe(result: object): string;
}

interface NativeOptions extends GlobalOptions {
  readonly library: "cpu" | "gpu";
  readonly timeout: number;
}

/** The script lies next to the bundles in the package, and in the trainer in the checkout. */
const script = [__dirname, join(__dirname, "..", "..", "trainer-container")]
  .map((folder) => join(folder, "native", "install.js"))
  .find(existsSync);

export function addNativeCommand(program: Command): void {
  program
    .command("native")
    .description("install the native TensorFlow library into the user cache; it trains faster than WebAssembly")
    .addOption(new Option("--library <kind>", "library for this device").choices(["cpu", "gpu"]).default("cpu"))
    .option(
      "--timeout <seconds>",
      "time for download and build; 300 MB at 10 Mbit/s take 240 s",
      wholeNumber("--timeout"),
      90,
    )
    .action(async (_options: unknown, command: Command) => {
      const { json, library, timeout } = command.optsWithGlobals<NativeOptions>();
      if (timeout === 0) {
        const rule = "must be at least 1 second";
        throw new InvalidInputError("the option is not valid", [{ path: "--timeout", value: timeout, rule }]);
      }
      const { ensureNative, describe } = createRequire(__filename)(script!) as NativeScript;
      const result = await ensureNative({ library, timeoutSeconds: timeout });
      if (json) printJson(result);
      else process.stdout.write(`${describe(result)}\n`);
      if (result.backend !== "native") process.exitCode = exitCodes.failed;
    });
}
