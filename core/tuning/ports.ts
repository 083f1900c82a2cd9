import type { Page } from "../datasets/repository";
import { conflict, contended, notFound } from "../errors";
import type { Study, Trial } from "./shapes";

export interface StudyState {
  readonly study: Study;
  readonly trials: readonly Trial[];
}

/** The port to a team's studies; docs/access-patterns.md, "Studies". Reads by name are strongly consistent. */
export interface StudyRepository {
  /** Creates the study, or returns the existing one of that name. */
  create(study: Study): Promise<{ readonly created: boolean; readonly study: Study }>;
  find(name: string): Promise<Study | undefined>;
  load(name: string): Promise<StudyState | undefined>;
  /** Lists studies, newest first. */
  list(query: { readonly limit: number; readonly nextToken?: string }): Promise<Page<Study>>;
  /**
   * Writes the next revision of a study and some of its trials in one transaction. Returns false if another writer
   * changed the study since `study.revision - 1`.
   * @param trials at most `maxTrialsPerWrite`
   */
  save(study: Study, trials: readonly Trial[]): Promise<boolean>;
}

/** DynamoDB's limit for a transaction is 100 items; two are the study's. */
export const maxTrialsPerWrite = 98;

export interface StudyIndex {
  listOpen(): Promise<readonly { readonly team: string; readonly study: string }[]>;
}

/** The event of a study's creation, extension or stop: it has to be driven. */
export interface StudyChanged {
  readonly team: string;
  readonly study: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface StudyEvents {
  publishStudyChanged(event: StudyChanged): Promise<void>;
}

export const studyNotFound = (name: string) =>
  notFound("STUDY_NOT_FOUND", `there is no study ${JSON.stringify(name)}`, { study: name });

export const studyExists = (name: string) =>
  conflict("STUDY_EXISTS", `study ${name} already exists with another definition; choose another name`, {
    study: name,
  });

export const studyBusy = (name: string) => contended("STUDY_BUSY", `study ${name}`, { study: name });

export function studyWithoutResult(name: string, failed: number) {
  const reason = failed === 0 ? "no trial has reported its objective yet" : `its ${failed} ended trials failed`;
  return conflict("STUDY_WITHOUT_RESULT", `study ${name} has no best trial: ${reason}`, { study: name });
}
