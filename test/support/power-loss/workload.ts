import { appendFileSync } from "node:fs";
import { stackSecret } from "../../../adapters/files/owner-keys";
import { contentOf } from "./content";
import { openStores } from "./stores";

async function work(data: string, trace: string, writes: number): Promise<void> {
  const acknowledge = (store: string, key: string) => appendFileSync(trace, `A ${store} ${key}\n`);
  acknowledge("secret", stackSecret(data));
  const stores = await openStores(data, (step) => acknowledge("objects", step));
  const numbers = [0, 1, 2];
  await stores.objects.prepare(numbers);
  const writers: readonly ((key: string, i: number) => Promise<void>)[] = [
    async (key) => {
      await stores.tables.write((draft) => draft.put(Buffer.from(`Z${key}`), contentOf(key)));
      acknowledge("tables", key);
    },
    async (key) => {
      await stores.small.write([{ key, value: contentOf(key) }]);
      acknowledge("small", key);
    },
    async (key, i) => {
      await stores.json.put(key, i);
      acknowledge("json", key);
    },
    async (key, i) => {
      stores.journal.append([i]);
      acknowledge("journal", key);
      await new Promise((resolve) => setImmediate(resolve));
    },
  ];
  const repeat = async (write: (i: number) => Promise<void>) => {
    for (let i = 0; i < writes; i++) await write(i);
  };
  await Promise.all([
    ...writers.flatMap((write, store) => numbers.map((writer) => repeat((i) => write(`${store}-${writer}-${i}`, i)))),
    ...numbers.map((writer) => repeat((i) => stores.objects.take(writer, i))),
  ]);
  // A power loss: nothing is closed.
  process.exit(0);
}

const [, , data = "", trace = "", writes] = process.argv;
void work(data, trace, Number(writes));
