import type { FunctionPermissions } from "../platform/permissions";
import { handler as api } from "./api/handler";
import { handler as concludeRun } from "./conclude-run/handler";
import { handler as continueJob } from "./continue-job/handler";
import { handler as driveStudy } from "./drive-study/handler";
import { handler as endSessions } from "./end-sessions/handler";
import { handler as evaluate } from "./evaluate/handler";
import { handler as evaluateGates } from "./evaluate-gates/handler";
import { handler as finishTraining } from "./finish-training/handler";
import { handler as fireTriggers } from "./fire-triggers/handler";
import { permissionsOf } from "./function-handler";
import { handler as ingestMetrics } from "./ingest-metrics/handler";
import { handler as launchTraining } from "./launch-training/handler";
import { handler as monitorDrift } from "./monitor-drift/handler";
import { handler as notify } from "./notify/handler";
import { handler as pipelineStep } from "./pipeline-step/handler";
import { handler as prepareFeatures } from "./prepare-features/handler";
import { handler as promote } from "./promote/handler";
import { handler as reclaimStorage } from "./reclaim-storage/handler";
import { handler as reconcileRuns } from "./reconcile-runs/handler";
import { handler as registerModel } from "./register-model/handler";
import { handler as requestApproval } from "./request-approval/handler";
import { handler as runCredentials } from "./run-credentials/handler";
import { handler as runModule } from "./run-module/handler";
import { handler as snapshotDataset } from "./snapshot-dataset/handler";
import { handler as storeFeatures } from "./store-features/handler";
import { streamPorts } from "./stream-metrics/app";
import { handler as validateDataset } from "./validate-dataset/handler";

/**
 * Returns the permissions of each function's role: the union of the grants of its handler's ports. The build writes them to
 * `permissions.json` next to the bundles. `infra/` creates roles from that file, and the embedded cloud enforces it.
 */
export const functionPermissions = (): FunctionPermissions => ({
  api: api.grants,
  // Verifies tokens by keys that the provider publishes, and uses no port.
  authorize: [],
  "validate-dataset": validateDataset.grants,
  "prepare-features": prepareFeatures.grants,
  "launch-training": launchTraining.grants,
  "finish-training": finishTraining.grants,
  evaluate: evaluate.grants,
  "register-model": registerModel.grants,
  "evaluate-gates": evaluateGates.grants,
  "request-approval": requestApproval.grants,
  promote: promote.grants,
  "conclude-run": concludeRun.grants,
  "stream-metrics": permissionsOf(streamPorts),
  "ingest-metrics": ingestMetrics.grants,
  "run-credentials": runCredentials.grants,
  "end-sessions": endSessions.grants,
  "reconcile-runs": reconcileRuns.grants,
  "reclaim-storage": reclaimStorage.grants,
  "continue-job": continueJob.grants,
  "drive-study": driveStudy.grants,
  "monitor-drift": monitorDrift.grants,
  "store-features": storeFeatures.grants,
  "fire-triggers": fireTriggers.grants,
  "pipeline-step": pipelineStep.grants,
  "run-module": runModule.grants,
  notify: notify.grants,
  "snapshot-dataset": snapshotDataset.grants,
});
