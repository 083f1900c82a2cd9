import { account, region } from "../account";
import { changeDurably, type JsonDatabase } from "../storage/json-database";
import { ServiceError } from "../wire";
import { matchesPattern, type Pattern, parsePattern } from "./pattern";
import type { ParseSchedule, RetryPolicy, Timetable } from "./target";

export interface Target {
  readonly Id: string;
  readonly Arn: string;
  readonly RoleArn?: string;
  readonly Input?: string;
  readonly RetryPolicy?: RetryPolicy;
  readonly DeadLetterConfig?: unknown;
}

export interface Rule {
  readonly Name: string;
  readonly EventPattern?: string;
  readonly ScheduleExpression?: string;
  readonly State: "ENABLED" | "DISABLED";
  readonly Description?: string;
  readonly RoleArn?: string;
  readonly targets: readonly Target[];
  /** The start of a rate's intervals, in milliseconds since the epoch. */
  readonly since: number;
}

interface Loaded {
  readonly rule: Rule;
  readonly pattern?: Pattern;
  readonly timetable?: Timetable;
}

const prefix = "rule!";
const duePrefix = "due!";

export function ruleArn(name: string): string {
  return `arn:aws:events:${region}:${account}:rule/${name}`;
}

export class Rules {
  private readonly rules = new Map<string, Loaded>();
  private readonly due = new Map<string, number>();

  constructor(
    private readonly db: JsonDatabase,
    private readonly parseSchedule: ParseSchedule,
  ) {}

  async open(): Promise<void> {
    for await (const [key, value] of this.db.iterator({ gt: prefix, lt: `${prefix}\uffff` })) {
      this.rules.set(key.slice(prefix.length), this.load(value as Rule));
    }
    for await (const [key, value] of this.db.iterator({ gt: duePrefix, lt: `${duePrefix}\uffff` })) {
      this.due.set(key.slice(duePrefix.length), value as number);
    }
  }

  /** Stores a rule. It is in force at once, so the next change sees it. Resolves when it is on disk. */
  put(rule: Rule): Promise<void> {
    return changeDurably(this.rules, rule.Name, this.load(rule), () => this.db.put(prefix + rule.Name, rule));
  }

  dueAt(name: string): number | undefined {
    return this.due.get(name);
  }

  setDue(name: string, dueAt: number | undefined): Promise<void> {
    const key = duePrefix + name;
    return changeDurably(this.due, name, dueAt, () =>
      dueAt === undefined ? this.db.del(key) : this.db.put(key, dueAt),
    );
  }

  get(name: string): Rule | undefined {
    return this.rules.get(name)?.rule;
  }

  all(): readonly Rule[] {
    return [...this.rules.values()].map(({ rule }) => rule).sort((a, b) => (a.Name < b.Name ? -1 : 1));
  }

  matching(event: Readonly<Record<string, unknown>>): readonly Rule[] {
    return [...this.rules.values()]
      .filter(({ rule, pattern }) => rule.State === "ENABLED" && pattern && matchesPattern(pattern, event))
      .map(({ rule }) => rule);
  }

  /** Computes when a rule with a schedule fires next, in UTC like EventBridge. */
  nextFire(name: string, after: number): number | undefined {
    const loaded = this.rules.get(name);
    if (!loaded?.timetable || loaded.rule.State !== "ENABLED") return undefined;
    return loaded.timetable.next(after, { base: loaded.rule.since });
  }

  private load(rule: Rule): Loaded {
    return {
      rule,
      pattern: rule.EventPattern === undefined ? undefined : parsePattern(rule.EventPattern),
      timetable: rule.ScheduleExpression === undefined ? undefined : this.parseSchedule(rule.ScheduleExpression),
    };
  }
}

export function noRule(name: unknown): ServiceError {
  return new ServiceError("ResourceNotFoundException", 400, `Rule ${name} does not exist on EventBus default.`);
}
