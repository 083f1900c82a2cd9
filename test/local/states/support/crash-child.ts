/*
 * A process that serves Step Functions and kills itself, as `kill -9` would, right after its n-th write has reached the disk.
 * Arguments: data directory, n (0: never). Says on stdout where it listens, and which task tokens it has been given.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ClassicLevel } from "classic-level";
import { createStepFunctions } from "../../../../local/states";

const [, , dataDirectory = "", deadline = "0"] = process.argv;
const say = (what: object): boolean => process.stdout.write(`${JSON.stringify(what)}\n`);

let writes = 0;
const original = ClassicLevel.prototype.batch as (...args: unknown[]) => Promise<void>;
ClassicLevel.prototype.batch = async function batch(this: unknown, ...args: unknown[]): Promise<void> {
  await original.apply(this, args);
  writes += 1;
  if (writes === Number(deadline)) process.kill(process.pid, "SIGKILL");
} as never;

async function main(): Promise<void> {
  const service = await createStepFunctions({
    dataDirectory,
    functions: {
      async invoke(name, payload) {
        const { n, token, retry } = payload as { n?: number; token?: string; retry?: number };
        if (name === "ask") say({ token });
        if (name === "flaky" && Number(retry) < 2)
          return { functionError: "Unhandled", payload: { errorType: "Flaky" } };
        return { payload: { n: Number(n) + 1 } };
      },
    },
    events: { put: ({ detail }) => say({ status: (detail as { status: string }).status }) },
  });
  const server = createServer((request, response) => void service.handle(request, response));
  server.listen(0, "127.0.0.1", () => say({ port: (server.address() as AddressInfo).port }));
}

void main();
