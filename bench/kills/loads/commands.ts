import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTokenStore } from "../../../adapters/files/token-store";
import { type Load, type Operation, RefusedError } from "../../../test/support/operation-verdict";
import type { Api } from "../api";
import type { KillableStack } from "../stack";

/** The command line's exit code for refused input. */
const inputRefused = 2;

export interface Command {
  readonly child: ChildProcess;
  readonly output: Promise<string>;
}

export function startCommand(stack: KillableStack, token: string | undefined, args: readonly string[]): Command {
  const child = spawn(process.execPath, [join(stack.bundles, "cli.js"), "--data", stack.data, ...args, "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, RINGMASTER_TOKEN: token, RINGMASTER_API_URL: undefined },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const output = new Promise<string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(stdout);
      else if (code === inputRefused) reject(new RefusedError("2", stderr));
      else reject(new Error(`ringmaster ${args.join(" ")} ended with ${signal ?? code}: ${stderr}`));
    });
  });
  return { child, output };
}

const schema = `columns:
  - { name: x, type: float, role: feature }
  - { name: label, type: int, role: label }
split: { seed: 1, fractions: { train: 0.8, validation: 0.1, test: 0.1 } }
`;

export function datasetsLoad(stack: KillableStack, api: Api, directory: string, token: string): Load {
  const schemaFile = join(directory, "kills-schema.yaml");
  writeFileSync(schemaFile, schema);
  return {
    name: "datasets",
    weight: 0,
    extra(random, id) {
      if (random() > 0.25) return undefined;
      const file = join(directory, `${id}.csv`);
      const rows = Array.from({ length: 20 + Math.floor(random() * 200) }, (_, at) => `${at}.5,${at % 2}`);
      writeFileSync(file, ["x,label", ...rows].join("\n"));
      return killable("command: datasets push", id, true, {
        start: () => startCommand(stack, token, ["datasets", "push", id, "--file", file, "--schema", schemaFile]),
        async count() {
          type Versions = { readonly items: readonly { readonly manifest: { readonly rowCount: number } }[] };
          const { items } = (await api.find<Versions>(`/v1/datasets/${id}/versions`)) ?? { items: [] };
          if (items.some(({ manifest }) => manifest.rowCount !== rows.length))
            throw new Error(`not ${rows.length} rows`);
          return items.length;
        },
      });
    },
  };
}

/** Creates tokens with the command line. Not repeatable: each creation is another token. */
export function tokensLoad(stack: KillableStack, api: Api): Load {
  const store = createTokenStore(stack.data);
  return {
    name: "tokens",
    weight: 0,
    extra(random, id) {
      if (random() > 0.2) return undefined;
      let token: string | undefined;
      return killable("command: tokens create", id, false, {
        start: () => {
          const command = startCommand(stack, undefined, ["tokens", "create", "--actor", id]);
          const output = command.output.then((text) => {
            token = (JSON.parse(text) as { readonly token: string }).token;
            return text;
          });
          return { ...command, output };
        },
        async count() {
          if (token !== undefined) await api.call("GET", "/v1/models", undefined, { authorization: `Bearer ${token}` });
          return (await store.list()).filter(({ actor }) => actor === id).length;
        },
      });
    },
  };
}

function killable(
  kind: string,
  id: string,
  repeatable: boolean,
  { start, count }: { start(): Command; count(): Promise<number> },
): Operation {
  let child: ChildProcess | undefined;
  return {
    ...{ kind, id, repeatable, count },
    async send() {
      const command = start();
      child = command.child;
      await command.output;
    },
    kill: () => child?.kill("SIGKILL") ?? false,
  };
}
