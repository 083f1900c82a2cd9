import { loggedModels } from "../../adapters/dynamodb/logged-model-repository";
import { metrics } from "../../adapters/dynamodb/metric-store";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { checkHooks } from "../../adapters/http/check-hooks";
import { contentUrls } from "../../adapters/s3/content-urls";
import { teamObjects } from "../../adapters/s3/object-store";
import { registry } from "../../adapters/team-registry";
import { artifacts, records, runSteps } from "../../adapters/team-runs";
import { gateStep, judgeAgain } from "../../core/registry/gates/step";
import { runNotFound } from "../../core/runs/errors";
import { returnToEarlierStep, runStep } from "../../core/runs/step";
import { timeModel } from "../../trainer-container/tfjs/time-model";
import { stepHandler } from "../step-handler";

export const handler = stepHandler(
  {
    runs: runSteps("use"),
    cache: stepCache("read", "write"),
    registry: registry("change"),
    objects: teamObjects("read", "write"),
    records: records("read"),
    artifacts: artifacts("read", "freeze"),
    loggedModels: loggedModels("read"),
    metrics: metrics("read"),
    contentUrls: contentUrls("download"),
    hooks: checkHooks(),
  },
  async (given, { runId, model, version }) => {
    const ports = { ...given, timeModel };
    if (model !== undefined && version !== undefined) {
      const details = await ports.runs.findDetails(runId);
      if (!details) throw runNotFound(runId);
      return judgeAgain(ports, details, { model, version });
    }
    const { output } = await returnToEarlierStep(ports, runId, "Gate", () => runStep(ports, runId, gateStep(ports)));
    return output;
  },
);
