import { type TableName, tables } from "../../../platform/tables";
import { fixed, signing, tableCommands, transactionParts, transactions } from "./commands";
import type { Unit } from "./model";
import type { Reach } from "./reach";

/** The settings that give adapters their table or function. */
const functionSettings: Readonly<Record<string, string>> = {
  ingestFunction: "function/ingest-metrics",
  credentialsFunction: "function/run-credentials",
};

/** The values of the SDK that need no right by themselves. */
const harmless = /Client$|^DynamoDBDocumentClient$|Exception$|^getSignedUrl$/;

/** Returns the rights that reached code needs, as `action resource`, sorted. */
export function needsOf(reach: Reach): readonly string[] {
  const needs = new Set<string>();
  const settings = new Map<string, Set<string>>();
  for (const { file, setting } of reach.wirings) settings.set(file, (settings.get(file) ?? new Set()).add(setting));
  for (let before = -1; before !== sizeOf(settings); ) {
    before = sizeOf(settings);
    for (const { from, to } of reach.handovers) {
      for (const setting of settings.get(from) ?? []) settings.set(to, (settings.get(to) ?? new Set()).add(setting));
    }
  }
  for (const unit of reach.units.values()) {
    const file =
      unit.name === "module" ? undefined : Object.keys(signing).find((path) => unit.file.endsWith(`/${path}`));
    for (const [action, resource] of file === undefined ? [] : signing[file]!) needs.add(`${action} ${resource}`);
    for (const value of unit.sdkValues) {
      if (!harmless.test(value))
        throw new Error(
          `${unit.file} takes ${value} from the SDK: test/infra/reach/commands.ts does not know what it needs`,
        );
    }
    for (const command of unit.commands) {
      const known = fixed[command];
      if (known) for (const [action, resource] of known) needs.add(`${action} ${resource}`);
      else if (command === "InvokeCommand") {
        const owners = ownersOf(unit, (owner) => functionsOf(owner.file, settings).length > 0);
        if (owners.length === 0) throw new Error(`${unit.file}, ${unit.name}: cannot tell which function it invokes`);
        for (const { file } of owners) {
          for (const resource of functionsOf(file, settings)) needs.add(`lambda:InvokeFunction ${resource}`);
        }
      } else if (tableCommands[command] !== undefined || transactions.has(command)) {
        for (const need of tableNeeds(command, unit, reach, settings)) needs.add(need);
      } else throw new Error(`${unit.file} sends ${command}: test/infra/reach/commands.ts does not know what it needs`);
    }
  }
  return [...needs].sort();
}

function sizeOf(sets: ReadonlyMap<string, ReadonlySet<string>>): number {
  return [...sets.values()].reduce((sum, { size }) => sum + size, 0);
}

function tableNeeds(
  command: string,
  unit: Unit,
  reach: Reach,
  settings: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] {
  const owners = ownersOf(unit, ({ file }) => tablesOf(file, settings).length > 0);
  if (owners.length === 0) throw new Error(`${unit.file}, ${unit.name}: cannot tell which table ${command} goes to`);
  return owners.flatMap((owner) =>
    tablesOf(owner.file, settings).flatMap((table) => {
      const index = command === "QueryCommand" ? [...(owner.properties.get("IndexName") ?? [])] : [];
      if (index.length > 0) return index.map((name) => `dynamodb:Query table/${table}/${name}`);
      const operations = transactions.has(command)
        ? Object.entries(transactionParts).flatMap(([part, operation]) =>
            writes(reach, unit.file, part) ? [operation] : [],
          )
        : [tableCommands[command]];
      return operations.map((operation) => `dynamodb:${operation} table/${table}`);
    }),
  );
}

/** Returns whether reached code of a file creates a transaction's part. */
function writes(reach: Reach, file: string, part: string): boolean {
  return [...reach.units.values()].some((unit) => unit.file === file && unit.properties.has(part));
}

/** Returns the unit itself, or the nearest callers that know the resource. */
function ownersOf(unit: Unit, knows: (unit: Unit) => boolean): readonly Unit[] {
  const owners = new Set<Unit>();
  const seen = new Set([unit]);
  const queue = [unit];
  for (let next = queue.pop(); next; next = queue.pop()) {
    if (knows(next)) {
      owners.add(next);
      continue;
    }
    for (const caller of next.callers) {
      if (seen.has(caller)) continue;
      seen.add(caller);
      queue.push(caller);
    }
  }
  return [...owners];
}

function tablesOf(file: string, settings: ReadonlyMap<string, ReadonlySet<string>>): readonly TableName[] {
  const words = [...(settings.get(file) ?? [])].flatMap((setting) => {
    const word = /^tables\.(\w+)$/.exec(setting)?.[1] ?? /^(\w+)Table$/.exec(setting)?.[1];
    return word === undefined ? [] : [word.toLowerCase()];
  });
  return tables.map(({ name }) => name).filter((name) => words.includes(name.toLowerCase()));
}

function functionsOf(file: string, settings: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  return [...(settings.get(file) ?? [])].flatMap((setting) => functionSettings[setting] ?? []);
}
