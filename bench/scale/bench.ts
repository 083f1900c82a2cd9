import { type FormationLine, measureFormation } from "../../test/support/large-gang/formation";
import { parseOptions } from "../support/arguments";
import { startReport } from "../support/report";
import { formationTable } from "./table";

const gangSizes = [8, 32, 128, 512, 1_000];

export async function benchScale(args: readonly string[]): Promise<void> {
  const { seed, json } = parseOptions(args, { seed: 1 });
  const report = startReport(json);
  const startedAt = performance.now();
  const formations: FormationLine[] = [];
  for (const workers of gangSizes) formations.push(...(await measureFormation(workers, seed)));
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  report(
    { seed, seconds, formations },
    `seed ${seed}, ${seconds} s`,
    "No peer: virtual time, of this code over simulated sockets and a simulated store.",
    "",
    formationTable(formations),
  );
}
