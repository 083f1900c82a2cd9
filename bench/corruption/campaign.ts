import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { oneOf, seededRandom } from "../elastic/random";
import { BadOptionError } from "../support/arguments";
import { type DamageKind, damageFile, damageKinds, filesBelow } from "./damage";
import { logSubject } from "./logs";
import { s3Subjects, unverifiedSubject } from "./s3";
import { databaseSubjects, fileSubjects, journalSubject } from "./stores";
import { judge, namesOf, type Observation, type Outcome, outcomes, type Subject } from "./subject";
import { wholeStackSubject } from "./whole-stack";

export interface CampaignOptions {
  readonly cases: number;
  /** The number of the first case. With the seed it determines a case. */
  readonly from: number;
  /** This process takes every n-th case. */
  readonly stride: number;
  readonly seed: number;
  /** Runs readers that verify nothing: the campaign must then count silent cases. */
  /** Damages only the classes whose names contain this text. */
  readonly only?: string;
  readonly unverified: boolean;
  /** Damages the data directory of a whole stack instead, and reads it through the APIs: some seconds per case. */
  readonly stack?: boolean;
}

export interface Finding {
  readonly number: number;
  readonly subject: string;
  readonly kind: DamageKind;
  readonly files: readonly string[];
  readonly outcome: Outcome;
  readonly errors: readonly string[];
}

/** Cases by class of file, damage and outcome. */
export type Counts = Readonly<Record<string, Readonly<Record<string, Readonly<Partial<Record<Outcome, number>>>>>>>;

export interface CampaignResult {
  readonly counts: Counts;
  /** Silent cases, and those whose error names no file. */
  readonly findings: readonly Finding[];
}

interface Template {
  readonly subject: Subject;
  readonly earlier: string;
  readonly current: string;
  readonly files: readonly string[];
  readonly expected: Observation;
}

const maxFindings = 50;
/** In memory if possible, because a case copies a template and flushes. */
const scratch = fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir();

/** Damages copies of small data directories, one file at a time, and checks the readers' results. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const root = fs.mkdtempSync(path.join(scratch, "ringmaster-corruption-"));
  try {
    const subjects = options.unverified
      ? [unverifiedSubject()]
      : options.stack
        ? [wholeStackSubject(path.join(root, "stack"))]
        : [...s3Subjects(), ...databaseSubjects(), journalSubject(), logSubject(), ...fileSubjects()];
    const chosen = subjects.filter(({ name }) => name.includes(options.only ?? ""));
    if (chosen.length === 0)
      throw new BadOptionError(`--only ${options.only} names no class: ${subjects.map(({ name }) => name).join(", ")}`);
    const templates: Template[] = [];
    for (const [i, subject] of chosen.entries()) templates.push(await build(subject, path.join(root, `template-${i}`)));
    const cells: Cell[] = [];
    const findings: Finding[] = [];
    for (let number = options.from; number < options.cases; number += options.stride) {
      const template = templates[number % templates.length]!;
      const finding = await runCase(template, number, options.seed, path.join(root, "case"));
      if (!finding) continue;
      const { subject, kind, outcome } = finding;
      cells.push([subject, kind, outcome, 1]);
      if ((outcome === "silent" || outcome === "unnamed") && findings.length < maxFindings) findings.push(finding);
    }
    return { counts: countsOf(cells), findings };
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
}

async function build(subject: Subject, directory: string): Promise<Template> {
  const earlier = path.join(directory, "earlier");
  const current = path.join(directory, "current");
  fs.mkdirSync(current, { recursive: true });
  await subject.build(current, 1);
  fs.cpSync(current, earlier, { recursive: true });
  await subject.build(current, 2);
  const probe = path.join(directory, "probe");
  fs.cpSync(current, probe, { recursive: true });
  const expected = await subject.observe(probe);
  if (expected.errors.length > 0) throw new Error(`${subject.name} is not intact: ${expected.errors.join("; ")}`);
  const files = filesBelow(current).filter((file) => subject.owns(file));
  return { subject, earlier, current, files, expected };
}

async function runCase(
  { subject, earlier, current, files, expected }: Template,
  number: number,
  seed: number,
  directory: string,
): Promise<Finding | undefined> {
  const random = seededRandom(seed * 1_000_003 + number);
  // One file of each class.
  const classes = [...new Map(files.map((file) => [subject.classOf?.(file), file])).values()];
  fs.cpSync(current, directory, { recursive: true });
  try {
    // Some damage changes nothing (an empty file cannot be cut): then another is drawn.
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const kind = oneOf(random, damageKinds);
      const drawn = subject.classOf?.(oneOf(random, classes));
      const group = drawn === undefined ? files : files.filter((file) => subject.classOf?.(file) === drawn);
      const damaged = damageFile(kind, { directory, earlier, files: group }, random);
      if (damaged.length === 0) continue;
      const observed = await subject.observe(directory);
      const isRepaired = () => damaged.every((file) => sameFile(path.join(directory, file), path.join(current, file)));
      const outcome = judge(expected, observed, namesOf(subject, expected, damaged), isRepaired);
      return { number, subject: subject.name, kind, files: damaged, outcome, errors: observed.errors.slice(0, 3) };
    }
    return undefined;
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

function sameFile(left: string, right: string): boolean {
  return fs.existsSync(left) && fs.readFileSync(left).equals(fs.readFileSync(right));
}

type Cell = readonly [subject: string, kind: string, outcome: Outcome, cases: number];

function countsOf(cells: readonly Cell[]): Counts {
  const counts: Record<string, Record<string, Partial<Record<Outcome, number>>>> = {};
  for (const [subject, kind, outcome, cases] of cells) {
    const kinds = counts[subject] ?? {};
    const row = kinds[kind] ?? {};
    row[outcome] = (row[outcome] ?? 0) + cases;
    kinds[kind] = row;
    counts[subject] = kinds;
  }
  return counts;
}

export function mergeCounts(all: readonly Counts[]): Counts {
  return countsOf(all.flatMap(cellsOf));
}

function cellsOf(counts: Counts): readonly Cell[] {
  return Object.entries(counts).flatMap(([subject, kinds]) =>
    Object.entries(kinds).flatMap(([kind, row]) =>
      outcomes.map((outcome): Cell => [subject, kind, outcome, row[outcome] ?? 0]),
    ),
  );
}

export function totalOf(counts: Counts, outcome?: Outcome): number {
  const rows = Object.values(counts).flatMap((kinds) => Object.values(kinds));
  return rows.flatMap((row) => (outcome ? [row[outcome] ?? 0] : Object.values(row))).reduce((sum, n) => sum + n, 0);
}
