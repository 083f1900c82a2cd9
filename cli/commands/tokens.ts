import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Command } from "commander";
import { createTokenStore, type SigningKeys, signingKeys } from "../../adapters/files/token-store";
import { defaultTeam } from "../../core/access/principals";
import {
  defaultScopes,
  expiryOf,
  isExpired,
  knownScopes,
  makeToken,
  readLifetime,
  scopes,
  tokenLifetimes,
} from "../../core/access/tokens";
import { InvalidInputError, type Problem } from "../../core/errors";
import { type GlobalOptions, teamOf } from "../context";
import { printJson, printTable } from "../output";

const defaultLifetime = `${tokenLifetimes.default / 24}d`;

/** Tokens of the embedded cloud's API. Anyone who can write its data can create them; the stack need not run. */
export function addTokenCommands(program: Command): void {
  const tokens = program.command("tokens").description("manage tokens for the API of the embedded cloud");

  tokens
    .command("create [name]")
    .description("create a token for a person or program and show it once; after the first token, the API requires one")
    .option("--actor <name>", "the name, as an option")
    .option("--expires <time>", `lifetime such as 12h or 30d, at most ${tokenLifetimes.max / 24}d`, defaultLifetime)
    .option("--scope <scopes>", `what the token permits: a list of ${scopes.join(", ")}`, defaultScopes.join(","))
    .action(async (name: string | undefined, _options: unknown, command: Command) => create(name, command));

  tokens
    .command("list")
    .description("list tokens with id, team, owner, scopes and expiry")
    .action(async (_options: unknown, command: Command) => list(command.optsWithGlobals<GlobalOptions>()));

  tokens
    .command("keys <id>")
    .description("show the AWS Signature Version 4 key pair of a token (service execute-api)")
    .action(async (id: string, _options: unknown, command: Command) => keys(id, command.optsWithGlobals()));

  tokens
    .command("revoke <id>")
    .description("revoke a token with immediate effect")
    .action(async (id: string, _options: unknown, command: Command) => revoke(id, command.optsWithGlobals()));
}

interface CreateOptions extends GlobalOptions {
  readonly actor?: string;
  readonly expires: string;
  readonly scope: string;
}

async function create(name: string | undefined, command: Command): Promise<void> {
  const { data, json, ...options } = command.optsWithGlobals<CreateOptions>();
  const { actor, scopes: permitted, hours } = readOwner(name, options);
  const now = Date.now();
  const times = { createdAt: new Date(now).toISOString(), expiresAt: expiryOf(now, hours) };
  const owner = { team: teamOf(command) ?? defaultTeam, actor, ...times, scopes: permitted };
  const { token, record } = makeToken(owner, randomBytes(38));
  await createTokenStore(resolve(data)).add(record);
  if (json) printJson({ id: record.id, ...owner, token });
  else
    process.stdout.write(
      `${token}\n\nteam ${owner.team}, actor ${actor}, scope ${permitted.join(", ")}, until ${owner.expiresAt}; the token is not shown again. The API of ${resolve(data)} now requires a token:\n` +
        `  export RINGMASTER_TOKEN=${token}\n\n` +
        `to sign requests instead, use the key pair of: ringmaster tokens keys ${record.id}\n`,
    );
}

function readOwner(name: string | undefined, options: Pick<CreateOptions, "actor" | "expires" | "scope">) {
  const actor = name ?? options.actor ?? "";
  const permitted = options.scope.split(",").map((each) => each.trim());
  const hours = readLifetime(options.expires);
  const problems: Problem[] = [];
  if (!/^[\x21-\x7e][\x20-\x7e]{0,199}$/.test(actor)) {
    problems.push({ path: "name", value: actor, rule: "must be 1–200 printable ASCII characters" });
  } else if (name !== undefined && options.actor !== undefined && name !== options.actor) {
    problems.push({ path: "--actor", value: options.actor, rule: `must be the name, ${name}, or be left out` });
  }
  if (hours === undefined) {
    const rule = `must be a number of hours or days, such as 12h or 30d, and at most ${tokenLifetimes.max / 24}d`;
    problems.push({ path: "--expires", value: options.expires, rule });
  }
  if (permitted.some((each) => !(scopes as readonly string[]).includes(each))) {
    problems.push({ path: "--scope", value: options.scope, rule: `must be a list of ${scopes.join(", ")}` });
  }
  if (problems.length > 0 || hours === undefined) throw new InvalidInputError("the token cannot be created", problems);
  return { actor, scopes: knownScopes(permitted), hours };
}

async function list({ data, json }: GlobalOptions): Promise<void> {
  const now = Date.now();
  const records = (await createTokenStore(resolve(data)).list()).map(({ sha256: _, ...record }) => ({
    ...record,
    expired: isExpired(record, now),
  }));
  if (json) printJson({ tokens: records });
  else if (records.length === 0) process.stdout.write(`no tokens in ${resolve(data)}\n`);
  else
    printTable(
      ["ID", "TEAM", "ACTOR", "SCOPE", "CREATED", "EXPIRES"],
      records.map(({ id, team, actor, createdAt, expiresAt, expired, scopes: permitted }) => [
        ...[id, team, actor, permitted.join(", "), createdAt],
        `${expiresAt}${expired ? " (expired)" : ""}`,
      ]),
    );
}

async function keys(id: string, { data, json }: GlobalOptions): Promise<void> {
  const pair = await signingKeys(createTokenStore(resolve(data)), id);
  if (!pair) throw unknownToken("the token has no keys", id);
  if (json) printJson(pair);
  else process.stdout.write(exportsOf(pair));
}

function exportsOf({ accessKeyId, secretAccessKey }: SigningKeys): string {
  return `  export AWS_ACCESS_KEY_ID=${accessKeyId}\n  export AWS_SECRET_ACCESS_KEY=${secretAccessKey}\n`;
}

function unknownToken(what: string, id: string): InvalidInputError {
  const rule = "must be the id of a token: `ringmaster tokens list` lists the ids";
  return new InvalidInputError(what, [{ path: "id", value: id, rule }]);
}

async function revoke(id: string, { data, json }: GlobalOptions): Promise<void> {
  if (!(await createTokenStore(resolve(data)).revoke(id))) {
    throw unknownToken("the token cannot be revoked", id);
  }
  if (json) printJson({ revoked: id });
  else process.stdout.write(`token ${id} is revoked\n`);
}
