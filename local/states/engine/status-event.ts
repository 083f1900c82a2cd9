import type { EmittedEvent } from "../../service";
import { executionArn, stateMachineArn } from "../arns";
import type { ExecutionSummary } from "../store/records";

/** The maximum size of an input or output in an event, in bytes. EventBridge omits a longer one. */
const maxEventData = 248 * 1024;

const included = (text: string | undefined) => {
  const fits = text === undefined || Buffer.byteLength(text) <= maxEventData;
  return { value: fits ? (text ?? null) : null, details: text === undefined ? null : { included: fits } };
};

/** Builds the event that Step Functions puts on the default bus when an execution's status changes. */
export function statusEvent(summary: ExecutionSummary): EmittedEvent {
  const arn = executionArn(summary.machine, summary.name);
  const input = included(summary.input);
  const output = included(summary.output);
  return {
    source: "aws.states",
    detailType: "Step Functions Execution Status Change",
    resources: [arn],
    detail: {
      executionArn: arn,
      stateMachineArn: stateMachineArn(summary.machine),
      name: summary.name,
      status: summary.status,
      startDate: summary.startedAt,
      stopDate: summary.stoppedAt ?? null,
      input: input.value,
      inputDetails: input.details,
      output: output.value,
      outputDetails: output.details,
      error: summary.error ?? null,
      cause: summary.cause ?? null,
      stateMachineVersionArn: null,
      stateMachineAliasArn: null,
      redriveCount: 0,
      redriveDate: null,
      redriveStatus: null,
      redriveStatusReason: null,
    },
  };
}
