import * as z from "zod";
import type { Problem } from "../errors";
import { sha256 } from "../shapes";

const maxOptionsLength = 100_000;
/** Set by the trainer, or secrets of it. */
const reservedName = /^(SM_|AWS_|RINGMASTER_|MLFLOW_|MASTER_ADDR$|MASTER_PORT$|(LOCAL_)?RANK$|(LOCAL_)?WORLD_SIZE$)/;

/** `model: { type: container }`: a command in any framework instead of a model of the platform (docs/containers.md). */
export const containerSpec = z.strictObject({
  type: z.literal("container"),
  command: z.array(z.string().min(1).max(4_096)).min(1).max(100),
  /** Image by digest. Recorded; the embedded cloud runs the command as a process of the machine. */
  image: z
    .string()
    .regex(/^[^\s@]{1,400}@sha256:[0-9a-f]{64}$/, "must name an image by its digest: REPOSITORY@sha256:…")
    .optional(),
  /** Folder next to the job file that is the command's working directory. The CLI packs it and fills in `sha256`. */
  code: z.string().min(1).max(1_024).optional(),
  sha256: sha256.optional(),
  /** Python packages, with hashes, in a virtual environment of their own. */
  python: z.strictObject({ requirements: z.string().min(1).max(1_024) }).optional(),
  env: z
    .record(z.string(), z.string().max(8_192))
    .check(({ value, issues }) => {
      const message = "must be the name of a variable, and none that the trainer sets";
      for (const name of Object.keys(value))
        if (!/^[A-Za-z_]\w{0,127}$/.test(name) || reservedName.test(name))
          issues.push({ code: "custom", path: [name], input: value[name], message });
    })
    .default({}),
  /** Format of the dataset's splits in the command's channels. */
  data: z.enum(["csv", "parquet"]).default("csv"),
  /** The command's hyperparameters, as `SM_HPS` and `SM_HP_<NAME>`. */
  options: z
    .record(z.string().regex(/^[\w-]{1,128}$/), z.unknown())
    .refine((options) => JSON.stringify(options).length <= maxOptionsLength, {
      error: `must have at most ${maxOptionsLength} characters as JSON; put larger data into the code folder`,
    })
    .default({}),
});

interface ContainerJob {
  readonly model: { readonly type: string };
  readonly fineTune?: unknown;
  readonly earlyStopping?: unknown;
  readonly columns?: unknown;
  readonly drop?: unknown;
  readonly hyperparameters: { readonly classWeights?: unknown };
  readonly resources: { readonly shardOptimizer: boolean };
  readonly evaluation: { readonly threshold?: unknown };
}

/** Returns the settings of a job that only the platform's own models have. */
export function containerProblems(job: ContainerJob): readonly Problem[] {
  if (job.model.type !== "container") return [];
  const { threshold } = job.evaluation;
  const own: readonly (readonly [string, unknown])[] = [
    ["fineTune", job.fineTune],
    ["earlyStopping", job.earlyStopping],
    ["columns", job.columns],
    ["drop", job.drop],
    ["hyperparameters.classWeights", job.hyperparameters.classWeights],
    ["resources.shardOptimizer", job.resources.shardOptimizer || undefined],
    ["evaluation.threshold", typeof threshold === "number" ? undefined : threshold],
  ];
  const rule = "must be left out where model.type is container: the command decides it";
  return own.flatMap(([path, value]) => (value === undefined ? [] : [{ path, value, rule }]));
}
