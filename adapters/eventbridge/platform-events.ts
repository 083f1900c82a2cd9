import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import type { DataContractEvents } from "../../core/datasets/contract/blocked";
import type { ViewEvents } from "../../core/feature-store/ports";
import type { MonitorEvents } from "../../core/monitors/ports";
import type { PipelineEvents } from "../../core/pipelines/ports";
import type { ModelEvents } from "../../core/registry/outbox";
import type { RunEvents } from "../../core/training/run-ended";
import type { StudyEvents } from "../../core/tuning/ports";
import {
  approvalNeeded,
  dataContractBlocked,
  driftDetected,
  featureRows,
  featureViewDue,
  modelChanged,
  monitorDue,
  pipelineEnded,
  runEnded,
  runPaused,
  studyChanged,
} from "../../platform/event-names";
import { putEvents } from "../../platform/permissions/grants";
import { sharedPort } from "../port";

/** @throws Error if EventBridge does not accept an event; the caller publishes it again */
export function createPlatformEvents(
  client: EventBridgeClient,
  platform: string,
): ModelEvents & PipelineEvents & RunEvents & StudyEvents & DataContractEvents & MonitorEvents & ViewEvents {
  async function publish(name: { readonly Source: string; readonly DetailType: string }, event: { at: string }) {
    const { Entries = [] } = await client.send(
      new PutEventsCommand({
        // One event per call, because EventBridge may accept some events of a call and refuse others.
        Entries: [{ ...name, Time: new Date(event.at), Detail: JSON.stringify({ platform, ...event }) }],
      }),
    );
    const { EventId, ErrorCode, ErrorMessage } = Entries[0] ?? {};
    if (EventId === undefined)
      throw new Error(`EventBridge did not accept "${name.DetailType}": ${ErrorCode}, ${ErrorMessage}`);
  }

  return {
    publish: (event) => publish(modelChanged, event),
    publishApprovalNeeded: (event) => publish(approvalNeeded, event),
    publishRunEnded: (event) => publish(runEnded, event),
    publishRunPaused: (event) => publish(runPaused, event),
    publishPipelineEnded: (event) => publish(pipelineEnded, event),
    publishStudyChanged: (event) => publish(studyChanged, event),
    publishDataContractBlocked: (event) => publish(dataContractBlocked, event),
    publishDrift: (event) => publish(driftDetected, event),
    publishMonitorDue: (event) => publish(monitorDue, event),
    publishFeatureRows: (event) => publish(featureRows, event),
    publishViewDue: (event) => publish(featureViewDue, event),
  };
}

export const platformEvents = sharedPort({
  grants: { publish: [putEvents] },
  make: (_uses, { config }) => createPlatformEvents(new EventBridgeClient({}), config.prefix),
});
