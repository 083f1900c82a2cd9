import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { teamObjects } from "../../adapters/s3/object-store";
import { registry } from "../../adapters/team-registry";
import { runSteps } from "../../adapters/team-runs";
import { registrationStep } from "../../core/registry/registration";
import { runStep } from "../../core/runs/step";
import { stepHandler } from "../step-handler";

export const handler = stepHandler(
  {
    runs: runSteps("use"),
    cache: stepCache("read", "write"),
    datasets: datasets("read"),
    registry: registry("change"),
    objects: teamObjects("read", "write"),
  },
  async (ports, { runId }) => {
    const { output, reusedFrom } = await runStep(ports, runId, registrationStep(ports));
    return { ...output, reusedFrom };
  },
);
