import type { EventBridgeEvent } from "aws-lambda";
import { endedRuns } from "../../adapters/dynamodb/ended-runs";
import { runIdentities } from "../../adapters/dynamodb/run-identities";
import { runReads } from "../../adapters/dynamodb/run-steps";
import { sessionDenials } from "../../adapters/iam/session-denials";
import { endSessions } from "../../core/training/end-sessions";
import { functionHandler } from "../function-handler";

type RunEndedEvent = EventBridgeEvent<"Training Run Ended", { readonly runId?: unknown } | null>;

/** Receives the ends of runs from EventBridge, and ends the sessions of their trainers. Lambda repeats what fails. */
export const handler = functionHandler(
  {
    shared: { endedRuns: endedRuns("record"), denials: sessionDenials("deny"), identities: runIdentities("read") },
    team: { runs: runReads("details") },
  },
  async ({ logger, identities, forTeam, ...ports }, { id, detail }: RunEndedEvent) => {
    const runId = typeof detail?.runId === "string" ? detail.runId : "";
    const team = runId === "" ? undefined : await identities.teamOf(runId);
    // The rows say what has ended: another program of the account may send such an event.
    const details = team === undefined ? undefined : await forTeam(team).runs.findDetails(runId);
    if (!details) {
      logger.log("warn", "ignored the end of an unknown run", { eventId: id, runId });
      return;
    }
    const outcome = await endSessions(ports, details);
    if (outcome) logger.log(outcome.omitted > 0 ? "warn" : "info", "sessions ended", { runId, ...outcome });
  },
);
