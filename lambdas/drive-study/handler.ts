import { randomBytes } from "node:crypto";
import type { EventBridgeEvent } from "aws-lambda";
import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { metrics } from "../../adapters/dynamodb/metric-store";
import { registryReads } from "../../adapters/dynamodb/model-repository";
import { studies, studyIndex } from "../../adapters/dynamodb/study-repository";
import { teamObjects } from "../../adapters/s3/object-store";
import { executions } from "../../adapters/stepfunctions/executions";
import { records, runs } from "../../adapters/team-runs";
import { driveStudy } from "../../core/tuning/drive";
import { functionHandler } from "../function-handler";

/** An event of a run that is a trial, of a study's change, or of the sweep. */
type DriveEvent =
  | EventBridgeEvent<"Scheduled Event", unknown>
  | EventBridgeEvent<"Study Changed", { readonly team: string; readonly study: string }>
  | EventBridgeEvent<
      "Training Run Ended" | "Training Run Paused",
      { readonly team: string; readonly trial?: { readonly study: string } }
    >;

export const handler = functionHandler(
  {
    shared: { studyIndex: studyIndex("list"), executions: executions("start") },
    team: {
      studies: studies("read", "write"),
      runs: runs("details", "steps", "create"),
      records: records("read", "write"),
      metrics: metrics("read"),
      datasets: datasets("read", "resolve"),
      registry: registryReads(),
      objects: teamObjects("read", "write"),
    },
  },
  async ({ studyIndex, forTeam, logger }, event: DriveEvent) => {
    const randomId = () => randomBytes(8).toString("hex");
    const drive = async (team: string, study: string): Promise<void> => {
      const driven = await driveStudy({ ...forTeam(team), randomId }, study);
      logger.log("info", "study driven", { team, study, status: driven?.status, revision: driven?.revision });
    };
    if (event["detail-type"] === "Scheduled Event") {
      for (const { team, study } of await studyIndex.listOpen()) {
        await drive(team, study).catch((error: unknown) =>
          logger.log("error", "cannot drive a study", { team, study, error }),
        );
      }
      return;
    }
    const { team } = event.detail;
    const study = "study" in event.detail ? event.detail.study : event.detail.trial?.study;
    if (study !== undefined) await drive(team, study);
  },
);
