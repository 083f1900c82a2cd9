import { meter } from "../../adapters/cloudwatch/emf-meter";
import { runPhases } from "../../adapters/dynamodb/run-steps";
import { taskTokens } from "../../adapters/stepfunctions/executions";
import { registry } from "../../adapters/team-registry";
import { isoTime } from "../../core/ports";
import * as approvals from "../../core/registry/approval-requests";
import { promote } from "../../core/registry/transitions";
import { type ApprovalEvent, stepHandler } from "../step-handler";

export const handler = stepHandler(
  { runs: runPhases("use"), registry: registry("change"), tokens: taskTokens("answer"), meter: meter() },
  async (ports, { runId, request, model, version }: ApprovalEvent) => {
    const { registry, clock } = ports;
    const by = { by: `run ${runId}`, at: isoTime(clock) };
    const before = await registry.head(model);
    // Once: a repetition must not undo a rollback that was requested since.
    const after = await registry.apply(
      model,
      [version],
      promote(version, by),
      `promote#${runId}#${version}#${request}`,
    );
    if (before.production !== version && after.production === version) {
      ports.meter.emit({ ModelsPromoted: 1 }, ports.team, { runId });
    }
    await approvals.answerAll(ports, model);
    return { model, version };
  },
);
