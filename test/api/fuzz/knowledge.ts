export type Thing = Readonly<Record<string, unknown>>;

const remembered = 40;
/** Number of rounds of furnishing after which what a round brought is forgotten. */
const rounds = 3;

export class Knowledge {
  private readonly heard: Thing[] = [];
  private readonly tokens = new Map<string, { readonly path: string; readonly token: string }>();
  private freshNames = 0;

  private readonly furnished: Thing[] = [];

  furnish(things: readonly Thing[]): void {
    this.furnished.unshift(...things);
    this.furnished.splice(rounds * things.length);
  }

  hear(things: readonly Thing[]): void {
    this.heard.unshift(...things);
    this.heard.splice(remembered);
  }

  /** One that has as many of the names as any; what was furnished and what was heard of by turns. */
  choose(names: readonly string[], at: number): Thing {
    const [first, second] = at % 4 === 0 ? [this.heard, this.furnished] : [this.furnished, this.heard];
    const fitting = bestFitting(first, names) ?? bestFitting(second, names) ?? [{}];
    return fitting[Math.floor(at / 4) % fitting.length]!;
  }

  /** The thing's own, or that of another one which has such a value at all. */
  value(name: string, thing: Thing, at: number): unknown {
    if (name === "fresh") return `fresh-${++this.freshNames}`;
    if (Object.hasOwn(thing, name)) return thing[name];
    return this.choose([name], at)[name];
  }

  keepToken(operationId: string, path: string, token: string): void {
    this.tokens.set(operationId, { path, token });
  }

  tokenOf(operationId: string): { readonly path: string; readonly token: string } | undefined {
    return this.tokens.get(operationId);
  }
}

function bestFitting(things: readonly Thing[], names: readonly string[]): readonly Thing[] | undefined {
  const known = (thing: Thing): number => names.filter((name) => Object.hasOwn(thing, name)).length;
  const most = Math.max(0, ...things.map(known));
  return most === 0 ? undefined : things.filter((thing) => known(thing) === most);
}

/** Finds the things in a response of either API: objects that name a run, a model, a version, a trigger, a content. */
export function thingsIn(answer: unknown, depth = 4): readonly Thing[] {
  if (answer === null || typeof answer !== "object" || depth === 0) return [];
  const members = answer as Readonly<Record<string, unknown>>;
  const inside = Object.values(members)
    .slice(0, 12)
    .flatMap((member) => thingsIn(member, depth - 1))
    .slice(0, 6);
  const own = ownThing(members);
  return Object.keys(own).length > 0 ? [own, ...inside] : inside;
}

function ownThing(members: Readonly<Record<string, unknown>>): Thing {
  const { name, latestVersion, digest, status } = members;
  const thing: Record<string, unknown> = {};
  const names = ["runId", "experimentId", "model", "version", "sha256", "epoch", "run_id", "experiment_id", "model_id"];
  for (const key of names) {
    const value = members[key];
    if (typeof value === "string" || typeof value === "number") thing[key] = value;
  }
  if (typeof name === "string" && members["on"] !== undefined) thing["trigger"] = name;
  else if (typeof name === "string" && members["target"] !== undefined) thing["monitor"] = name;
  else if (typeof name === "string" && (members["definition"] ?? members["entities"]) !== undefined)
    thing["view"] = name;
  else if (typeof name === "string" && latestVersion !== undefined) thing["model"] = name;
  else if (typeof name === "string" && typeof digest === "string") thing["dataset"] = name;
  if (typeof members["id"] === "string" && status === "refused") thing["id"] = members["id"];
  // A version of a dataset is none of a model; a model's epoch is one of outcomes, no training's.
  if (thing["model"] === undefined) delete thing["version"];
  else if (thing["epoch"] !== undefined) {
    thing["outcomeEpoch"] = thing["epoch"];
    delete thing["epoch"];
  }
  return thing;
}
