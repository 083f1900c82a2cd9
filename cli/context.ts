import { userInfo } from "node:os";
import type { Command } from "commander";
import { type ApiClient, createClient } from "../client/api-client";
import { readStackFile } from "./stack-file";

/** Options that every command has. */
export interface GlobalOptions {
  readonly json?: boolean;
  readonly api?: string;
  readonly data: string;
}

export interface CliContext {
  readonly client: ApiClient;
  /** Print one JSON document on stdout instead of tables and bars. */
  readonly json: boolean;
}

/** Where the API is: `--api`, else RINGMASTER_API_URL, else the stack over `--data`, else the default port. */
export function contextOf(command: Command): CliContext {
  const options = command.optsWithGlobals<GlobalOptions>();
  const baseUrl =
    options.api ?? process.env["RINGMASTER_API_URL"] ?? readStackFile(options.data)?.api ?? "http://127.0.0.1:4700";
  return { client: createClient({ baseUrl, actor: actorName() }), json: options.json === true };
}

function actorName(): string {
  try {
    return process.env["RINGMASTER_ACTOR"] ?? userInfo().username;
  } catch {
    return "unknown"; // A user id without a name, as in some containers.
  }
}
