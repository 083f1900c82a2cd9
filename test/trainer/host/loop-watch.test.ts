/** Loops without an end block their thread, so each runs in a process of its own. */
import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import { bundleScript, packages } from "../../support/bundle";
import { temporaryFolder } from "../../support/temporary-folder";

/** Loads a module and calls its model, like the trainer, with short limits; prints the verdict about the run. */
const script = `
  import { callUserCode, timeLimit } from "./trainer-container/engine/user-code";
  import { classifyError } from "./trainer-container/host/failure";
  import { evaluateModule } from "./trainer-container/host/load-module";
  import { createLoopWatch, uncaughtException } from "./trainer-container/host/loop-watch";

  timeLimit.ms = 1_500;
  const watch = createLoopWatch({ periodMs: 50, patience: 16 });
  watch.start();
  const training = async () => {
    await new Promise((resolve) => setTimeout(resolve, 500)); // the other thread starts
    const { model } = evaluateModule(process.argv[2], "model.ts");
    callUserCode("model()", model);
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  };
  Promise.race([training(), uncaughtException(process), watch.found]).catch((error) => {
    process.stdout.write(JSON.stringify(classifyError(error)));
    watch.stop();
    process.exit(0);
  });
`;

describe("a loop without an end", () => {
  const main = path.join(temporaryFolder("ringmaster-loops"), "main.js");
  beforeAll(() => bundleScript(script, main));

  async function verdictOf(source: string): Promise<unknown> {
    const child = spawn(process.execPath, [main, source], { timeout: 100_000, env: packages });
    const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return out === "" ? errors : JSON.parse(out);
  }

  const spin = "\nfunction spin() {\n  for (;;);\n}\n"; // lines 2 to 4
  const moduleOf = (start: string) => `${start}; exports.default = { model() {} };${spin}`;

  it.each([
    ["in model()", `exports.default = { model: () => spin() };${spin}`, /model\(\) threw Error: it did not return/],
    ["in a timer", moduleOf("setTimeout(spin, 100)"), /outside of model\(\).*it did not return within 1.5 s/],
    [
      "after an await",
      moduleOf("(async () => { await new Promise((resolve) => setTimeout(resolve, 100)); spin(); })()"),
      /outside of model\(\).*does a loop in it not end\?/,
    ],
    [
      "of awaits",
      moduleOf("(async () => { await new Promise((resolve) => setTimeout(resolve, 100));\n\nfor (;;) await null; })()"),
      /a loop of awaits/,
    ],
  ])("%s fails the run and names the line", async (_, source, message) => {
    const verdict = (await verdictOf(source)) as { readonly message: string };
    expect(verdict).toMatchObject({ kind: "failure", code: "USER_CODE", retryable: false });
    expect(verdict.message).toMatch(message);
    expect(verdict.message).toMatch(/\(at model\.ts:3:\d+\)$/);
  });

  it("that takes long but ends does not", async () => {
    const source = moduleOf(
      "(async () => { const end = Date.now() + 300; while (Date.now() < end); throw new Error('the end'); })()",
    );
    expect(await verdictOf(source)).toMatchObject({ message: expect.stringContaining("the end (at model.ts:1:") });
  });
});
