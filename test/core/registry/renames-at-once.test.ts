import { createModelRepository } from "../../../adapters/dynamodb/model-repository";
import { Table } from "../../../adapters/dynamodb/table";
import { RingmasterError } from "../../../core/errors";
import { setAlias } from "../../../core/registry/labels";
import { restoreModel } from "../../../core/registry/lifecycle";
import type { HistoryEntry, Model, ModelVersion } from "../../../core/registry/model";
import { createRegistry, type ModelSnapshot } from "../../../core/registry/registry";
import { oneOf, seededRandom } from "../../support/random";
import { Aftermath } from "./check/aftermath";
import { MemoryTable, type Turn } from "./check/table";

const rounds = Number(process.env["RINGMASTER_MODEL_CHECK_ROUNDS"] ?? 200);
const names = ["a", "b", "c", "d", "e", "f"] as const;
const by = { by: "ada", at: "2026-01-01T00:00:00.000Z" };

/** Replies other than success. */
const refusals = new Set(["MODEL_NOT_FOUND", "MODEL_EXISTS", "MODEL_NAME_FIXED", "MODEL_VERSION_NOT_FOUND"]);

/** Renames, and what else is done to the same names, one turn of one process after another in an order drawn by chance; some die. */
async function playRound(seed: number) {
  const random = seededRandom(seed);
  const table = new MemoryTable();
  const violations: string[] = [];
  const answers: Record<string, number> = {};
  const waiting: { readonly go: () => void; readonly die: () => void }[] = [];
  const meant = new Map<string, string>();
  const aftermaths = new Map<string, Aftermath>(names.map((name) => [name, new Aftermath()]));
  const registryOf = (turn: Turn, conflicts: () => boolean) => {
    const repository = createModelRepository(new Table(table.client(turn, conflicts), "Catalog"), "default");
    const outboxes = new Map(names.map((name) => [name, aftermaths.get(name)!.outboxOf(repository, turn)]));
    const followUp = {
      committed: (change: { readonly model: Model }) =>
        outboxes.get(change.model.name as "a")!.committed(change as never),
    };
    return { registry: createRegistry(repository, () => turn("within"), followUp), outboxes };
  };
  const calm = registryOf(
    () => Promise.resolve(),
    () => false,
  );
  let made = 0;
  const register = (registry: typeof calm.registry, model: string) => {
    const source = `s3://bucket/${++made}`;
    return registry.register("default", { model, source, metrics: {} }, by, { request: source });
  };

  const rows = <T>(name: string, prefix: string): readonly T[] =>
    table
      .items()
      .filter(({ pk, sk }) => pk === `TEAM#default#MODEL#${name}` && sk.startsWith(prefix))
      .map(({ record }) => record as T);
  const shown = (name: string): Omit<ModelSnapshot, "history"> | undefined => {
    const [model] = rows<Model>(name, "MODEL");
    if (model?.lifecycle !== "active") return undefined;
    return {
      model,
      versions: rows<ModelVersion>(name, "VERSION#").filter(({ version }) => version >= model.firstVersion),
    };
  };

  /** Checks what holds at every instant: nothing is shown twice or lost, and no number means two things. */
  function look(): void {
    const seen = new Map<string, string>();
    for (const name of names) {
      const [head] = rows<Model>(name, "MODEL");
      const history = rows<HistoryEntry>(name, "HISTORY#").map(({ revision }) => revision);
      const expected = Array.from({ length: head?.revision ?? 0 }, (_, at) => at + 1);
      if (String(history) !== String(expected)) violations.push(`history of ${name} is ${history}`);
      const model = shown(name);
      const numbers = model?.versions.map(({ version }) => version) ?? [];
      const span = (model?.model.latestVersion ?? 0) - (model?.model.firstVersion ?? 1) + 1;
      if (numbers.length !== span) violations.push(`${name} shows ${numbers}, not ${span} versions`);
      for (const { version, source, model: called } of model?.versions ?? []) {
        if (called !== name) violations.push(`version ${version} of ${name} says that it is of ${called}`);
        if (seen.has(source!)) violations.push(`${source} is shown under ${seen.get(source!)} and ${name}`);
        seen.set(source!, name);
        const key = `${name}@${version}`;
        if ((meant.get(key) ?? source) !== source)
          violations.push(`${key} meant ${meant.get(key)}, and means ${source}`);
        meant.set(key, source!);
      }
      for (const [alias, version] of Object.entries(model?.model.aliases ?? {}))
        if (!numbers.includes(version)) violations.push(`${alias} of ${name} is ${version}, which it has not`);
    }
    for (const source of everRegistered) if (!seen.has(source)) violations.push(`${source} is shown nowhere`);
    for (const source of seen.keys()) everRegistered.add(source);
  }
  const everRegistered = new Set<string>();

  await register(calm.registry, "a");
  await register(calm.registry, "a");
  if (random() < 0.5) await calm.registry.rename("a", "b", by);
  // Its first name may be another model's by now, or have been.
  if (random() < 0.6) await register(calm.registry, "a");
  if (random() < 0.6) await calm.registry.rename("a", "c", by).catch(() => undefined);
  table.onWrite(look);

  function draw(registry: typeof calm.registry): () => Promise<unknown> {
    const name = oneOf(random, names);
    const other = oneOf(
      random,
      names.filter((each) => each !== name),
    );
    const kind = random();
    if (kind < 0.5) return () => registry.rename(name, other, by);
    if (kind < 0.7) return () => register(registry, name);
    if (kind < 0.8) return () => registry.create("default", name, { description: "", tags: {} }, by);
    if (kind < 0.9) return () => registry.apply(name, [1], setAlias("best", 1, by));
    if (kind < 0.95) return () => registry.apply(name, [], restoreModel(by));
    return async () => {
      const { model, versions, history } = await registry.snapshot(name);
      if (versions.length !== model.latestVersion - model.firstVersion + 1)
        violations.push(`a reader saw ${versions.length} versions`);
      if (history.length !== model.revision) violations.push(`a reader saw ${history.length} history entries`);
    };
  }
  const starts = Array.from({ length: 3 + Math.floor(random() * 12) }, () => () => {
    let alive = true;
    const die = () => {
      alive = false;
    };
    const turn: Turn = () => new Promise((resolve) => waiting.push({ go: () => alive && resolve(), die }));
    const { registry } = registryOf(turn, () => random() < 0.05);
    void draw(registry)().then(
      () => count("done"),
      (error: unknown) => {
        count(error instanceof RingmasterError ? error.code : String(error));
        if (!(error instanceof RingmasterError && refusals.has(error.code))) violations.push(String(error));
      },
    );
  });
  const count = (answer: string) => {
    answers[answer] = (answers[answer] ?? 0) + 1;
  };
  while (starts.length > 0 || waiting.length > 0) {
    if (starts.length > 0 && (waiting.length === 0 || random() < 0.4)) starts.pop()!();
    else {
      const [one] = waiting.splice(Math.floor(random() * waiting.length), 1);
      if (random() < 0.01) one!.die();
      else one!.go();
    }
    await new Promise(setImmediate);
  }
  const left = () =>
    table
      .items()
      .flatMap(({ pk, sk }) => (sk.startsWith("EVENT#") ? [[pk.slice(-1), Number(sk.slice(6))] as const] : []));
  for (let some = left(); some.length > 0; some = left())
    await calm.outboxes.get(some[0]![0] as "a")!.sweep(some[0]![0], some[0]![1]);
  const renames = names
    .flatMap((name) => rows<HistoryEntry>(name, "HISTORY#"))
    .filter(({ action }) => action === "renamed");
  for (const name of names) {
    const first = [...new Set(aftermaths.get(name)!.published)];
    if (String(first) !== String(first.map((_, at) => at + 1)))
      violations.push(`the bus received for ${name} ${first}`);
    if (first.length !== (rows<Model>(name, "MODEL")[0]?.revision ?? 0))
      violations.push(`the bus received for ${name} ${first}`);
  }
  if (table.overwritten.length > 0) violations.push(`written twice: ${table.overwritten}`);
  return { violations, answers, renames: renames.length / 2 };
}

describe("models that are renamed while others are at their names", () => {
  it("are under one name at every instant, with all that they have, and no number ever means two versions", async () => {
    const total: Record<string, number> = {};
    let renames = 0;
    for (let seed = 1; seed <= rounds; seed += 1) {
      const { violations, answers, ...played } = await playRound(seed);
      expect({ seed, violations }).toEqual({ seed, violations: [] });
      for (const [answer, times] of Object.entries(answers)) total[answer] = (total[answer] ?? 0) + times;
      renames += played.renames;
    }
    // A check that saw nothing of what it is for has shown nothing.
    expect(renames).toBeGreaterThan(rounds / 2);
    for (const code of ["done", "MODEL_NOT_FOUND", "MODEL_EXISTS", "MODEL_NAME_FIXED"])
      expect(total[code]).toBeGreaterThan(rounds / 100);
  });
});
