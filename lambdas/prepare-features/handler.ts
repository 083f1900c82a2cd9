import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { teamObjects } from "../../adapters/s3/object-store";
import { runSteps } from "../../adapters/team-runs";
import { featuresStep } from "../../core/features/step";
import { runStep } from "../../core/runs/step";
import { inRounds } from "../in-rounds";
import { stepHandler } from "../step-handler";
import { prepareFeatures } from "./prepare";

/** Materialises the run's features. */
export const handler = stepHandler(
  {
    runs: runSteps("use"),
    cache: stepCache("read", "write"),
    datasets: datasets("read"),
    objects: teamObjects("read", "write"),
  },
  (ports, { runId, task }) =>
    inRounds(async () => {
      const { objects } = ports;
      const step = featuresStep(ports, (manifest, job, inputHash) =>
        prepareFeatures({ manifest, job, objects, inputHash, task }),
      );
      const { output, reusedFrom } = await runStep(ports, runId, step);
      return { rows: output.rows, reusedFrom };
    }),
);
