import { availableParallelism } from "node:os";
import { join } from "node:path";
import { joinAsOf } from "../../adapters/duckdb/as-of-join";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { runChild, say } from "../support/child";
import { type KeyType, viewOf } from "./data";

runChild(async () => {
  const [folder = "", views = "", output = "", key = "int"] = process.argv.slice(2);
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await withDuckDb(
    (session) =>
      joinAsOf(session, {
        ...{ labels: join(folder, "labels.parquet"), time: "time", output },
        views: Array.from({ length: Number(views) }, (_, view) => ({
          version: viewOf(view, key as KeyType),
          fetch: async () => [join(folder, `view${view}.parquet`)],
        })),
      }),
    { memoryMb: 1_200, threads: availableParallelism() },
  );
  const { user, system } = process.cpuUsage(cpu);
  say({
    seconds: (performance.now() - start) / 1_000,
    cpuSeconds: (user + system) / 1e6,
    peakMiB: process.resourceUsage().maxRSS / 1024,
  });
});
