import { Aws } from "aws-cdk-lib";
import type { FunctionName } from "../../platform/functions";

/** Of a buffered answer: the gateway's limit. */
const bufferedMilliseconds = 29_000;
/** Of a streamed one. */
const streamedMilliseconds = 900_000;

/** Functions whose answers are streamed: `awslambda.streamifyResponse` on their side. */
const streamed: ReadonlySet<FunctionName> = new Set(["stream-metrics"]);

/**
 * A Lambda proxy integration. Streaming has a URI of its own: InvokeWithResponseStream, of the API's version of 2021-11-15
 * (docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html).
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
