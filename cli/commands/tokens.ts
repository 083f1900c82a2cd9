import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Command } from "commander";
import { createTokenStore, type SigningKeys, signingKeys } from "../../adapters/files/token-store";
import { makeToken } from "../../core/access/tokens";
import { InvalidInputError } from "../../core/errors";
import { defaultTeam } from "../../core/platform/teams";
import { type GlobalOptions, teamOf } from "../context";
import { printJson, printTable } from "../output";

/** Tokens of the embedded cloud's API. Whoever may write its data may make them: the stack need not run. */
export function addTokenCommands(program: Command): void {
  const tokens = program.command("tokens").description("manage tokens for the API of the embedded cloud");

  tokens
    .command("create")
    .description("create a token and show it once; after the first token, the API requires one")
    .requiredOption("--actor <name>", "name that runs and changes record for the token")
    .action(async (_options: unknown, command: Command) => create(command));

  tokens
    .command("list")
    .description("list tokens with id, team and owner")
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

async function create(command: Command): Promise<void> {
  const { actor, data, json } = command.optsWithGlobals<GlobalOptions & { readonly actor: string }>();
  if (!/^[\x21-\x7e][\x20-\x7e]{0,199}$/.test(actor)) {
    const rule = "must be 1–200 printable ASCII characters";
    throw new InvalidInputError("the token cannot be created", [{ path: "--actor", value: actor, rule }]);
  }
  const owner = { team: teamOf(command) ?? defaultTeam, actor, createdAt: new Date().toISOString() };
  const { token, record } = makeToken(owner, randomBytes(38));
  await createTokenStore(resolve(data)).add(record);
  if (json) printJson({ id: record.id, ...owner, token });
  else
    process.stdout.write(
      `${token}\n\nteam ${owner.team}, actor ${actor}; the token is not shown again. The API of ${resolve(data)} now requires a token:\n` +
        `  export RINGMASTER_TOKEN=${token}\n\n` +
        `to sign requests instead, use the key pair of: ringmaster tokens keys ${record.id}\n`,
    );
}

async function list({ data, json }: GlobalOptions): Promise<void> {
  const records = (await createTokenStore(resolve(data)).list()).map(({ id, team, actor, createdAt }) => ({
    id,
    team,
    actor,
    createdAt,
  }));
  if (json) printJson({ tokens: records });
  else if (records.length === 0) process.stdout.write(`no tokens in ${resolve(data)}\n`);
  else
    printTable(
      ["ID", "TEAM", "ACTOR", "CREATED"],
      records.map(({ id, team, actor, createdAt }) => [id, team, actor, createdAt]),
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
