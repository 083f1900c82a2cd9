import { Aws } from "aws-cdk-lib";
import type { FunctionName } from "../../platform/functions";

/** The gateway's time limit for a buffered answer. */
const bufferedMilliseconds = 29_000;
/** The gateway's time limit for a streamed answer. */
const streamedMilliseconds = 900_000;

/** The functions that stream their answers with `awslambda.streamifyResponse`. */
const streamed: ReadonlySet<FunctionName> = new Set(["stream-metrics"]);

/**
 * Streaming has its own URI (docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html).
 */
export function lambdaIntegration(name: FunctionName, functionArn: string): Readonly<Record<string, unknown>> {
  const lambda = `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path`;
  return streamed.has(name)
    ? {
        type: "aws_proxy",
        httpMethod: "POST",
        uri: `${lambda}/2021-11-15/functions/${functionArn}/response-streaming-invocations`,
        responseTransferMode: "STREAM",
        timeoutInMillis: streamedMilliseconds,
      }
    : {
        type: "aws_proxy",
        httpMethod: "POST",
        uri: `${lambda}/2015-03-31/functions/${functionArn}/invocations`,
        timeoutInMillis: bufferedMilliseconds,
      };
}
