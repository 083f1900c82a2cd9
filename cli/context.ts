import { userInfo } from "node:os";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type ApiClient, createClient } from "../client/api-client";
import { createTransport, type RawRequest, type TransportOptions } from "../client/transport";
import { checkTeamName } from "../core/access/principals";
import { InvalidInputError } from "../core/errors";
import { StackNotRunningError } from "./errors";
import { printJson } from "./output";
import { createSigner } from "./signing";
import { readStackFile } from "./stack-file";

export interface GlobalOptions {
  readonly team?: string;
  readonly json?: boolean;
  readonly api?: string;
  readonly data: string;
}

export interface CliContext {
  readonly client: ApiClient;
  /** Print one JSON document on stdout instead of tables and bars. */
  readonly json: boolean;
  /** Prints an answer as JSON with `--json`, else as a text. */
  print(answer: unknown, text: string): void;
}

export function contextOf(command: Command): CliContext {
  const json = command.optsWithGlobals<GlobalOptions>().json === true;
  return {
    client: createClient(transportOf(command)),
    json,
    print(answer, text) {
      if (json) printJson(answer);
      else process.stdout.write(`${text}\n`);
    },
  };
}

/** Returns the URL of the API and its request headers, for content other than JSON. */
export function pagesOf(command: Command): { readonly baseUrl: string; readonly request: RawRequest } {
  const options = transportOf(command);
  return { baseUrl: options.baseUrl.replace(/\/$/, ""), request: createTransport(options).raw };
}

function transportOf(command: Command): TransportOptions {
  const { RINGMASTER_TOKEN: token } = process.env;
  const team = teamOf(command);
  const baseUrl = apiUrlOf(command);
  const authorize = token ? undefined : createSigner(baseUrl);
  return {
    baseUrl,
    actor: actorName(),
    ...(team ? { team } : {}),
    ...(token ? { token } : {}),
    ...(authorize ? { authorize } : {}),
  };
}

/** Returns `--team`, else RINGMASTER_TEAM. If neither is given, the API uses the caller's only team. */
export function teamOf(command: Command): string | undefined {
  const { team } = command.optsWithGlobals<GlobalOptions>();
  if (team !== undefined) return checkTeamName(team, "--team");
  const fromEnvironment = process.env["RINGMASTER_TEAM"];
  return fromEnvironment ? checkTeamName(fromEnvironment, "RINGMASTER_TEAM") : undefined;
}

/**
 * `--api`, else the stack of a given `--data`, else RINGMASTER_API_URL, else the stack of the default data, else the
 * default port.
 */
export function apiUrlOf(command: Command): string {
  const { api, data } = command.optsWithGlobals<GlobalOptions>();
  if (api !== undefined) {
    if (/^https?:/.test(api) && URL.canParse(api)) return api;
    const rule = "must be a URL such as http://127.0.0.1:4700";
    throw new InvalidInputError("the API URL is not valid", [{ path: "--api", value: api, rule }]);
  }
  const stack = readStackFile(data);
  if (command.getOptionValueSourceWithGlobals("data") === "cli") {
    if (stack) return stack.api;
    throw new StackNotRunningError(resolve(data));
  }
  return process.env["RINGMASTER_API_URL"] ?? stack?.api ?? "http://127.0.0.1:4700";
}

function actorName(): string {
  try {
    return process.env["RINGMASTER_ACTOR"] ?? userInfo().username;
  } catch {
    return "unknown"; // A user id without a name, as in some containers.
  }
}
