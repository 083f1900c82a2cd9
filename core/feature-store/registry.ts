import { inRounds, type Pause } from "../backoff";
import { digestOf } from "../digest";
import { InvalidInputError } from "../errors";
import { type Clock, isoTime } from "../ports";
import type { Warning } from "../shapes";
import { checkDefinition } from "./definition";
import { viewBusy, viewIncompatible, viewNotFound, viewVersionNotFound } from "./errors";
import { compileFeatures } from "./features";
import type { ViewRepository } from "./ports";
import type { Feature, ViewDefinition, ViewVersion } from "./shapes";

export interface RegisterViewDependencies {
  readonly views: ViewRepository;
  readonly clock: Clock;
  readonly pause: Pause;
}

const rounds = 20;

export interface ViewRegistration {
  readonly created: boolean;
  readonly version: ViewVersion;
  readonly warnings?: Warning[];
}

/** Says which models in production read rows that are no longer added to. */
function staleWarning({ name, version }: ViewVersion, uses: readonly string[]): Warning {
  const message = `models in production use earlier versions, whose rows no longer grow: ${uses.join(", ")}; train them with ${name}@${version}`;
  return { code: "VIEW_IN_PRODUCTION", message };
}

/**
 * Registers a definition as the next version of its view. Idempotent: an equal definition is the version that has it.
 *
 * @param productionUses returns the model versions in production that read the view, for refusals and warnings
 * @throws InvalidInputError, FEATURE_VIEW_INCOMPATIBLE, FEATURE_VIEW_BUSY
 */
export async function registerView(
  { views, clock, pause }: RegisterViewDependencies,
  definition: ViewDefinition,
  {
    allowIncompatible,
    by,
    productionUses = async () => [],
  }: {
    readonly allowIncompatible: boolean;
    readonly by: string;
    readonly productionUses?: () => Promise<readonly string[]>;
  },
): Promise<ViewRegistration> {
  checkDefinition(definition);
  const { name } = definition;
  const digest = digestOf(definition);
  const { features } = compileFeatures(definition);
  return inRounds({ rounds, pause, busy: () => viewBusy(name) }, async () => {
    const existingVersion = await views.findByDigest(name, digest);
    if (existingVersion) return { created: false, version: existingVersion };
    const newest = await views.findNewest(name);
    const changes = newest ? incompatibilities(newest, { definition, features }) : [];
    if (newest && changes.length > 0 && !allowIncompatible) {
      throw viewIncompatible(name, newest.version, changes, await productionUses());
    }
    const version: ViewVersion = {
      ...{ name, version: (newest?.version ?? 0) + 1, digest, definition, features: [...features] },
      generation: (newest?.generation ?? 0) + (newest && changes.length === 0 ? 0 : 1),
      ...{ createdBy: by, createdAt: isoTime(clock) },
    };
    if (!(await views.register(version))) return undefined;
    const uses = changes.length > 0 ? await productionUses() : [];
    return { created: true, version, ...(uses.length > 0 ? { warnings: [staleWarning(version, uses)] } : {}) };
  });
}

/**
 * Returns the version of `name` or `name@3`.
 *
 * @throws InvalidInputError, FEATURE_VIEW_NOT_FOUND, FEATURE_VIEW_VERSION_NOT_FOUND
 */
export async function resolveView(
  views: Pick<ViewRepository, "find" | "findNewest">,
  reference: string,
): Promise<ViewVersion> {
  const [, name, number] = /^([a-z0-9][a-z0-9-]{0,62})(?:@([1-9]\d{0,8}))?$/.exec(reference) ?? [];
  if (name === undefined) {
    const rule = "must be NAME or NAME@VERSION";
    throw new InvalidInputError("the feature view is not valid", [{ path: "view", value: reference, rule }]);
  }
  const version = number === undefined ? undefined : await views.find(name, Number(number));
  if (version) return version;
  const newest = await views.findNewest(name);
  if (!newest) throw viewNotFound(name);
  if (number !== undefined) throw viewVersionNotFound(name, Number(number), newest.version);
  return newest;
}

/**
 * Returns the changes that break readers of a version or its stored rows; empty for a compatible definition. New columns,
 * new features and another TTL are compatible: older rows lack the new values. The online store keeps rows for the
 * windows that a view has, and not for other ones.
 */
export function incompatibilities(
  before: Pick<ViewVersion, "definition" | "features">,
  next: { readonly definition: ViewDefinition; readonly features: readonly Feature[] },
): readonly string[] {
  const changes: string[] = [];
  const [old, now] = [before.definition, next.definition];
  const differs = (what: string, a: string | undefined, b: string | undefined) => {
    if (a !== b) changes.push(`${what} was ${a ?? "none"}, and is ${b ?? "none"}`);
  };
  differs("entities", old.entities.join(", "), now.entities.join(", "));
  differs("eventTime", old.eventTime, now.eventTime);
  differs("creationTime", old.creationTime, now.creationTime);
  differs("the data of windows", dataOfWindows(old), dataOfWindows(now));
  const columns = ({ columns }: ViewDefinition) => Object.entries(columns).map(([name, type]) => ({ name, type }));
  changes.push(...removedOrRetyped("column", columns(old), columns(now)));
  const isColumn = ({ name }: Feature) => Object.hasOwn(old.columns, name);
  changes.push(
    ...removedOrRetyped(
      "feature",
      before.features.filter((one) => !isColumn(one)),
      next.features,
    ),
  );
  return changes;
}

function dataOfWindows(definition: ViewDefinition): string | undefined {
  const { windows } = compileFeatures(definition);
  return windows && `${windows.columns.join(", ")} of ${windows.maxOverMs / 3_600_000} h`;
}

function removedOrRetyped(what: string, before: readonly Feature[], next: readonly Feature[]): readonly string[] {
  const types = new Map(next.map(({ name, type }) => [name, type]));
  return before.flatMap(({ name, type }) => {
    const now = types.get(name);
    if (now === type) return [];
    return [now === undefined ? `${what} ${name} is gone` : `${what} ${name} was ${type}, and is ${now}`];
  });
}
