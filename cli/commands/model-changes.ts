import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Request } from "../../client/operations";
import { InvalidInputError } from "../../core/errors";
import { documentLimits, JsonLimitError, parseJson } from "../../core/json-text";
import { verdictWord } from "../../core/registry/gates/verdict";
import { type Command, wholeNumber } from "../command";
import { contextOf } from "../context";
import { versionArgument } from "./model-decisions";

type RegisterModelRequest = Request<"registerModelVersion">["body"];

interface Options {
  readonly reason: string;
  readonly version?: number;
  readonly delete?: boolean;
}

interface RegisterOptions extends Options {
  readonly as?: string;
  readonly source?: string;
  readonly from?: string;
  readonly key?: string;
}

export function addModelChangeCommands(models: Command): void {
  const change = (text: string, about: string) =>
    models.command(text).description(about).option("--reason <text>", "reason to record", "");
  const ofVersion = [
    "--version <version>",
    "change this version (default: the model)",
    wholeNumber("--version"),
  ] as const;

  change("create <model>", "create a model without versions")
    .option("--description <text>", "description in Markdown", "")
    .handle(async ({ client, print }, name: string, { description, reason }: Options & { description: string }) => {
      const { model } = await client.call("createModel", {
        body: { name, description, reason },
        idempotencyKey: randomUUID(),
      });
      print(model, `created model ${name}`);
    });

  change("describe <model> <text>", "set the description of a model or a version, in Markdown")
    .option(...ofVersion)
    .handle(async ({ client, print }, name: string, description: string, { version, reason }: Options) => {
      const body = { description, reason };
      const answer =
        version === undefined
          ? (await client.call("describeModel", { params: { name }, body })).model
          : (await client.call("describeModelVersion", { params: { name, version }, body })).version;
      print(answer, "description set");
    });

  change("tag <model> <key> [value]", "set a tag of a model or a version, or remove it with --delete")
    .option(...ofVersion)
    .option("--delete", "remove the tag")
    .handle(async ({ client, print }, name: string, key: string, value: string | undefined, options: Options) => {
      const { version, reason } = options;
      if ((value === undefined) !== (options.delete === true))
        throw new InvalidInputError("the tag cannot be set", [
          { path: "value", value, rule: "must be given, unless --delete is" },
        ]);
      const query = { key, reason };
      const body = { key, value: value ?? "", reason };
      const answer =
        version === undefined
          ? value === undefined
            ? (await client.call("untagModel", { params: { name }, query })).model
            : (await client.call("tagModel", { params: { name }, body })).model
          : value === undefined
            ? (await client.call("untagModelVersion", { params: { name, version }, query })).version
            : (await client.call("tagModelVersion", { params: { name, version }, body })).version;
      print(answer, value === undefined ? `tag ${key} removed` : `tag ${key} = ${value}`);
    });

  change("alias <model> <alias> [version]", "set an alias to a version, show it, or remove it with --delete")
    .option("--delete", "remove the alias")
    .handle(async ({ client, print }, name: string, alias: string, text: string | undefined, options: Options) => {
      const { reason } = options;
      if (options.delete) {
        const { model } = await client.call("deleteModelAlias", { params: { name, alias }, query: { reason } });
        print(model, `alias ${alias} removed`);
      } else if (text === undefined) {
        const { version } = await client.call("getModelAlias", { params: { name, alias } });
        print(version, `alias ${alias}: version ${version.version}`);
      } else {
        const body = { version: wholeNumber("version")(text), reason };
        const { model } = await client.call("setModelAlias", { params: { name, alias }, body });
        print(model, `alias ${alias}: version ${text}`);
      }
    });

  change("semver <model>", "set the semantic version of a version, permanently")
    .addArgument(versionArgument)
    .argument("<semver>", "such as 1.4.0; `models show --json` suggests the next")
    .handle(async ({ client, print }, name: string, version: number, semver: string, { reason }: Options) => {
      const request = { params: { name, version }, body: { semver, reason } };
      print(
        (await client.call("setModelVersionSemver", request)).version,
        `version ${version}: semantic version ${semver}`,
      );
    });

  change("register <run-or-model>", "register a completed run's model, or a version that was trained elsewhere")
    .option("--as <model>", "register the run's model as a version of this model, judged by its gates")
    .option("--source <uri>", "register a version from elsewhere: the URI of its files")
    .option("--from <file>", "JSON file with more fields: framework, signature, metrics, dataset, semver, tags, …")
    .option("--key <key>", "idempotency key: a repeated command with the same key registers nothing new")
    .action(async (name: string, { as: model, source, from, key, reason }: RegisterOptions, command: Command) => {
      const { client, print } = contextOf(command);
      if ((model === undefined) === (source === undefined)) {
        const rule = "must be given, or --source for a version from elsewhere, and not both";
        throw new InvalidInputError("the command", [{ path: "--as", rule }]);
      }
      if (model !== undefined) {
        const request = { params: { runId: name }, body: { model, reason } };
        const { version } = await client.call("registerTrainingRun", request);
        print(version, `registered ${name} as ${model} version ${version.version}: gates ${verdictWord(version)}`);
        return;
      }
      const more = from === undefined ? {} : (readJson(from) as Partial<RegisterModelRequest>);
      const body = { ...more, name, source: source as string, reason };
      const { version } = await client.call("registerModelVersion", { body, idempotencyKey: key ?? randomUUID() });
      print(version, `registered ${name} version ${version.version}`);
    });

  for (const [verb, about] of [
    ["delete", "hide a model or a version; it can be restored"],
    ["restore", "restore a deleted model or version"],
  ] as const) {
    change(`${verb} <model>`, about)
      .option(...ofVersion)
      .handle(async ({ client, print }, name: string, { version, reason }: Options) => {
        const params = { name, version: version ?? 0 };
        const answer =
          verb === "delete"
            ? version === undefined
              ? await client.call("deleteModel", { params: { name }, query: { reason } })
              : await client.call("deleteModelVersion", { params, query: { reason } })
            : version === undefined
              ? await client.call("restoreModel", { params: { name }, body: { reason } })
              : await client.call("restoreModelVersion", { params, body: { reason } });
        print(answer, `${version === undefined ? name : `${name} version ${version}`} is ${verb}d`);
      });
  }
}

function readJson(file: string): unknown {
  try {
    return parseJson(readFileSync(file, "utf8"), documentLimits);
  } catch (cause) {
    const rule = cause instanceof JsonLimitError ? cause.rule : "must be a JSON file that can be read";
    throw new InvalidInputError("the file cannot be read", [{ path: "file", value: file, rule }], cause);
  }
}
