import { dataContracts } from "../../adapters/dynamodb/data-contract-repository";
import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { teamObjects } from "../../adapters/s3/object-store";
import { runSteps } from "../../adapters/team-runs";
import { inRounds, stepHandler } from "../step-handler";
import { validateRun } from "./validate";

export const handler = stepHandler(
  {
    runs: runSteps("use", "produce"),
    cache: stepCache("read", "write"),
    datasets: datasets("read", "annotate"),
    dataContracts: dataContracts("current"),
    objects: teamObjects("read", "write"),
    runEvents: platformEvents("publish"),
  },
  (ports, { runId, task }) =>
    inRounds(async () => {
      const { output, reusedFrom } = await validateRun(ports, runId, task);
      for (const { code, message } of output.warnings) ports.logger.log("warn", message, { code });
      return { rowCount: output.rowCount, reusedFrom };
    }),
);
