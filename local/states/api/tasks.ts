import { parseJson } from "../../json";
import { ServiceError } from "../errors";
import type { Json } from "../json";
import { byteLength, maxPayloadBytes } from "../json";
import type { Input } from "./input";
import type { Operation } from "./operation";

const tokenOf = (input: Input): string => input.string("taskToken", { max: 2048 });

function outputOf(input: Input): Json {
  const text = input.string("output", { min: 0 });
  try {
    const output = parseJson(text) as Json;
    if (byteLength(output) <= maxPayloadBytes) return output;
  } catch (error) {
    throw new ServiceError("InvalidOutput", `Invalid Output: '${(error as Error).message}'`, { cause: error });
  }
  throw new ServiceError("InvalidOutput", `Invalid Output: 'The output is longer than ${maxPayloadBytes} bytes'`);
}

export const sendTaskSuccess: Operation = async (input, api) => {
  const output = outputOf(input);
  const token = tokenOf(input);
  await (await api.engine.byToken(token)).taskSucceeded(token, output);
  return {};
};

export const sendTaskFailure: Operation = async (input, api) => {
  const error = input.optional("error", { min: 0, max: 256 });
  const cause = input.optional("cause", { min: 0, max: 32_768 });
  const token = tokenOf(input);
  await (await api.engine.byToken(token)).taskFailed(token, { error, cause });
  return {};
};

export const sendTaskHeartbeat: Operation = async (input, api) => {
  const token = tokenOf(input);
  await (await api.engine.byToken(token)).heartbeat(token);
  return {};
};
