import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { toJson } from "../../core/json-text";
import { type MetricSink, MetricsRefusedError } from "../../core/tracking/metric-store";

/** The final errors of the ingest function: they concern the batch itself. */
const final: readonly (string | undefined)[] = [
  ...["INVALID_INPUT", "RUN_NOT_FOUND", "RUN_KEY_REFUSED", "RUN_FIELD_FIXED", "RUN_ENDED"],
];

/** An answer means that the metrics are stored. @param runKey proves that they come from the run's own trainers */
export function createLambdaMetricSink(
  client: LambdaClient,
  functionName: string,
  runKey: string | undefined,
): MetricSink {
  return {
    async send(batch) {
      const answer = await client.send(
        new InvokeCommand({
          FunctionName: functionName,
          InvocationType: "RequestResponse",
          Payload: toJson({ ...batch, runKey }),
        }),
      );
      if (answer.FunctionError === undefined) return;
      const error = parseError(answer.Payload);
      if (final.includes(error.errorType))
        throw new MetricsRefusedError(error.errorMessage ?? "no reason given", error);
      throw new Error(
        `${functionName} failed: ${error.errorType ?? "Error"}: ${error.errorMessage ?? "no reason given"}`,
      );
    },
  };
}

function parseError(payload: Uint8Array | undefined): { readonly errorType?: string; readonly errorMessage?: string } {
  try {
    return JSON.parse(new TextDecoder().decode(payload)) as { errorType?: string; errorMessage?: string };
  } catch {
    return {};
  }
}
