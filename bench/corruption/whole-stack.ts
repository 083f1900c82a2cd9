import fs from "node:fs";
import path from "node:path";
import { seededRandom } from "../elastic/random";
import { prepareLoads } from "../kills/loads";
import type { Load, Operation } from "../kills/operation";
import { KillableStack } from "../kills/stack";
import { builtBundles } from "../support/bundles";
import { classify } from "./data-files";
import { Observation, type Subject } from "./subject";

const operationsOfLoad = 5;

/**
 * The data directory of a stack that clients of every entry point have used. A case starts the stack over the damaged
 * directory, and reads the effect of each acknowledged operation through the API of that operation.
 *
 * The stack always runs at one path, a link to the directory of the case, so that its clients stay valid.
 */
export function wholeStackSubject(root: string): Subject {
  const link = path.join(root, "live");
  const stack = new KillableStack(builtBundles(), path.join(link, "data"));
  const operations: Operation[] = [];
  let loads: readonly Load[] = [];

  async function runOver(directory: string, work: () => Promise<void>): Promise<void> {
    fs.rmSync(link, { force: true, recursive: true });
    fs.mkdirSync(path.join(directory, "data"), { recursive: true, mode: 0o700 });
    fs.symlinkSync(directory, link);
    try {
      await stack.start();
      await work();
    } finally {
      await stack.close();
    }
  }

  return {
    name: "the whole stack",
    owns: (file) => classify(path.relative("data", file)).notData === undefined,
    // If a file that names others is damaged, the error names the missing file in the same directory.
    namesOf: (file) => (file.endsWith("/CURRENT") ? [path.dirname(file)] : []),
    classOf: (file) => classify(path.relative("data", file)).class,
    async build(directory, round) {
      await runOver(directory, async () => {
        if (round === 1) loads = await prepareLoads(stack, root);
        const random = seededRandom(round);
        for (const load of loads) await load.begin?.(round);
        for (const load of loads) {
          for (let i = 0; load.draw && i < operationsOfLoad; i += 1) {
            const operation = load.draw(random, `c${round}-${load.name.replaceAll(/\W/g, "-")}-${i}`);
            const isDone = await operation.send(false).then(
              () => true,
              (error: unknown) => {
                if (operation.mayBeRefused) return false;
                throw error;
              },
            );
            if (isDone && !(await operation.mayDoNothing?.())) operations.push(operation);
          }
        }
        for (const load of loads) await load.settle?.();
      });
    },
    async observe(directory) {
      const seen = new Observation();
      const looking = runOver(directory, async () => {
        for (const operation of operations) {
          const item = `${operation.kind} ${operation.id}`;
          try {
            seen.values.set(item, String(await operation.count()));
          } catch (error) {
            seen.fail(new Error(`${item}: ${error instanceof Error ? error.message : error}`), item);
          }
        }
      });
      // The first line; the end of the stack's log follows.
      await looking.catch((error: unknown) => seen.fail(new Error(String(error).split("\n")[0])));
      return seen;
    },
  };
}
