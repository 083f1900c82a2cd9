import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { RingmasterError } from "../../core/errors";
import type { Credentials } from "../../core/training/run-credentials";

/** A final refusal: the run has ended, or the key belongs to another run. */
export class CredentialsRefusedError extends RingmasterError {
  constructor(runId: string, reason: string) {
    super(`run ${runId} gets no credentials: ${reason}`, { code: "CREDENTIALS_REFUSED", httpStatus: 403 });
  }
}

const final: readonly (string | undefined)[] = ["RUN_KEY_REFUSED", "RUN_ENDED", "RUN_NOT_FOUND", "INVALID_INPUT"];
/** Longer than a cold start takes. */
const patienceMs = 15_000;

/**
 * Requests the credentials of a run from the function `run-credentials`.
 *
 * @throws CredentialsRefusedError if the refusal is final
 */
export async function fetchRunCredentials(
  client: LambdaClient,
  functionName: string,
  run: { readonly runId: string; readonly runKey: string; readonly purpose: "training" | "evaluation" },
): Promise<Credentials> {
  const answer = await client.send(
    new InvokeCommand({ FunctionName: functionName, InvocationType: "RequestResponse", Payload: JSON.stringify(run) }),
    { abortSignal: AbortSignal.timeout(patienceMs) },
  );
  const payload = JSON.parse(new TextDecoder().decode(answer.Payload)) as Credentials & {
    readonly errorType?: string;
    readonly errorMessage?: string;
  };
  if (answer.FunctionError === undefined) return payload;
  const reason = payload.errorMessage ?? "no reason given";
  if (final.includes(payload.errorType)) throw new CredentialsRefusedError(run.runId, reason);
  throw new Error(`${functionName} failed: ${payload.errorType ?? "Error"}: ${reason}`);
}
